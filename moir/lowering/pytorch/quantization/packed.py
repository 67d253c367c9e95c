"""Products with weights that a processor packed: integers of 4 and 8 bits, and floats of 8 bits with scales.

Which bits of packed 4-bit weights belong to which row depends on the instruction set of the processor that packed them,
which the file does not say. If the layouts differ for a matrix, the user names it with `--packing`.

Source: int4mm_kernel.cpp and int4mm.cu of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import f32, ui4
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.quantization import dequantized
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

FARTHEST = 256
"""The largest distance of a zero point from 0 that is used as a zero point; larger ones, of scales close to 0, would
lose digits.
"""


def unpacked(packed: Array, block: int, *, is_vectorized: bool) -> Array:
    """The integers [N, K] of packed ones [N, K / 2], in which a block of rows is stored column by column.

    Args:
        packed: bytes of two integers.
        block: the number of rows of a block; the last one may have less.
        is_vectorized: whether the low bits of a full block's bytes are the first of two groups of rows, and the high
            bits the second one; otherwise, and in the last block, both are of neighbouring rows.
    """
    rows, columns = packed.shape[0], 2 * packed.shape[1]
    flat = packed.reshape(-1)
    blocks: list[Array] = []
    for start in range(0, rows, block):
        count = min(block, rows - start)
        # A byte for each column and each pair of rows.
        pairs = flat[start * columns // 2 : (start + count) * columns // 2].reshape(columns, count // 2)
        low, high = pairs & 15, pairs >> 4
        if is_vectorized and count == block:
            # Half of the vectors are in the low bits: of four, the first two.
            blocks.append(np.concatenate([low, high], 1).T)
        else:
            blocks.append(np.stack([low, high], -1).reshape(columns, count).T)
    return np.concatenate(blocks)


LAYOUTS: Mapping[str, Callable[[Array], Array]] = {
    "avx512": partial(unpacked, block=64, is_vectorized=True),
    "avx2": partial(unpacked, block=32, is_vectorized=True),
    "scalar": partial(unpacked, block=32, is_vectorized=False),
    "neon": partial(unpacked, block=16, is_vectorized=False),
}
"""For each layout of packed weights, the function that unpacks it."""


def unpacked_tiles(packed: Array) -> Array:
    """The integers [N, K] of weights in the tiles [N / 8, K / (16 · inner), 32, inner / 2] of CUDA's tensor cores.

    An element has eight integers of a row: those in columns 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 of two tiles of 16
    columns, for a t below 4.
    """
    row_tiles, column_tiles, lanes, inner = packed.shape
    words = packed.view(np.uint32) if packed.dtype == np.int32 else packed.astype(np.uint32)
    # Even columns are in the low half of a word, odd ones in the high half: of tile 0 at t, at t + 4, of tile 1.
    integers = np.stack([(words >> shift) & 15 for shift in range(0, 32, 4)], -1)
    parts = integers.reshape(row_tiles, column_tiles, lanes // 4, 4, inner, 2, 2, 2)
    # The axes are now: row tile, column tile, row, t, pair of tiles, parity, tile of the pair, half of the tile.
    ordered = parts.transpose(0, 2, 1, 4, 6, 7, 3, 5)
    return ordered.reshape(row_tiles * 8, -1).astype(np.uint8)


def _codes(node: LoweringNode, packed: Array) -> Array:
    """The integers of packed weights. Raises ConversionError if the layouts differ and the user names none."""
    packing = node.text("packing", "")
    if packed.ndim == 4:
        if packing == "cuda":
            return unpacked_tiles(packed)
        if packing not in LAYOUTS:
            names = " or ".join(("cuda", *LAYOUTS))
            node.fail("the file does not say which processor packed its weights", hint=f"name it: --packing {names}")
        # Up to torch 2.4 a processor's bytes have the shape of CUDA's tiles.
        packed = np.ascontiguousarray(packed).view(np.uint8).reshape(8 * packed.shape[0], -1)
    if packing in LAYOUTS:
        return LAYOUTS[packing](packed)
    if packing:
        node.fail(f"the packing {packing!r} is not known", hint=f"choose one: --packing {' or '.join(LAYOUTS)}")
    first, *others = (unpack(packed) for unpack in LAYOUTS.values())
    if not all(np.array_equal(first, other) for other in others):
        node.fail(
            "its weights are packed for the processor on which the model was exported, which the file does not name",
            hint=f"name it, as torch.backends.cpu.get_cpu_capability() does there: --packing {' or '.join(LAYOUTS)}; or export with "
            "torch.export.save(program, path, extra_files={'packing': torch.backends.cpu.get_cpu_capability()})",
        )
    return first


@aten.lowers("_weight_int4pack_mm_for_cpu.default", "_weight_int4pack_mm.default")
def int4_product(
    node: LoweringNode, op: OpBuilder, self: SSAValue, mat2: SSAValue, qScaleAndZeros: SSAValue, *, qGroupSize: int
) -> SSAValue:
    """aten._weight_int4pack_mm_for_cpu.default(x, w, scales and zeros [K / G, N, 2]) {qGroupSize = G}
    -> opset1.MatMul(x, (w - 8) · scale + zero) {transpose_b}
    """
    packed, parameters = (op.known.constant(each) for each in (mat2, qScaleAndZeros))
    if packed is None or parameters is None:
        node.fail("its weights are computed when the model runs")
    codes = _codes(node, packed)
    rows, columns = codes.shape
    if qGroupSize < 1 or columns % qGroupSize or parameters.shape != (columns // qGroupSize, rows, 2):
        node.fail(f"scales of shape {list(parameters.shape)} for weights of shape {[rows, columns]} in groups of {qGroupSize}")
    scales, zeros = parameters.astype(np.float32).transpose(2, 1, 0)[..., None]
    data = DataAttr.of((codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8).reshape(-1), ui4, (rows, columns // qGroupSize, qGroupSize))
    integers = op.create(Constant, (), {"value": data}).results[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        points = 8 - zeros / scales
    if np.all(np.abs(points) < FARTHEST):
        # The form of weights that are decompressed by the product.
        how = Quantization(op.constant(scales, f32), op.constant(points, f32), IntegerRange(4, signed=False))
        weights = dequantized(op, integers, how)
    else:
        centered = op.Subtract(op.convert(integers, f32), 8.0)
        weights = op.Add(op.Multiply(centered, op.constant(scales, f32)), op.constant(zeros, f32))
    matrix = op.Reshape(weights, [rows, columns], special_zero=False)
    return op.MatMul(op.convert(self, f32), matrix, transpose_b=True)


@aten.lowers("_weight_int8pack_mm.default")
def int8_product(node: LoweringNode, op: OpBuilder, self: SSAValue, mat2: SSAValue, scales: SSAValue) -> SSAValue:
    """aten._weight_int8pack_mm.default(x, w [N, K], scales [N]) -> opset1.MatMul(x, w · scale) {transpose_b}"""
    element = inferred_element(node)
    weights = op.Multiply(op.convert(mat2, element), op.Unsqueeze(op.convert(scales, element), [1]))
    return op.MatMul(op.convert(self, element), weights, transpose_b=True)


@aten.lowers("_scaled_mm.default")
def scaled_product(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    mat2: SSAValue,
    scale_a: SSAValue,
    scale_b: SSAValue,
    bias: SSAValue | None = None,
    scale_result: SSAValue | None = None,
) -> SSAValue:
    """aten._scaled_mm.default(x, w [K, N], scale of x, scale of w) -> opset1.MatMul(x, w) · scale of x · scale of w

    A scale is a scalar, or has an element for each row of x or column of w. Raises ConversionError for scales of
    blocks.
    """
    if scale_result is not None:
        node.fail("its result is scaled", hint="scale the result after it")
    for name, scale, axis in (("scale_a", scale_a, 0), ("scale_b", scale_b, 1)):
        shape, size = shape_of(scale), (shape_of(self if axis == 0 else mat2) or (-1, -1))[axis]
        whole = (1,) * (rank_of(scale) or 0)
        if shape is None or (shape != whole and shape != ((size, 1) if axis == 0 else (1, size))):
            node.fail(f"{name} of shape {shape} is not one number for each {'column' if axis else 'row'}")
    product = op.MatMul(op.convert(self, f32), op.convert(mat2, f32))
    for scale in (scale_a, scale_b):
        product = op.Multiply(product, op.convert(scale, f32))
    if bias is not None:
        product = op.Add(product, op.convert(bias, f32))
    return op.convert(product, inferred_element(node)) if element_of(node.op.results[0]) != f32 else product
