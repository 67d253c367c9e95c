"""Sorts of XLA, in the order of a comparator.

    %y, %j = tf.XlaVariadicSort(%x, %i, 1) {comparator: (a, b, i, j) -> Less(a, b)}
->  %y, %index = opset11.TopK(%x, size) {axis = 1, mode = min, sort = value}
    %j = opset6.GatherElements(%i, %index) {axis = 1}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import graph_of
from moir.lowering.tensorflow.table import tf
from moir.lowering.tensorflow.xla.movement import constant_list
from moir.lowering.xla.sorting import ordered, sorted_by
from moir.rewriting.builder import OpBuilder


@tf.lowers("XlaSort")
def sort(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.XlaSort(x) -> opset11.TopK(x, size) {mode = min} along the last axis"""
    return ordered(op, input, -1, ascends=True)[0]


@tf.lowers("XlaKeyValueSort")
def sort_pairs(node: LoweringNode, op: OpBuilder, keys_: SSAValue, values: SSAValue) -> Sequence[SSAValue]:
    """tf.XlaKeyValueSort(keys, values) -> opset11.TopK(keys), opset6.GatherElements(values, its indices)"""
    axis = node.known_rank(0) - 1
    keys, indices = ordered(op, keys_, axis, ascends=True)
    return [keys, op.GatherElements(values, indices, axis=axis)]


@tf.lowers("XlaVariadicSort")
def sort_several(node: LoweringNode, op: OpBuilder, *inputs: SSAValue) -> Sequence[SSAValue]:
    """tf.XlaVariadicSort(x…, axis) {comparator, is_stable}
    -> opset11.TopK of the operand that the comparator compares, opset6.GatherElements of the others

    With two keys the elements are sorted by the second key first; the stable sort by the first key keeps that order.
    """
    *operands, _ = inputs
    axis = normalize_axis(constant_list(node, len(operands), "axis", 1)[0], node.known_rank(0))
    return sorted_by(node, op, graph_of(node, "comparator"), operands, axis)
