"""How operations on complex numbers are computed: by a lowering for pairs, or by the lowering for real numbers applied
to both parts.

    aten.permute.default(%z) {complex_operands = [0], dims = [1, 0]}
->  opset1.Concat of the parts of z, each transposed, in a last dimension
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import cast

from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.properties import attribute_of, value_of
from moir.dialects.shapes import element_of, tensor
from moir.expansions.complex_numbers import paired, part
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import ExportedNode
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder

PROPERTY = "complex_operands"
REAL_RESULTS = "real_results"

BY_PARTS = frozenset(
    (
        *("view", "reshape", "_unsafe_view", "view_copy", "flatten", "unflatten", "permute", "permute_copy", "transpose"),
        *("t", "mT", "numpy_T", "movedim", "unsqueeze", "squeeze", "unsqueeze_copy", "squeeze_copy", "slice"),
        *("slice_copy", "select", "select_copy", "narrow", "flip", "fliplr", "flipud", "roll", "expand"),
        *("expand_copy", "broadcast_to", "index", "index_select", "gather", "cat", "concat", "stack", "hstack"),
        *("vstack", "split", "split_with_sizes", "chunk", "unbind", "clone", "contiguous", "alias", "detach"),
        *("lift_fresh_copy", "lift_fresh", "repeat", "tile", "pad", "constant_pad_nd", "sum", "mean", "neg"),
        *("negative", "cumsum", "diagonal", "tril", "triu", "repeat_interleave", "view_as", "reshape_as"),
        *("expand_as", "positive", "resolve_neg", "masked_select", "where", "copy"),
        *("slice_scatter", "select_scatter", "index_put", "unfold", "swapaxes", "swapdims", "broadcast_tensors"),
        *("trace", "diff", "take", "embedding", "rot90", "diag", "diag_embed", "diagonal_copy", "tensor_split", "hsplit", "vsplit"),
        *("dsplit", "unsafe_chunk", "unsafe_split", "narrow_copy", "atleast_1d", "atleast_2d", "atleast_3d", "meshgrid", "ravel"),
        *("take_along_dim", "unbind_copy", "unfold_copy", "transpose_copy", "t_copy", "unsafe_split_with_sizes", "sum_to_size"),
        *("split_copy", "split_with_sizes_copy", "linalg_diagonal", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "alias_copy"),
        *("_reshape_alias", "cumulative_trapezoid", "trapezoid", "trapz", "numpy_T", "adjoint_copy"),
    )
)
"""Operations that apply to the real and the imaginary part separately, by the stems of their kinds."""

ADDING = frozenset(("add", "sub", "rsub", "subtract"))
"""Operations that add: a real operand has no imaginary part."""

JOINING = frozenset(
    (
        *("where", "masked_fill", "fill", "full_like", "ones_like", "zeros_like", "full", "ones", "zeros", "new_full", "new_ones"),
        *("new_zeros", "cat", "concat", "stack", "hstack", "vstack", "index_put", "copy", "slice_scatter", "select_scatter", "scatter"),
        *("pad", "constant_pad_nd", "index_copy", "index_add", "scatter_add", "masked_scatter", "scalar_tensor", "diagonal_scatter"),
        *("to", "_to_copy", "type_as", "new_empty", "empty", "empty_like", "index_fill", "column_stack", "dstack", "block_diag"),
    )
)
"""Operations whose results are elements of several operands, of which real ones and numbers have no imaginary part."""

_VALUES = ("self", "other", "value", "fill_value", "src", "source", "tensors", "values", "s")
"""The arguments of these operations that are elements of results, not places or conditions."""

Handler = Callable[[LoweringNode, OpBuilder], Replacement]

HANDLERS: dict[str, Handler] = {}
"""The lowerings for pairs, by the stems of kinds."""


WITH_HANDLERS: dict[str, Callable[[LoweringNode, OpBuilder, BoundHandler], Replacement]] = {}
"""Operations that use the lowering for real numbers, by the stems of kinds."""


def for_pairs(*stems: str) -> Callable[[Handler], Handler]:
    """A decorator that registers a lowering for pairs."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(stems, handler))
        return handler

    return register


