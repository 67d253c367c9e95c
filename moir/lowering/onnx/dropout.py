"""Dropout: the identity in inference, random zeros in training mode."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.element_types import computed_type
from moir.lowering.onnx.generation import uniform
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Dropout", rank=as_result)
def dropout_attributes(node: LoweringNode, op: OpBuilder, *, is_test: bool = False) -> Sequence[SSAValue | None]:
    """onnx.Dropout(x) -> x; its mask -> ones of the element type of x, from version 10 on of booleans"""
    if node.version < 7 and not is_test:
        _refuse_training(node)
    return _without_effect(node, op)


@onnx.lowers("Dropout", since=12)
def dropout(
    node: LoweringNode, op: OpBuilder, data: SSAValue, ratio_: SSAValue | None = None, training_mode: SSAValue | None = None
) -> Sequence[SSAValue | None]:
    """onnx.Dropout(x, ratio, training_mode = false) -> x; its mask -> true for every element

    In training mode elements are replaced by zeros where a random number is below the ratio, the others are divided by
    1 - ratio: opset1.Select(opset1.GreaterEqual(opset8.RandomUniform(…), ratio), …).
    """
    ratio, training = node.constant(1), node.constant(2)
    drops_nothing = ratio is not None and not ratio.any()
    if training_mode is None or drops_nothing or (training is not None and not training.any()):
        return _without_effect(node, op)
    part = op.constant(0.5) if ratio_ is None else op.convert(as_scalar(op, ratio_), f32)
    trains, element = as_scalar(op, training_mode), element_of(data)
    part = op.Select(trains, part, 0.0)
    kept = op.GreaterEqual(uniform(node, op, op.ShapeOf(data), f32, 0.0, 1.0), part)
    data = op.convert(data, computed_type(element))
    scaled = op.Divide(data, op.convert(op.Subtract(1.0, part), element_of(data)))
    return [op.convert(op.Select(kept, scaled, op.constant_like(0, data)), element), kept][: node.result_count]


def _refuse_training(node: LoweringNode) -> None:
    node.fail("it is in training mode", hint="export the model for inference")


def _without_effect(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue | None]:
    data = node.operand(0)
    if not node.is_used(1):
        return [data, None][: node.result_count]
    kept = op.constant(True) if node.version >= 10 else op.constant_like(1, data)
    return [data, op.Broadcast(kept, op.ShapeOf(data))]
