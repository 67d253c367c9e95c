"""Pooling over windows."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.tflite.fused_activation import activated
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import value_as
from moir.rewriting.builder import OpBuilder

_KINDS = {"AVERAGE_POOL_2D": "AvgPool", "MAX_POOL_2D": "MaxPool", "L2_POOL_2D": "AvgPool"}


def pooled(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """A value [N, H, W, C] pooled over the windows of a node, as TensorFlow's operation for the kind does."""
    return value_as(
        node,
        op,
        _KINDS[node.op.KIND],
        x,
        ksize=[1, node.integer("filter_height", 0), node.integer("filter_width", 0), 1],
        strides=[1, node.integer("stride_h", 0), node.integer("stride_w", 0), 1],
        padding=node.text("padding", "SAME"),
    )


@tflite.lowers("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tflite.MAX_POOL_2D(x) -> what tf.MaxPool(x) lowers to, and its activation; likewise AVERAGE_POOL_2D"""
    return activated(node, op, pooled(node, op, x))


@tflite.lowers("L2_POOL_2D")
def norm_pool(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tflite.L2_POOL_2D(x) -> opset1.Sqrt(the averages of x²), and its activation"""
    return activated(node, op, op.Sqrt(pooled(node, op, op.Multiply(x, x))))
