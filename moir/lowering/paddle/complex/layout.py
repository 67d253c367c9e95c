"""The layout of complex tensors: real tensors with a last dimension of 2 for the real and the imaginary part.

    %y = paddle.fft_r2c(%x)        %y = opset9.RDFT(%x)                    : tensor<?x33x2xf32>
    %z = paddle.transpose2(%y) ->  %z = opset1.Transpose of its parts, paired
    %a = paddle.abs(%z)            %a = opset4.ReduceL2(%z, -1)

Types of the `paddle` dialect do not tell which values are complex: it follows from the transforms that they come from.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module

from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import add_notes
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import integers_attribute, value_of
from moir.errors import UnsupportedOperationError
from moir.lowering.binder import LoweringNode
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder

SOURCES = frozenset(("as_complex", "complex", "fft_c2c", "fft_r2c", "stft"))
"""The kinds whose result is complex."""
REAL_RESULTS = frozenset(("abs", "angle", "as_real", "fft_c2r", "imag", "real", "shape", "shape64", "size"))
"""The kinds whose operands are complex and whose result is real."""
OF_PAIRS = frozenset(("angle", "as_real", "assign", "conj", "fft_c2c", "fft_c2r", "imag", "real", "share_data"))
"""The kinds whose handlers take complex numbers as pairs."""
FORMULAS = frozenset(("abs", "elementwise_div", "elementwise_mul", "shape", "shape64", "size"))
"""The kinds with a formula for complex numbers beside the handler for real ones."""
COMPLEX_NUMBERS = "moir.lowering.paddle.complex.operations"
"""The module with the formulas. Its handlers register in the table that extends handlers here: it is loaded by name."""
BY_PARTS = frozenset(
    (
        *("broadcast_tensors", "concat", "expand_v2", "flatten_contiguous_range", "flip", "gather", "gather_nd", "index_select"),
        *("elementwise_add", "elementwise_sub", "mean", "pad", "pad3d", "reduce_mean", "reduce_sum", "reshape", "reshape2", "roll"),
        *("scale", "slice", "split", "squeeze", "squeeze2", "stack", "strided_slice", "sum", "tile", "transpose", "transpose2"),
        *("unbind", "unsqueeze", "unsqueeze2", "unstack"),
    )
)
"""The kinds that are applied to the real and to the imaginary parts separately."""
OF_COMPLEX_ONLY = frozenset(("broadcast_tensors", "elementwise_add", "elementwise_sub", "stack", "sum"))
"""The kinds in `BY_PARTS` whose operands all have to be complex."""

COMPLEX_OPERANDS = "complex_operands"
"""The property of an operation with the indices of its complex operands."""


def mark_complex(module: Operation) -> None:
    """Mark operations that have complex operands.

    Raises UnsupportedOperationError for the first one whose handler supports real tensors only.
    """
    found: set[SSAValue] = set()
    for each in module.walk():
        if not found and not (isinstance(each, FrameworkOp) and each.KIND in SOURCES):
            continue
        places = tuple(index for index, value in enumerate(each.operands) if value in found)
        if isinstance(each, Result):
            if places:
                add_notes(each, [f"the output {name_of(each)} is complex: its last dimension holds real and imaginary parts"])
            continue
        if not isinstance(each, FrameworkOp):
            continue
        if places:
            _check(each, places)
            each.properties[COMPLEX_OPERANDS] = integers_attribute(places)
        if each.KIND in SOURCES or (places and each.KIND not in REAL_RESULTS):
            found.update(each.results)


def _check(op: FrameworkOp, places: tuple[int, ...]) -> None:
    bias = op.properties.get("bias") if op.KIND == "scale" else None
    is_known = op.KIND in OF_PAIRS or op.KIND in FORMULAS or op.KIND in BY_PARTS
    if op.KIND in OF_COMPLEX_ONLY:
        is_known = len(places) == len(op.operands)
    if not is_known or op.regions or (bias is not None and value_of(bias) != 0):
        raise UnsupportedOperationError(
            "it computes complex numbers, which OpenVINO IR does not have",
            operation=op.name,
            node=name_of(op),
            hint="write a lowering on real and imaginary parts for this node",
        )


def complex_places(node: LoweringNode) -> tuple[int, ...]:
    """Which operands of a node are complex."""
    return node.integers(COMPLEX_OPERANDS, ())


def adapted(kind: str, handler: BoundHandler) -> BoundHandler:
    """The handler of a kind, extended to complex numbers if it is applied to the parts separately or the kind has a
    formula.
    """
    if kind not in BY_PARTS and kind not in FORMULAS:
        return handler

    @wraps(handler)
    def choose(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        places = complex_places(node)
        if not places:
            return handler(node, op)
        if kind in BY_PARTS:
            from moir.lowering.complex_parts import computed_by_parts

            return computed_by_parts(node, op, handler, places)
        return import_module(COMPLEX_NUMBERS).HANDLERS[kind](node, op, handler)

    return choose
