"""Dropout, which is the identity in inference."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Dropout")
def dropout_attributes(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue | None]:
    """onnx.Dropout(x) -> x; its mask -> ones of the element type of x, from version 10 on of booleans"""
    if node.version < 7 and not node.flag("is_test"):
        _refuse_training(node)
    return _without_effect(node, op)


@onnx.lowers("Dropout", since=12)
def dropout(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue | None]:
    """onnx.Dropout(x, ratio, training_mode = false) -> x; its mask -> true for every element"""
    ratio, training = node.constant(1), node.constant(2)
    drops_nothing = ratio is not None and not ratio.any()
    if node.optional(2) is not None and not drops_nothing and (training is None or training.any()):
        _refuse_training(node)
    return _without_effect(node, op)


def _refuse_training(node: LoweringNode) -> None:
    node.fail("it is in training mode", hint="export the model for inference")


def _without_effect(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue | None]:
    data = node.operand(0)
    if not node.is_used(1):
        return [data, None][: node.result_count]
    kept = op.constant(True) if node.version >= 10 else op.constant_like(1, data)
    return [data, op.Broadcast(kept, op.ShapeOf(data))]
