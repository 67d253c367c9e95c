"""Gather and scatter of XLA: slices at computed positions, with any order of dimensions.

    %y = tf.XlaGather(%x, %i, [1, 8]) {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], …}
->  %y = opset8.GatherND(%x, %i)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import graph_of
from moir.lowering.tensorflow.table import tf
from moir.lowering.xla.indexing import gathered, slice_sizes_of
from moir.lowering.xla.scattering import scattered
from moir.rewriting.builder import OpBuilder


@tf.lowers("XlaGather")
def gather(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    *,
    start_index_map: tuple[int, ...] = (),
    collapsed_slice_dims: tuple[int, ...] = (),
) -> SSAValue:
    """tf.XlaGather(x, indices, sizes) {dimension numbers}
    -> Transpose(opset8.GatherND(Transpose(x), indices)); opset8.Gather for single elements along one dimension

    A start index beyond the last valid one is clamped to the last valid one.
    """
    sizes, computed = slice_sizes_of(node, op, 2)
    sizes = [1 if axis in collapsed_slice_dims else size for axis, size in enumerate(sizes)]
    return gathered(node, op, operand, sizes, start_index_map, collapsed_slice_dims, computed)


@tf.lowers("XlaScatter")
def scatter(
    node: LoweringNode,
    op: OpBuilder,
    _operand: SSAValue,
    _scatter_indices: SSAValue,
    _updates: SSAValue,
    *,
    update_window_dims: tuple[int, ...] = (),
    scatter_dims_to_operand_dims: tuple[int, ...] = (),
    inserted_window_dims: tuple[int, ...] = (),
) -> SSAValue:
    """tf.XlaScatter(x, indices, updates) {dimension numbers, update_computation}
    -> Transpose(opset15.ScatterNDUpdate(Transpose(x), indices, Transpose(updates)) {reduction})
    """
    body = graph_of(node, "update_computation")
    return scattered(node, op, node.operands, body, update_window_dims, scatter_dims_to_operand_dims, inserted_window_dims)[0]
