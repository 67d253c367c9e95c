"""How operations on complex numbers are computed: by a lowering for pairs, or that for real numbers on both parts.

    aten.permute.default(%z) {complex_operands = [0], dims = [1, 0]}
->  opset1.Concat of the parts of z, each transposed, in a last dimension
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.properties import attribute_of, value_of
from moir.dialects.shapes import element_of, tensor
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import ExportedNode
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder

PROPERTY = "complex_operands"

BY_PARTS = frozenset(
    (
        *("view", "reshape", "_unsafe_view", "view_copy", "flatten", "unflatten", "permute", "permute_copy", "transpose"),
        *("t", "mT", "numpy_T", "movedim", "unsqueeze", "squeeze", "unsqueeze_copy", "squeeze_copy", "slice"),
        *("slice_copy", "select", "select_copy", "narrow", "flip", "fliplr", "flipud", "roll", "expand"),
        *("expand_copy", "broadcast_to", "index", "index_select", "gather", "cat", "concat", "stack", "hstack"),
        *("vstack", "split", "split_with_sizes", "chunk", "unbind", "clone", "contiguous", "alias", "detach"),
        *("lift_fresh_copy", "lift_fresh", "repeat", "tile", "pad", "constant_pad_nd", "sum", "mean", "neg"),
        *("negative", "cumsum", "diagonal", "tril", "triu", "repeat_interleave", "view_as", "reshape_as"),
        *("expand_as", "to", "_to_copy", "positive", "resolve_neg", "masked_select", "where", "copy"),
        *("slice_scatter", "select_scatter", "index_put", "unfold", "swapaxes", "swapdims", "broadcast_tensors"),
        *("trace", "diff", "take", "embedding", "rot90"),
    )
)
"""Operations that do the same with both parts, by the stems of their kinds."""

ADDING = frozenset(("add", "sub", "rsub", "subtract"))
"""Operations that add: a real operand has no imaginary part."""

Handler = Callable[[LoweringNode, OpBuilder], Replacement]

HANDLERS: dict[str, Handler] = {}
"""The lowerings for pairs, by the stems of kinds."""


def for_pairs(*stems: str) -> Callable[[Handler], Handler]:
    """A decorator that registers a lowering for pairs."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(stems, handler))
        return handler

    return register


def part(op: OpBuilder, value: SSAValue, index: int) -> SSAValue:
    """The real parts for index 0, the imaginary ones for 1."""
    return op.Gather(value, op.constant(index), -1)


def joined(op: OpBuilder, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    """Pairs of parts of one shape."""
    return op.Concat(op.Unsqueeze(real, [-1]), op.Unsqueeze(imaginary, [-1]), axis=-1)


def complex_operands(op: Operation) -> tuple[int, ...] | None:
    """The indices of the operands of an operation that are pairs; None if it has nothing to do with complex numbers."""
    found = op.properties.get(PROPERTY)
    if found is None:
        return None
    return tuple(value_of(found))


def lowered(node: LoweringNode, op: OpBuilder, handler: BoundHandler | None) -> Replacement:
    """The results of an operation on complex numbers. Raises ConversionError for one that is not known."""
    for family in ("arithmetic", "transforms"):
        import_module(f"moir.lowering.pytorch.complex.{family}")
    stem = node.op.KIND.rpartition(".")[0].removeprefix("aten.")
    if stem in HANDLERS:
        return HANDLERS[stem](node, op)
    if handler is None or stem not in BY_PARTS | ADDING:
        node.fail("it computes with complex numbers", hint="OpenVINO IR has real numbers only; compute with their parts")
    found = [_of_part(node, op, handler, index, stem in ADDING) for index in (0, 1)]
    return [None if real is None or other is None else joined(op, real, other) for real, other in zip(*found, strict=True)]


def _of_part(node: LoweringNode, op: OpBuilder, handler: BoundHandler, index: int, adds: bool) -> Sequence[SSAValue | None]:
    """The results for the real parts, or the imaginary ones."""
    pairs = complex_operands(node.op) or ()
    operands: list[SSAValue] = []
    for number, value in enumerate(node.op.operands):
        if number in pairs:
            operands.append(part(op, value, index))
        else:
            operands.append(op.Multiply(value, 0) if adds and index else value)
    properties = {name: each for name, each in node.op.properties.items() if name != PROPERTY}
    if adds and index:
        # A number that is added is real, too.
        properties |= {name: attribute_of(0.0) for name in ("self", "other") if name in properties}
    results = [tensor(None, element_of(result)) for result in node.op.results]
    copy: FrameworkOp = type(node.op).create(operands=operands, properties=properties, result_types=results)
    try:
        given = handler(ExportedNode(copy, node.version, node.run), op)
    finally:
        copy.drop_all_references()
    if given is None:
        node.fail("it computes with complex numbers")
    return [given] if isinstance(given, SSAValue) else list(given)
