"""Operations of the domain com.microsoft with weights of 2, 4 or 8 bits in blocks: products and tables of embeddings.

    %y = onnx.com.microsoft.MatMulNBits(%x, %b, %scales) {bits = 4, block_size = 32}
->  %y = opset1.MatMul(%x, opset1.Reshape((opset1.Convert(%b) - 8) * %scales)) {transpose_b}

Several integers share a byte; the one in the lowest bits is the first one.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import REAL_TYPES, f32, si4, ui4, ui8
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, normalize_axis, shape_of
from moir.expansions.constant_forms import constant_array
from moir.expansions.quantization import dequantized
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


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
    if zeros is None and node.optional(3) is not None:
        node.fail("its zero points are no constant", hint="make the zero points an initializer")
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
        zeros = unpacked(zeros.reshape(N, -1), bits)[:, :blocks]
    points = np.full((1, 1, 1), 2 ** (bits - 1), np.float32) if zeros is None else zeros.reshape(N, blocks, 1).astype(np.float32)
    how = Quantization(op.constant_like(scales.reshape(N, blocks, 1), x), op.constant_like(points, x), IntegerRange(bits, False))
    matrix = op.Reshape(dequantized(op, weights, how, element_of(x)), [N, blocks * block_size], special_zero=False)
    if blocks * block_size != K:
        matrix = op.Slice(matrix, [0], [K], [1], [1])
    result = op.MatMul(x, matrix, transpose_b=True)
    return result if bias is None else op.Add(result, bias)


def unpacked(data: Array, bits: int) -> Array:
    """Unpack unsigned integers of `bits` bits (2, 4 or 8) from bytes; the last dimension becomes longer."""
    if bits == 8:
        return data
    fields = [data >> shift & (2**bits - 1) for shift in range(0, 8, bits)]
    return np.stack(fields, axis=-1).reshape(*data.shape[:-1], -1)


def integer_weights(op: OpBuilder, values: Array, bits: int) -> SSAValue:
    """A constant of unsigned integers: packed u4, two in a byte, for up to 4 bits, else u8."""
    if bits == 8:
        return op.constant(values.astype(np.uint8))
    flat = values.reshape(-1)
    flat = np.append(flat, np.zeros(len(flat) % 2, flat.dtype))
    data = DataAttr.of((flat[::2] | flat[1::2] << 4).astype(np.uint8), ui4, values.shape)
    return op.create(Constant, (), {"value": data}).results[0]


FP4 = np.array([0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4], np.float32)
"""The eight magnitudes of bitsandbytes' type FP4; the fourth bit is the sign."""

NF4 = np.array(
    [
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
        *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
        *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ],
    np.float32,
)
"""The numbers of the type NormalFloat4: Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs", 2023."""


@onnx.lowers("com.microsoft.MatMulBnb4")
def product_of_four_bit_floats(
    node: LoweringNode,
    op: OpBuilder,
    a: SSAValue,
    _b: SSAValue,
    _absmax: SSAValue,
    *,
    K: int,
    N: int,
    block_size: int,
    quant_type: int,
    transB: bool = True,
) -> SSAValue:
    """onnx.com.microsoft.MatMulBnb4(a, b, absmax) {K, N, block_size, quant_type, transB}
    -> MatMul(a, table[b] * absmax) {transpose_b = transB}

    The weights become a constant of floats: no element type has the numbers of these types.
    """
    packed, largest = node.constant(1), node.constant(2)
    if packed is None or largest is None:
        node.fail("its weights are no constants", hint="make b and absmax initializers")
    if quant_type not in (0, 1) or min(N, K, block_size) < 1:
        node.fail(f"weights [{N}, {K}] of quant_type {quant_type} in blocks of {block_size} are not supported")
    if packed.size != (N * K + 1) // 2 or largest.size != -(-N * K // block_size):
        node.fail(f"{packed.size} bytes and {largest.size} scales are not weights [{N}, {K}] in blocks of {block_size}")
    table = NF4 if quant_type else np.concatenate([FP4, -FP4])
    # The first number of a byte is in its high bits.
    codes = np.stack([packed.reshape(-1) >> 4, packed.reshape(-1) & 15], axis=-1).reshape(-1)[: N * K]
    scales = np.repeat(largest.reshape(-1).astype(np.float32), block_size)[: N * K]
    return op.MatMul(a, op.constant_like((table[codes] * scales).reshape(N, K), a), transpose_b=transB)


