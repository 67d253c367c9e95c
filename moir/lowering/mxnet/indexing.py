"""Look-ups and masks.

Source: indexing_op.cc, control_flow_op.cc and sequence_*.cc of MXNet 1.9.
"""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


def _limited(op: OpBuilder, indices: SSAValue, size: SSAValue, mode: str) -> SSAValue:
    """Indices as integers within an axis of `size` elements: modulo the size in mode `wrap`, clamped in any other
    mode.
    """
    whole = op.convert(indices, si64)
    if mode == "wrap":
        return op.FloorMod(whole, size)
    return op.Maximum(op.Minimum(whole, op.Subtract(size, 1)), 0)


@mxnet.lowers("Embedding", "_npx_embedding")
def embedding(op: OpBuilder, indices_: SSAValue, w: SSAValue, *, input_dim: int) -> SSAValue:
    """mxnet.Embedding(indices, w [K, N]) -> opset8.Gather(w, indices, 0); indices are clipped to the rows"""
    indices = op.convert(indices_, si32)
    return op.Gather(w, op.Maximum(op.Minimum(indices, input_dim - 1), 0), 0)


@mxnet.lowers("take", "_npi_take")
def take(node: LoweringNode, op: OpBuilder, x: SSAValue, indices: SSAValue, *, mode: str = "clip", axis: int = 0) -> SSAValue:
    """mxnet.take(x, indices) {axis = 0, mode = "clip"} -> opset8.Gather(x, indices, axis)"""
    axis = normalize_axis(axis, rank_of_operand(node))
    if mode == "raise":
        return op.Gather(x, op.convert(indices, si64), axis)
    return op.Gather(x, _limited(op, indices, op.Gather(op.ShapeOf(x), axis, 0), mode), axis)


@mxnet.lowers("pick", "choose_element_0index", "_npx_pick", "batch_take")
def pick(
    node: LoweringNode, op: OpBuilder, x: SSAValue, indices_: SSAValue, *, axis: int = -1, mode: str = "clip", keepdims: bool = False
) -> SSAValue:
    """mxnet.pick(x, indices) {axis = -1, keepdims = false, mode = "clip"} -> one element of each line along an axis"""
    rank = rank_of_operand(node)
    axis = normalize_axis(axis, rank)
    size = op.Gather(op.ShapeOf(x), axis, 0)
    indices = _limited(op, indices_, size, mode)
    if rank_of(indices) != rank:
        indices = op.Unsqueeze(indices, [axis])
    picked = op.GatherElements(x, indices, axis=axis)
    return picked if keepdims else op.Squeeze(picked, [axis])


@mxnet.lowers("gather_nd", "_npx_gather_nd")
def gather_nd(node: LoweringNode, op: OpBuilder, x: SSAValue, indices_: SSAValue) -> SSAValue:
    """mxnet.gather_nd(x, indices [M, …]) -> opset8.GatherND(x, indices as […, M])"""
    rank = rank_of_operand(node, 1)
    if (shape_of(indices_) or (-1,))[0] < 0:
        node.fail("how many axes its indices are for is dynamic", hint="give the model's inputs static shapes")
    indices = op.transposed(op.convert(indices_, si64), [*range(1, rank), 0])
    return op.GatherND(x, indices, batch_dims=0)


@mxnet.lowers("one_hot", "_npx_one_hot")
def one_hot(node: LoweringNode, op: OpBuilder, indices: SSAValue, *, depth: int, dtype: Attribute = f32) -> SSAValue:
    """mxnet.one_hot(indices) {depth, on_value = 1, off_value = 0} -> opset1.OneHot(indices, depth, on, off)"""
    on, off = (op.convert(op.constant(node.number(name, default)), dtype) for name, default in (("on_value", 1.0), ("off_value", 0.0)))
    return op["opset1.OneHot"](op.convert(indices, si64), op.constant(depth), on, off, axis=-1)


def _sequence_axis(node: LoweringNode) -> tuple[int, int]:
    """The time axis and the batch axis, 0 and 1 or the reverse. Raises ConversionError for another attribute `axis`."""
    axis = node.integer("axis", 0)
    if axis not in (0, 1):
        node.fail(f"axis {axis} is neither 0 nor 1")
    return axis, 1 - axis


@mxnet.lowers("SequenceMask", "_npx_sequence_mask")
def sequence_mask(node: LoweringNode, op: OpBuilder, x: SSAValue, *, use_sequence_length: bool = False, value_: float = 0.0) -> SSAValue:
    """mxnet.SequenceMask(x, lengths) {use_sequence_length, value = 0, axis = 0} -> `value` after each sequence"""
    if not use_sequence_length:
        return x
    axis, batch = _sequence_axis(node)
    rank = rank_of_operand(node)
    steps = op.Range(0, op.Gather(op.ShapeOf(x), axis, 0), 1, output_type=si64)
    rest = [1] * (rank - 2)
    shaped = [op.Unsqueeze(op.convert(value, si64), [1 - axis_]) for value, axis_ in ((steps, axis), (node.operand(1), batch))]
    within = op.Less(*shaped)
    within = op.Unsqueeze(within, list(range(2, rank))) if rest else within
    return op.Select(within, x, op.ConvertLike(op.constant(value_), x))


@mxnet.lowers("SequenceLast")
def sequence_last(node: LoweringNode, op: OpBuilder, x: SSAValue, *, use_sequence_length: bool = False) -> SSAValue:
    """mxnet.SequenceLast(x, lengths) {use_sequence_length, axis = 0} -> the last step of each sequence"""
    axis, _ = _sequence_axis(node)
    if not use_sequence_length:
        return op.Gather(x, -1, axis)
    rank = rank_of_operand(node)
    steps_after = x if axis == 1 else op.transposed(x, [1, 0, *range(2, rank)])
    last = op.Subtract(op.convert(node.operand(1), si64), 1)
    return op.GatherND(steps_after, op.Unsqueeze(last, [1]), batch_dims=1)


@mxnet.lowers("SequenceReverse")
def sequence_reverse(node: LoweringNode, op: OpBuilder, x: SSAValue, *, use_sequence_length: bool = False) -> SSAValue:
    """mxnet.SequenceReverse(x, lengths) {use_sequence_length} -> opset1.ReverseSequence(x, lengths) along axis 0"""
    axis, batch = _sequence_axis(node)
    if use_sequence_length:
        return op.ReverseSequence(x, op.convert(node.operand(1), si64), seq_axis=axis, batch_axis=batch)
    return op.Slice(x, [-1], [-(2**63 - 1)], [-1], [axis])
