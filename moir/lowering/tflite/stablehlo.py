"""Operations of StableHLO that files of newer converters contain, and builtin operators that are such operations.

    tflite.STABLEHLO_PAD(x, value) {edge_padding_low, …}
->  what stablehlo.pad(x, value) {edge_padding_low, …} lowers to

The names of attributes are the same in both; a subgraph that is a function of elements is a region.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.substitution import lowered_by
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.xla.padding import with_interior
from moir.lowering.xla.windows import AxisWindow, reduced_windows
from moir.rewriting.builder import OpBuilder

PREFIX = "STABLEHLO_"

_KINDS = (
    *("abs", "add", "and", "broadcast_in_dim", "cbrt", "clamp", "compare", "concatenate", "convert", "convolution", "cosine"),
    *("custom_call", "divide", "dot_general", "dynamic_slice", "dynamic_update_slice", "exponential", "floor", "gather", "iota"),
    *("log", "logistic", "maximum", "minimum", "multiply", "negate", "or", "pad", "power", "reduce", "reduce_window"),
    *("remainder", "reshape", "rng_bit_generator", "rsqrt", "scatter", "select", "shift_left", "slice", "sort", "subtract"),
    *("tanh", "transpose"),
)
"""The kinds in the dialect `stablehlo`; in files they are in capitals after STABLEHLO_."""


@tflite.lowers(*(PREFIX + kind.upper() for kind in _KINDS))
def same(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tflite.STABLEHLO_ADD(x, y) -> what stablehlo.add(x, y) lowers to; likewise the other kinds of StableHLO"""
    kind = node.op.KIND.removeprefix(PREFIX).lower()
    regions = [node.op.detach_region(each) for each in list(node.op.regions)]
    types = [result.type for result in node.op.results]
    return lowered_by(stablehlo, node, op, kind, node.values, node.op.properties, types, regions)


@tflite.lowers("DILATE")
def dilate(node: LoweringNode, op: OpBuilder, input: SSAValue, dilations: SSAValue, padding_value: SSAValue) -> SSAValue:
    """tflite.DILATE(x, steps, value) -> opset1.Reshape(opset12.Pad(opset1.Unsqueeze(x, …), …, value), …)"""
    steps = op.known.integers(dilations)
    if steps is None or len(steps) != node.known_rank(0) or min(steps, default=1) < 1:
        node.fail("its dilations are computed when the model runs, or do not fit the rank of its operand", hint="make them constants")
    return with_interior(op, input, [each - 1 for each in steps], as_scalar(op, padding_value))


_REDUCED = {"ADD": "sum", "MUL": "prod", "MINIMUM": "min", "MAXIMUM": "max", "ALL": "and", "ANY": "or"}
"""For each function of REDUCE_WINDOW, the name of the reduction."""


@tflite.lowers("REDUCE_WINDOW")
def reduce_window(node: LoweringNode, op: OpBuilder, *, reduce_function: str = "UNSUPPORTED") -> SSAValue:
    """tflite.REDUCE_WINDOW(x, init, sizes, strides, dilations) -> opset14.MaxPool, opset14.AvgPool times the size, …"""
    columns = [op.known.integers(node.operand(operand)) for operand in (2, 3, 4)]
    rank, kind = node.known_rank(0), _REDUCED.get(reduce_function)
    known = [each for each in columns if each is not None and len(each) == rank and min(each, default=1) > 0]
    if len(known) != len(columns):
        node.fail("its windows are computed when the model runs, or do not fit the rank of its operand", hint="make them constants")
    if kind is None:
        node.fail(f"the function {reduce_function} is not supported")
    windows = [AxisWindow(size, stride, 1, dilation, 0, 0) for size, stride, dilation in zip(*known, strict=True)]
    return reduced_windows(node, op, kind, node.operand(1), windows)