def complex_operands(op: Operation) -> tuple[int, ...] | None:
    """The indices of the operands of an operation that are pairs; None if neither operands nor results are complex."""
    found = op.properties.get(PROPERTY)
    if found is None:
        return None
    return tuple(value_of(found))


def lowered(node: LoweringNode, op: OpBuilder, handler: BoundHandler | None) -> Replacement:
    """The results of an operation on complex numbers. Raises ConversionError for one that is not known."""
    for family in ("arithmetic", "transforms", "functions"):
        import_module(f"moir.lowering.pytorch.complex.{family}")
    stem = node.op.KIND.rpartition(".")[0].removeprefix("aten.")
    if stem in HANDLERS:
        return HANDLERS[stem](node, op)
    if handler is not None and stem.startswith(("_assert", "_check")):
        return handler(node, op) or []
    if handler is not None and stem in WITH_HANDLERS:
        return WITH_HANDLERS[stem](node, op, handler)
    if handler is None or stem not in BY_PARTS | ADDING | JOINING:
        node.fail("it computes with complex numbers", hint="OpenVINO IR has real numbers only; compute with their parts")
    if REAL_RESULTS in node.op.properties:
        # Imaginary parts are dropped, as by a conversion to real numbers.
        return list(_of_part(node, op, handler, 0, stem))
    found = [_of_part(node, op, handler, index, stem) for index in (0, 1)]
    return [None if real is None or other is None else paired(op, real, other) for real, other in zip(*found, strict=True)]


def _of_part(node: LoweringNode, op: OpBuilder, handler: BoundHandler, index: int, stem: str) -> Sequence[SSAValue | None]:
    """The results for the real parts, or the imaginary ones."""
    pairs = complex_operands(node.op) or ()
    operands: list[SSAValue] = []
    names = node.texts("arguments", ())
    for number, value in enumerate(node.op.operands):
        is_element = stem in ADDING or (stem in JOINING and names[number].partition(".")[0] in _VALUES)
        if number in pairs:
            operands.append(part(op, value, index))
        else:
            operands.append(op.Multiply(value, 0) if is_element and index else value)
    properties: dict[str, Attribute] = {}
    for name in _VALUES if stem in ADDING | JOINING else ():
        given: object = node.attribute(name, None)
        if isinstance(given, tuple | list) and len(parts := cast("Sequence[float]", given)) == 2 and stem != "cat":
            properties[name] = attribute_of(float(parts[index]))
        elif isinstance(given, int | float) and index:
            # A number that is added is real, too.
            properties[name] = attribute_of(0.0)
    if stem in ("ones", "ones_like", "new_ones") and index:
        found = by_handler(node, op, handler, operands, properties)
        return [None if each is None else op.Multiply(each, 0) for each in found]
    return by_handler(node, op, handler, operands, properties)


def by_handler(
    node: LoweringNode, op: OpBuilder, handler: BoundHandler, operands: Sequence[SSAValue], changed: Mapping[str, Attribute]
) -> Sequence[SSAValue | None]:
    """The results of the lowering for real numbers for other operands.

    Args:
        node: the node of complex numbers.
        op: the builder.
        handler: the lowering.
        operands: the operands; names are those of the node.
        changed: properties that differ from those of the node.
    """
    properties = {name: each for name, each in node.op.properties.items() if name not in (PROPERTY, REAL_RESULTS)} | dict(changed)
    results = [tensor(None, element_of(result)) for result in node.op.results]
    copy: FrameworkOp = type(node.op).create(operands=operands, properties=properties, result_types=results)
    try:
        given = handler(ExportedNode(copy, node.version, node.run), op)
    finally:
        copy.drop_all_references()
    if given is None:
        node.fail("it computes with complex numbers")
    return [given] if isinstance(given, SSAValue) else list(given)
