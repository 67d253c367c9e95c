"""Layers that move, concatenate and split data.

Source: the layers of these names in BVLC Caffe 1.0; Permute is of SSD, ShuffleChannel of ShuffleNet.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, bottoms, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Split")
def split(node: LoweringNode, x: SSAValue) -> list[SSAValue]:
    """caffe.Split(x) -> x, once for each result"""
    return [x] * node.result_count


@caffe.lowers("Dropout")
@with_parameters("dropout_param")
def dropout(op: OpBuilder, x: SSAValue, *, scale_train: bool = True, dropout_ratio: float = 0.5) -> SSAValue:
    """caffe.Dropout(x) -> x; in forks that do not scale in training, x · (1 - dropout_ratio)"""
    if scale_train:
        return x
    return op.Multiply(x, 1 - dropout_ratio)


def _axis(node: LoweringNode, parameter: LayerParameters, old_name: str) -> int:
    """The axis of Concat or Slice as a nonnegative integer; `old_name` is the name of the parameter in old models."""
    axis = parameter.integer(old_name) if parameter.has(old_name) else parameter.integer("axis", 1)
    return axis if axis >= 0 else normalize_axis(axis, node.known_rank(0))


@caffe.lowers("Concat")
def concat(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Concat(a, b, …) {axis = 1} -> opset1.Concat(a, b, …) {axis}"""
    values = bottoms(node)
    return op.Concat(*values, axis=_axis(node, parameters(node, "concat_param"), "concat_dim")) if len(values) > 1 else values[0]


@caffe.lowers("Slice")
@with_parameters("slice_param")
def slice_(node: LoweringNode, op: OpBuilder, x: SSAValue, *, slice_point: tuple[int, ...] = ()) -> Sequence[SSAValue]:
    """caffe.Slice(x) {axis = 1, slice_point} -> opset1.VariadicSplit(x, axis, lengths); without points: opset1.Split"""
    parameter = parameters(node, "slice_param")
    axis, points, count = _axis(node, parameter, "slice_dim"), slice_point, node.result_count
    if count == 1:
        return [x]
    if not points:
        return op.Split.parts(count, x, op.constant(axis), num_splits=count)
    if len(points) != count - 1 or any(b <= a for a, b in zip([0, *points], points, strict=False)):
        node.fail(f"slice_point {points} does not divide into {count} parts")
    lengths = [b - a for a, b in zip([0, *points], points, strict=False)]
    return op.VariadicSplit.parts(count, x, op.constant(axis), [*lengths, -1])


@caffe.lowers("Permute")
def permute(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """caffe.Permute(x) {order} -> opset1.Transpose(x, order); axes that are not named follow in their order"""
    rank, order = node.known_rank(0), parameters(node, "permute_param").integers("order")
    if len(set(order)) < len(order) or any(not 0 <= axis < rank for axis in order):
        node.fail(f"order {order} is not an order of {rank} axes")
    return op.transposed(x, [*order, *(axis for axis in range(rank) if axis not in order)])


@caffe.lowers("ShuffleChannel")
@with_parameters("shuffle_channel_param")
def shuffle_channel(op: OpBuilder, x: SSAValue, *, group: int = 1) -> SSAValue:
    """caffe.ShuffleChannel(x) {group} -> opset1.ShuffleChannels(x) {axis = 1, group}"""
    return op.ShuffleChannels(x, axis=1, group=group)
