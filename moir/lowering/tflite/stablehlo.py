"""Operations of StableHLO that files of newer converters contain."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder

_SAME = {
    "STABLEHLO_ABS": "Abs",
    "STABLEHLO_ADD": "AddV2",
    "STABLEHLO_COSINE": "Cos",
    "STABLEHLO_EXPONENTIAL": "Exp",
    "STABLEHLO_FLOOR": "Floor",
    "STABLEHLO_LOG": "Log",
    "STABLEHLO_LOGISTIC": "Sigmoid",
    "STABLEHLO_MAXIMUM": "Maximum",
    "STABLEHLO_MINIMUM": "Minimum",
    "STABLEHLO_MULTIPLY": "Mul",
    "STABLEHLO_NEGATE": "Neg",
    "STABLEHLO_POWER": "Pow",
    "STABLEHLO_RSQRT": "Rsqrt",
    "STABLEHLO_SELECT": "SelectV2",
    "STABLEHLO_SUBTRACT": "Sub",
    "STABLEHLO_TANH": "Tanh",
}
"""Kind -> the operation of TensorFlow that it is."""


@tflite.lowers(*_SAME)
def same(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tflite.STABLEHLO_ADD(x, y) -> what tf.AddV2(x, y) lowers to"""
    if element_of(node.op.results[0]) is boolean and node.op.KIND != "STABLEHLO_SELECT":
        node.fail("arithmetic of truth values is not supported")
    return lowered_as(node, op, _SAME[node.op.KIND], node.values)


@tflite.lowers("STABLEHLO_AND", "STABLEHLO_OR")
def logical(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tflite.STABLEHLO_AND(x, y) -> opset1.LogicalAnd(x, y), of integers opset13.BitwiseAnd(x, y)"""
    name = node.op.KIND.removeprefix("STABLEHLO_").capitalize()
    prefix = "Logical" if element_of(x) is boolean else "Bitwise"
    return getattr(op, prefix + name)(x, y)


@tflite.lowers("STABLEHLO_DIVIDE")
def divide(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tflite.STABLEHLO_DIVIDE(x, y) -> opset1.Divide(x, y) {m_pythondiv = false}"""
    return op.Divide(x, y, m_pythondiv=False)


@tflite.lowers("STABLEHLO_CLAMP")
def clamp(op: OpBuilder, low: SSAValue, x: SSAValue, high: SSAValue) -> SSAValue:
    """tflite.STABLEHLO_CLAMP(low, x, high) -> opset1.Minimum(opset1.Maximum(x, low), high)"""
    return op.Minimum(op.Maximum(x, low), high)


@tflite.lowers("STABLEHLO_CONVERT")
def convert(node: LoweringNode, op: OpBuilder, x: SSAValue) -> Replacement:
    """tflite.STABLEHLO_CONVERT(x) -> what tf.Cast(x) {DstT} lowers to; the type is that of the result"""
    return lowered_as(node, op, "Cast", [x], {"DstT": element_of(node.op.results[0])})


@tflite.lowers("STABLEHLO_CONCATENATE")
def concatenate(op: OpBuilder, *values: SSAValue, dimension: int = 0) -> SSAValue:
    """tflite.STABLEHLO_CONCATENATE(x…) {dimension} -> opset1.Concat(x…) {axis}"""
    return op.Concat(*values, axis=dimension)


@tflite.lowers("STABLEHLO_TRANSPOSE")
def transpose(op: OpBuilder, x: SSAValue, *, permutation: tuple[int, ...] = ()) -> SSAValue:
    """tflite.STABLEHLO_TRANSPOSE(x) {permutation} -> opset1.Transpose(x, permutation)"""
    return op.transposed(x, permutation)


@tflite.lowers("STABLEHLO_RESHAPE")
def reshape(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tflite.STABLEHLO_RESHAPE(x) -> opset1.Reshape(x, the shape that the file declares for the result)"""
    shape = shape_of(node.op.results[0])
    if shape is None or not is_static(shape):
        node.fail("the shape of its result is unknown")
    return op.Reshape(x, list(shape), special_zero=False)
