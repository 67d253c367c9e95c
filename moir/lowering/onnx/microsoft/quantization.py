"""Operations of the domain com.microsoft on quantized tensors.

    %y = onnx.com.microsoft.QLinearAdd(%a, …, %b, …, %scale, %zero)
->  %y = Convert(FakeQuantize(Add(dequantized %a, dequantized %b)))

Each operation dequantizes its operands, computes in floats, and quantizes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.constant_forms import as_type, constant_array
from moir.expansions.functions import operation
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.activation import leaky
from moir.lowering.onnx.microsoft.fused import embedded
from moir.lowering.onnx.quantization.operations import dynamically_quantized, quantized_convolution
from moir.lowering.onnx.quantization.values import dequantized_operand, quantization, quantized, result_type
from moir.lowering.onnx.recurrent.layer import LSTM, RNNLayer
from moir.lowering.onnx.recurrent.operations import lowered
from moir.lowering.onnx.sliding_window import kernel_shape, sliding_window, spatial_axes
from moir.lowering.onnx.table import onnx
from moir.lowering.signatures import bound
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _operand(node: LoweringNode, op: OpBuilder, data: int, axis: int = 1) -> SSAValue:
    """The quantized operand `data`, dequantized by its scale and zero point, which are the next two operands.

    A 1-D scale is along `axis`.
    """
    x, scale, zero = node.operand(data), node.operand(data + 1), node.optional(data + 2)
    return dequantized_operand(node, op, x, quantization(node, op, element_of(x), scale, zero, axis, rank_of(x)))


def _result(node: LoweringNode, op: OpBuilder, value: SSAValue, scale: int, data: int = 0) -> SSAValue:
    """A value quantized by the scale (operand `scale` of the node) and the zero point (the operand after it).

    Without a zero point the integers have the type of operand `data`.
    """
    zero = node.optional(scale + 1)
    element = result_type(zero, node.element(data))
    return quantized(op, value, quantization(node, op, element, node.operand(scale), zero), element)


@onnx.lowers("com.microsoft.QLinearAdd", "com.microsoft.QLinearMul")
def binary(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.com.microsoft.QLinearAdd(a, …, b, …, scale, zero) -> quantized Add(a, b); likewise QLinearMul"""
    return _result(
        node, op, operation(op, node.op.KIND.removeprefix("com.microsoft.QLinear"))(_operand(node, op, 0), _operand(node, op, 3)), 6
    )


def _unary(kind: str, compute: Callable[[LoweringNode, OpBuilder, SSAValue], SSAValue]) -> None:
    """Register a handler for a kind with one quantized operand and a quantized result; `compute` builds it in
    floats.
    """

    @onnx.lowers(f"com.microsoft.{kind}")
    def lower(node: LoweringNode, op: OpBuilder) -> SSAValue:
        return _result(node, op, compute(node, op, _operand(node, op, 0)), 3)


