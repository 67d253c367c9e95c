"""Elements by their indices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("GATHER")
def gather(node: LoweringNode, op: OpBuilder, params: SSAValue, indices: SSAValue, *, axis: int = 0, batch_dims: int = 0) -> Replacement:
    """tflite.GATHER(x, indices) {axis, batch_dims} -> what tf.GatherV2(x, indices, axis) {batch_dims} lowers to"""
    return lowered_as(node, op, "GatherV2", [params, indices, op.constant(axis, si32)], {"batch_dims": batch_dims})


@tflite.lowers("EMBEDDING_LOOKUP")
def embedding(op: OpBuilder, ids: SSAValue, table: SSAValue) -> SSAValue:
    """tflite.EMBEDDING_LOOKUP(ids, table) -> opset8.Gather(table, ids, 0)"""
    return op.Gather(table, ids, 0)
