"""Operations of the domain com.microsoft on quantized tensors.

    %y = onnx.com.microsoft.QLinearAdd(%a, …, %b, …, %scale, %zero)
->  %y = Convert(FakeQuantize(Add(dequantized %a, dequantized %b)))

Each operation dequantizes its operands, computes in floats, and quantizes the result.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import f32, ui4, ui8
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.constant_forms import as_type, constant_array
from moir.expansions.functions import operation
from moir.expansions.quantization import dequantized
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.activation import leaky
from moir.lowering.onnx.quantization.operations import dynamically_quantized
from moir.lowering.onnx.quantization.values import dequantized_operand, quantization, quantized, result_type
from moir.lowering.onnx.recurrent.network import LSTM, Network
from moir.lowering.onnx.recurrent.operations import lowered
from moir.lowering.onnx.sliding_window import kernel_shape, sliding_window
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _operand(node: LoweringNode, op: OpBuilder, data: int, axis: int = 1) -> SSAValue:
    """A quantized operand as floats; its scale and zero point are the next two operands."""
    x, scale, zero = node.operand(data), node.operand(data + 1), node.optional(data + 2)
    return dequantized_operand(node, op, x, quantization(node, op, element_of(x), scale, zero, axis, rank_of(x)))


def _result(node: LoweringNode, op: OpBuilder, value: SSAValue, scale: int) -> SSAValue:
    """A value quantized by the scale and zero point that are operands of the node, from index `scale` on."""
    zero = node.optional(scale + 1)
    element = result_type(zero)
    return quantized(op, value, quantization(node, op, element, node.operand(scale), zero), element)


@onnx.lowers("com.microsoft.QLinearAdd", "com.microsoft.QLinearMul")
def binary(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.com.microsoft.QLinearAdd(a, …, b, …, scale, zero) -> quantized Add(a, b)"""
    return _result(
        node, op, operation(op, node.op.KIND.removeprefix("com.microsoft.QLinear"))(_operand(node, op, 0), _operand(node, op, 3)), 6
    )


def _unary(kind: str, compute: Callable[[LoweringNode, OpBuilder, SSAValue], SSAValue]) -> None:
    """Register a handler for a kind with one quantized operand and a quantized result."""

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


@onnx.lowers("com.microsoft.QLinearConcat")
def concatenation(node: LoweringNode, op: OpBuilder, *, axis: int) -> SSAValue:
    """onnx.com.microsoft.QLinearConcat(scale, zero, x1, …, x2, …) {axis} -> quantized Concat(x1, x2, …)"""
    parts = [_operand(node, op, index) for index in range(2, len(node.op.operands), 3)]
    return _result(node, op, op.Concat(*parts, axis=axis), 0)


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
    -> MatMul(a, dequantized b) + bias, where a is rounded to 256 levels between its extremes
    """
    level, scale, zero = dynamically_quantized(op, a_)
    a = op.Multiply(op.Subtract(level, zero), scale)
    b = dequantized_operand(node, op, b_, quantization(node, op, element_of(b_), b_scale, b_zero, -1))
    result = op.MatMul(a, b)
    return result if bias is None else op.Add(result, bias)


@onnx.lowers("com.microsoft.MatMulNBits")
def packed_product(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _b: SSAValue | None = None,
    _scales: SSAValue | None = None,
    _zeros: SSAValue | None = None,
    operand_4: SSAValue | None = None,
    bias: SSAValue | None = None,
    *,
    bits: int = 4,
    block_size: int,
    N: int,
    K: int,
) -> SSAValue:
    """onnx.com.microsoft.MatMulNBits(a, b, scales, zeros, -, bias) {N, K, bits, block_size}

    -> MatMul(a, Reshape((Convert(b as u4 [N, blocks, block_size]) - zeros) * scales)) {transpose_b = true} + bias
    """
    packed, scales, zeros = node.constant(1), node.constant(2), node.constant(3)
    if bits not in (4, 8) or block_size < 16 or packed is None or scales is None:
        node.fail(f"weights of {bits} bits in blocks of {block_size} are not supported")
    if operand_4 is not None:
        node.fail("weights in another order (g_idx) are not supported")
    blocks = -(-K // block_size)
    if packed.size != N * blocks * block_size * bits // 8 or scales.size != N * blocks:
        node.fail(f"{packed.size} bytes are not weights [{N}, {K}] of {bits} bits")
    shape = (N, blocks, block_size)
    flat = packed.reshape(-1).view(np.uint8)
    data = DataAttr.of(flat, ui4, shape) if bits == 4 else DataAttr.of(flat.reshape(shape), ui8)
    weights = op.create(Constant, (), {"value": data}).results[0]
    if zeros is not None and zeros.dtype == np.uint8:
        zeros = _unpacked(zeros.reshape(N, -1), bits)[:, :blocks]
    points = np.full((1, 1, 1), 2 ** (bits - 1), np.float32) if zeros is None else zeros.reshape(N, blocks, 1).astype(np.float32)
    how = Quantization(op.constant_like(scales.reshape(N, blocks, 1), x), op.constant_like(points, x), IntegerRange(bits, False))
    matrix = op.Reshape(dequantized(op, weights, how, element_of(x)), [N, blocks * block_size], special_zero=False)
    if blocks * block_size != K:
        matrix = op.Slice(matrix, [0], [K], [1], [1])
    result = op.MatMul(x, matrix, transpose_b=True)
    return result if bias is None else op.Add(result, bias)


def _unpacked(data: Array, bits: int) -> Array:
    """The integers of 4 or 8 bits in rows of bytes; the low half of a byte precedes the high one."""
    if bits == 8:
        return data
    return np.stack([data & 15, data >> 4], axis=-1).reshape(data.shape[0], -1)


@onnx.lowers("com.microsoft.DynamicQuantizeLSTM")
def recurrent(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.com.microsoft.DynamicQuantizeLSTM(x, w, r, b, lengths, h, c, peepholes, scale, zero, scale, zero)
    -> onnx.LSTM of the dequantized weights, each [D, 4 * H, …]

    ONNX Runtime rounds the data and the states of each step to 8 bits, too, in the range of their values; here they
    stay floats.
    """
    node.note("the data and states stay floats, which ONNX Runtime rounds to 8 bits at each step: numbers differ by that")
    weights = {index: _recurrent_weights(node, op, index, index * 2 + 6) for index in (1, 2)}
    return lowered(Network(node.with_operands(weights), op, LSTM))


def _recurrent_weights(node: LoweringNode, op: OpBuilder, index: int, scale: int) -> SSAValue:
    """Weights [D, I, 4 * H], whose scales and zero points are [D] or [D, 4 * H], as floats [D, 4 * H, I]."""
    factors = [
        op.Unsqueeze(each, [1] if rank_of(each) == 2 else [1, 2])
        for each in (op.convert(node.operand(scale + step), f32) for step in (0, 1))
    ]
    values = op.Subtract(op.convert(node.operand(index), f32), factors[1])
    return op.Transpose(op.Multiply(values, factors[0]), [0, 2, 1])
