"""Concatenation of tensors, and writing a tensor into another one."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.tflite.fused_activation import activated
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import value_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("CONCATENATION", complex=PAIRS)
def concatenation(node: LoweringNode, op: OpBuilder, *values: SSAValue, axis: int = 0) -> SSAValue:
    """tflite.CONCATENATION(x…) {axis} -> what tf.ConcatV2(x…, axis) lowers to, and its activation"""
    return activated(node, op, value_as(node, op, "ConcatV2", *values, op.constant(axis, si32)))


@tflite.lowers("DYNAMIC_UPDATE_SLICE")
def update_slice(node: LoweringNode, op: OpBuilder, operand: SSAValue, update: SSAValue, start_indices: SSAValue) -> SSAValue:
    """tflite.DYNAMIC_UPDATE_SLICE(x, part, starts) -> what tf.XlaDynamicUpdateSlice(x, part, starts) lowers to"""
    if rank_of(operand) is None:
        node.fail("the rank of operand 0 is dynamic", hint="give the model's inputs a static rank")
    return value_as(node, op, "XlaDynamicUpdateSlice", operand, update, start_indices)