@onnx.lowers("com.microsoft.GatherBlockQuantized")
def embedding_of_blocks(
    node: LoweringNode,
    op: OpBuilder,
    data: SSAValue,
    indices: SSAValue,
    scales: SSAValue,
    zero_points: SSAValue | None = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> SSAValue:
    """onnx.com.microsoft.GatherBlockQuantized(data, indices, scales, zero_points) {bits, block_size, …}
    -> opset8.Gather(Reshape((Convert(data) - zero_points) * scales), indices, gather_axis)

    The blocks lie along `quantize_axis`. Bytes hold integers of `bits` bits, whose zero point is 2^(bits - 1) by
    default; that of other integers is 0.
    """
    factors = constant_array(op, scales)
    element = element_of(data)
    if element in REAL_TYPES:
        return _rows_or_zeros(node, op, _scaled_floats(node, op, data, scales, block_size, quantize_axis), indices, gather_axis)
    weights, points, width = _integers_of_blocks(node, op, data, zero_points, bits)
    if factors is None or weights is None or (zero_points is not None and points is None):
        node.fail("its table is no constant", hint="make data, scales and zero_points initializers")
    if block_size < 1:
        node.fail(f"blocks of {block_size} integers are not possible")
    shape = weights.shape
    axis = normalize_axis(quantize_axis, len(shape))
    gathered = normalize_axis(gather_axis, len(shape))
    blocks = tuple(-(-size // block_size) if each == axis else size for each, size in enumerate(shape))
    if factors.shape != blocks or (points is not None and points.shape != blocks):
        node.fail(f"scales {list(factors.shape)} are not those of a table {list(shape)} in blocks of {block_size} along axis {axis}")
    is_signed = element == si4
    if points is None:
        points = np.array(0 if element != ui8 else 2 ** (bits - 1))
    if shape[axis] % block_size:
        factors, points = (_along_elements(each, axis, block_size, shape[axis]) for each in (factors, points))
        split = shape
    else:
        split = (*shape[:axis], shape[axis] // block_size, block_size, *shape[axis + 1 :])
        factors, points = (each if each.ndim == 0 else np.expand_dims(each, axis + 1) for each in (factors, points))
    if is_signed:
        # The integers are stored without a sign: 8 is added to each and to its zero point.
        weights, points = weights + 8, points + 8
    stored = integer_weights(op, weights.reshape(split).astype(np.uint8), width)
    zeros = op.constant_like(points, scales) if points.any() else None
    how = Quantization(op.constant(factors, element_of(scales)), zeros, IntegerRange(max(width, 4), False))
    table = dequantized(op, stored, how, element_of(scales))
    if split != shape:
        table = op.Reshape(table, list(shape), special_zero=False)
    return _rows_or_zeros(node, op, table, indices, gathered)


def _rows_or_zeros(node: LoweringNode, op: OpBuilder, table: SSAValue, indices: SSAValue, axis: int) -> SSAValue:
    """Gather slices of a table at indices along an axis; zeros for an index outside of the table."""
    shape = shape_of(table) or ()
    axis = normalize_axis(axis, len(shape))
    size, known = shape[axis], node.known.constant(indices)
    if known is not None and np.all((known >= -size) & (known < size)):
        return op.Gather(table, indices, axis)
    is_inside = op.LogicalAnd(op.GreaterEqual(indices, -size), op.Less(indices, size))
    rows = op.Gather(table, op.Select(is_inside, indices, op.constant_like(0, indices)), axis)
    after = len(shape) - 1 - axis
    mask = op.Unsqueeze(is_inside, [-1 - each for each in range(after)]) if after else is_inside
    return op.Select(mask, rows, op.constant_like(0, rows))


def _integers_of_blocks(
    node: LoweringNode, op: OpBuilder, data: SSAValue, zero_points: SSAValue | None, bits: int
) -> tuple[Array | None, Array | None, int]:
    """The integers of a table of packed values, their zero points, and the number of bits of an integer.

    The integers are None if they are not constant, the zero points if they are absent.
    """
    arrays = [None if each is None else constant_array(op, each) for each in (data, zero_points)]
    if element_of(data) != ui8:
        return arrays[0], arrays[1], 4
    if bits not in (2, 4, 8):
        node.fail(f"integers of {bits} bits are not supported")
    values, points = (None if each is None else unpacked(each, bits) for each in arrays)
    scale_shape = shape_of(node.operand(2))
    if points is not None and scale_shape is not None:
        # The last byte of a row may not be full.
        points = points[..., : scale_shape[-1]]
    return values, points, bits


def _along_elements(values: Array, axis: int, block: int, size: int) -> Array:
    """Values for the blocks along an axis, each repeated `block` times, so that every element has one; cut to `size`
    elements.
    """
    return values if values.ndim == 0 else np.take(np.repeat(values, block, axis), np.arange(size), axis)


def _scaled_floats(node: LoweringNode, op: OpBuilder, data: SSAValue, scales: SSAValue, block_size: int, quantize_axis: int) -> SSAValue:
    """A table of floats of 4 or 8 bits, multiplied by the scales of blocks along `quantize_axis`; block size 0 means a
    single block.
    """
    shape, factors = shape_of(data), constant_array(op, scales)
    if shape is None or -1 in shape or factors is None or factors.ndim != len(shape) or block_size < 0:
        node.fail("its table is no constant", hint="make data and scales initializers")
    axis = normalize_axis(quantize_axis, len(shape))
    wide = op.convert(op.convert(data, f32), element_of(scales))
    block = block_size or shape[axis]
    return op.Multiply(wide, op.constant(_along_elements(factors, axis, block, shape[axis]), element_of(scales)))