def _spatial_mean(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    if not node.flag("channels_last"):
        return op.ReduceMean(x, all_axes(op, x, 2), keep_dims=True)
    rank = node.known_rank(0)
    return op.ReduceMean(x, list(range(1, rank - 1)), keep_dims=True)


def _window_mean(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    kernel = kernel_shape(node)
    rank = len(kernel) + 2
    channels_last = node.flag("channels_last")
    if channels_last:
        x = op.Transpose(x, [0, rank - 1, *range(1, rank - 1)])
    window = sliding_window(node, len(kernel)).properties()
    del window["dilations"]
    rounding = "ceil_torch" if node.flag("ceil_mode") else "floor"
    excluded = not node.flag("count_include_pad")
    result = op["opset14.AvgPool"](x, kernel=kernel, rounding_type=rounding, exclude_pad=excluded, **window)
    return op.Transpose(result, [0, *range(2, rank), 1]) if channels_last else result


def _softmax(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    axis = node.integer("axis", -1)
    if node.integer("opset", 13) < 13 and axis not in (-1, (rank_of(x) or 0) - 1):
        node.fail("a softmax over several dimensions is not supported here")
    return op.Softmax(x, axis=axis)


_unary("QLinearSigmoid", lambda _, op, x: op.Sigmoid(x))
_unary("QLinearLeakyRelu", lambda node, op, x: leaky(op, x, node.number("alpha", 0.01)))
_unary("QLinearGlobalAveragePool", _spatial_mean)
_unary("QLinearAveragePool", _window_mean)
_unary("QLinearSoftmax", _softmax)


@onnx.lowers("com.microsoft.QLinearWhere")
def selection(node: LoweringNode, op: OpBuilder, condition: SSAValue) -> SSAValue:
    """onnx.com.microsoft.QLinearWhere(condition, x, …, y, …, scale, zero) -> quantized Select(condition, x, y)"""
    return _result(node, op, op.Select(condition, _operand(node, op, 1), _operand(node, op, 4)), 7)


@onnx.lowers("com.microsoft.QLinearReduceMean")
def mean(node: LoweringNode, op: OpBuilder, *, axes: tuple[int, ...], keepdims: bool = True) -> SSAValue:
    """onnx.com.microsoft.QLinearReduceMean(x, …, scale, zero) {axes, keepdims} -> quantized ReduceMean(x, axes)"""
    x = _operand(node, op, 0)
    return _result(node, op, op.ReduceMean(x, list(axes) or all_axes(op, x), keep_dims=keepdims), 3)


convolution_of = bound(quantized_convolution)
"""The lowering of onnx.QLinearConv, as a function of a node and a builder."""


@onnx.lowers("com.microsoft.QLinearConv")
def convolution(node: LoweringNode, op: OpBuilder, *, channels_last: bool = False) -> SSAValue:
    """onnx.com.microsoft.QLinearConv(x, …, w, …, y_scale, y_zero, b) {channels_last}
    -> onnx.QLinearConv between two Transposes if the channels of x are its last dimension
    """
    if not channels_last:
        return convolution_of(node, op)
    axes = spatial_axes(node, (3, 0))
    x = op.Transpose(node.operand(0), [0, axes + 1, *range(1, axes + 1)])
    return op.Transpose(convolution_of(node.with_operands({0: x}), op), [0, *range(2, axes + 2), 1])


@onnx.lowers("com.microsoft.QLinearConcat")
def concatenation(node: LoweringNode, op: OpBuilder, *, axis: int) -> SSAValue:
    """onnx.com.microsoft.QLinearConcat(scale, zero, x1, …, x2, …) {axis} -> quantized Concat(x1, x2, …)"""
    parts = [_operand(node, op, index) for index in range(2, len(node.op.operands), 3)]
    return _result(node, op, op.Concat(*parts, axis=axis), 0, 2)


@onnx.lowers("com.microsoft.QGemm")
def general_product(
    node: LoweringNode,
    op: OpBuilder,
    _a: SSAValue,
    a_scale: SSAValue,
    _a_zero: SSAValue,
    _b: SSAValue,
    b_scale: SSAValue,
    _b_zero: SSAValue,
    c: SSAValue | None = None,
    y_scale: SSAValue | None = None,
    *,
    alpha: float = 1.0,
    transB: bool = False,
    transA: bool = False,
) -> SSAValue:
    """onnx.com.microsoft.QGemm(a, …, b, …, c, scale, zero) {alpha, transA, transB}
    -> quantized MatMul(a, b) * alpha + c * alpha * scales

    The scales of c are the products of those of a and b. Without an operand `scale` the result is not quantized.
    """
    columns = 0 if transB else 1
    a, b = _operand(node, op, 0), _operand(node, op, 3, columns)
    result = op.MatMul(a, b, transpose_a=transA, transpose_b=transB)
    if alpha != 1:
        result = op.Multiply(result, alpha)
    if c is not None:
        result = op.Add(result, _scaled_bias(op, (c, a_scale, b_scale), alpha))
    return result if y_scale is None else _result(node, op, result, 7)


def _scaled_bias(op: OpBuilder, operands: tuple[SSAValue, SSAValue, SSAValue], alpha: float) -> SSAValue:
    """The bias of a QGemm times both scales and alpha."""
    arrays = [constant_array(op, value) for value in operands]
    if all(array is not None for array in arrays):
        bias, a_scale, b_scale = (array.astype(np.float64) for array in arrays if array is not None)
        return op.constant((bias * (a_scale.reshape(-1) * b_scale.reshape(-1)) * alpha).astype(np.float32))
    scale = op.Multiply(operands[1], operands[2])
    scaled = op.Multiply(as_type(op, operands[0], f32), scale)
    return scaled if alpha == 1 else op.Multiply(scaled, alpha)


@onnx.lowers("com.microsoft.MatMulIntegerToFloat")
def integer_product(
    node: LoweringNode,
    op: OpBuilder,
    a_: SSAValue,
    b_: SSAValue,
    a_scale: SSAValue,
    b_scale: SSAValue,
    a_zero: SSAValue | None = None,
    b_zero: SSAValue | None = None,
    bias: SSAValue | None = None,
) -> SSAValue:
    """onnx.com.microsoft.MatMulIntegerToFloat(a, b, a_scale, b_scale, a_zero, b_zero, bias)
    -> MatMul(a, b) + bias, dequantized
    """
    a = dequantized_operand(node, op, a_, quantization(node, op, element_of(a_), a_scale, a_zero, -2))
    b = dequantized_operand(node, op, b_, quantization(node, op, element_of(b_), b_scale, b_zero, -1))
    result = op.MatMul(a, b)
    return result if bias is None else op.Add(result, bias)


@onnx.lowers("com.microsoft.DynamicQuantizeMatMul")
def dynamic_product(
    node: LoweringNode,
    op: OpBuilder,
    a_: SSAValue,
    b_: SSAValue,
    b_scale: SSAValue,
    b_zero: SSAValue | None = None,
    bias: SSAValue | None = None,
) -> SSAValue:
    """onnx.com.microsoft.DynamicQuantizeMatMul(a, b, b_scale, b_zero, bias)
    -> MatMul(a, dequantized b) + bias, where a is quantized to 256 values between its extremes
    """
    values, scale, zero = dynamically_quantized(op, a_)
    a = op.Multiply(op.Subtract(values, zero), scale)
    b = dequantized_operand(node, op, b_, quantization(node, op, element_of(b_), b_scale, b_zero, -1))
    result = op.MatMul(a, b)
    return result if bias is None else op.Add(result, bias)


@onnx.lowers("com.microsoft.QEmbedLayerNormalization")
def quantized_embedding(node: LoweringNode, op: OpBuilder, *, epsilon: float = 1e-12) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.QEmbedLayerNormalization(ids, segments, tables, gamma, beta, mask, scales, zero points)
    -> com.microsoft.EmbedLayerNormalization of the dequantized tables, gamma and beta

    The scale and the zero point of operand i, from 2 to 6, are the operands i + 6 and i + 11.
    """
    floats: dict[int, SSAValue] = {}
    for index in range(2, 7):
        if (value := node.optional(index)) is not None:
            how = quantization(node, op, element_of(value), node.operand(index + 6), node.optional(index + 11), rank=rank_of(value))
            floats[index] = dequantized_operand(node, op, value, how)
    return embedded(node.with_operands(floats), op, None, epsilon)


@onnx.lowers("com.microsoft.DynamicQuantizeLSTM")
def recurrent(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.com.microsoft.DynamicQuantizeLSTM(x, w, r, b, lengths, h, c, peepholes, scale, zero, scale, zero)
    -> onnx.LSTM of the dequantized weights, each [D, 4 * H, …]

    ONNX Runtime rounds the data and the states of each step to 8 bits, too, in the range of their values; here they
    stay floats.
    """
    node.note("the data and states stay floats, which ONNX Runtime rounds to 8 bits at each step: numbers differ by that")
    weights = {index: _recurrent_weights(node, op, index, index * 2 + 6) for index in (1, 2)}
    return lowered(RNNLayer(node.with_operands(weights), op, LSTM))


def _recurrent_weights(node: LoweringNode, op: OpBuilder, index: int, scale: int) -> SSAValue:
    """Operand `index`, weights [D, I, 4 * H], dequantized and transposed to [D, 4 * H, I].

    Their scales, operand `scale`, and zero points, the next one, are [D] or [D, 4 * H].
    """
    factors = [
        op.Unsqueeze(each, [1] if rank_of(each) == 2 else [1, 2])
        for each in (op.convert(node.operand(scale + step), f32) for step in (0, 1))
    ]
    values = op.Subtract(op.convert(node.operand(index), f32), factors[1])
    return op.Transpose(op.Multiply(values, factors[0]), [0, 2, 1])
