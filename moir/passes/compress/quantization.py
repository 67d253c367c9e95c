"""Quantization of weights: integer codes, and the scales and zero points that restore numbers from them.

    weight ≈ (code - zero point) · scale

The scale and the zero point are those of a channel, or of a group of consecutive weights of a channel. Codes are
computed when they are read, so that neither they nor the weights stand in memory.

Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference"
(zero points), and Krishnamoorthi, "Quantizing deep convolutional networks for efficient inference" (symmetric codes).
The lowest of the symmetric codes, which has no counterpart above 0, stands for the number of largest magnitude,
whatever its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.computed_rows import ComputedRows, computed_rows
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import f16, f32
from moir.dialects.large_arrays import Values, block_indices, blocks, computed, memory_order, read_block, release_block
from moir.dialects.memory_map import Array
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import normalize_axis

HALF_RANGE = (2.0**-14, 65504.0)
"""The smallest and the largest positive normal number of f16."""

SAMPLED_VALUES = 1 << 18
"""Number of weights from which the error of a larger constant is estimated."""

LARGEST_SHORT_ROW = 512
"""Rows of up to this many weights are quantized together in array operations, which is faster than row by row."""

SAMPLE_VALUES = 1 << 14
"""The number of weights of one part of the sample."""

BLOCK_VALUES = 1 << 18
"""Number of weights whose bounds are computed at a time."""

Keep = Callable[[Array], Array]
"""Returns an array with the same elements, which may be stored outside of memory."""


class Quantized(NamedTuple):
    """Quantized weights.

    Args:
        codes: the codes, in the shape of the weights.
        parameters: the scales (f16, or f32 if f16 has no normal numbers for them); dimensions along which they do not
            vary have size 1. The zero points have the shape of the scales and the element type of the codes; there are
            none for signed codes.
        error: the sum of the squares of the errors of the restored weights.
        energy: the sum of the squares of the weights. Both are of a sample of large weights.
    """

    codes: DataAttr
    parameters: Quantization[DataAttr]
    error: float
    energy: float


def quantized(weights: Values, axis: int, integers: IntegerRange, keep: Keep | None = None) -> Quantized | None:
    """Quantize weights, with one scale for each index of all dimensions but one.

    Args:
        weights: floating-point numbers. They are read once, and once more whenever codes are read.
        axis: the dimension whose weights share a scale.
        integers: the range of the codes: signed ones are symmetric, with the code 0 for the number 0. Codes of 4 bits
            need an even number of weights in the last dimension.
        keep: stores scales and zero points elsewhere.

    Returns None for weights that are not finite.
    """
    axis = normalize_axis(axis, weights.ndim)
    # Values of f16 are widened block by block: the reciprocal of a scale need not be representable in f16.
    weights = weights if weights.dtype == np.float32 else computed(_single, weights)
    is_last = axis == weights.ndim - 1 and weights.ndim > 1
    bounds = _bounds_of_rows(weights) if is_last else _ranges(weights, axis)
    if bounds is None:
        return None
    scales, zero_points = _parameters(*bounds, integers)
    if not np.all(np.isfinite(scales)):
        return None
    if keep is not None:
        scales, zero_points = keep(scales), zero_points if integers.signed else keep(zero_points)
    encode = partial(_codes, integers)
    if integers.bits == 4:
        codes = _packed_rows(encode, weights, scales, zero_points) if is_last else _packed(encode, weights, scales, zero_points)
    else:
        codes = computed(encode, weights, scales, zero_points)
    points = None
    if not integers.signed:
        points = _data(_packed_at_once(zero_points) if integers.bits == 4 else zero_points, integers.element, zero_points.shape)
    parameters = Quantization(_data(scales, f16 if scales.itemsize == 2 else f32, scales.shape), points, integers)
    return Quantized(_data(codes, integers.element, weights.shape), parameters, *_errors(weights, axis, encode, scales, zero_points))


def _data(values: Values, element: Attribute, shape: tuple[int, ...]) -> DataAttr:
    return DataAttr(TensorData(values, element, shape))


def _single(weights: Array) -> Array:
    return weights.astype(np.float32)


def _bounds_of_rows(weights: Values) -> tuple[Array, Array] | None:
    """The smallest and the largest weight of each row, extended to contain 0, computed by threads; None if not all are
    finite.
    """
    shape = weights.shape[:-1]
    bounds = ComputedRows(_row_bounds, [weights], (*shape, 2), np.dtype(np.float32), min(2, len(shape)))
    lowest, highest = np.empty((*shape, 1), np.float32), np.empty((*shape, 1), np.float32)
    limit = max(1, BLOCK_VALUES // weights.shape[-1]) * 2 * bounds.dtype.itemsize
    for index, block in blocks(bounds, limit):
        lowest[index], highest[index] = block[..., :1], block[..., 1:]
    return (lowest, highest) if np.isfinite(lowest).all() and np.isfinite(highest).all() else None


def _row_bounds(weights: Array) -> Array:
    """The smallest and the largest weight of each row, as […, 2]; rows extend along the last dimension."""
    shape = weights.shape
    result = np.zeros((*shape[:-1], 2), np.float32)
    if shape[-1] <= LARGEST_SHORT_ROW and weights.flags.c_contiguous:
        flat, starts = weights.reshape(-1), list(range(0, weights.size, int(shape[-1])))
        low, high = (bound.reduceat(flat, starts).reshape(shape[:-1]) for bound in (np.minimum, np.maximum))
    else:
        low, high = weights.min(-1), weights.max(-1)
    np.minimum(low, 0, out=result[..., 0])
    np.maximum(high, 0, out=result[..., 1])
    return result


def _ranges(weights: Values, axis: int) -> tuple[Array, Array] | None:
    """The smallest and the largest weight along a dimension, extended to contain 0. None if some are not finite."""
    order = memory_order(weights)
    moved, reduced = weights.transpose(order), order.index(axis)
    shape = [1 if index == reduced else size for index, size in enumerate(moved.shape)]
    lowest, highest = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for index, block in blocks(moved):
        slices = tuple([slice(None) if each == reduced else part for each, part in enumerate(index)])
        low, high = (bound(block, axis=reduced, keepdims=True).astype(np.float32) for bound in (np.min, np.max))
        if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
            return None
        np.minimum(lowest[slices], low, out=lowest[slices])
        np.maximum(highest[slices], high, out=highest[slices])
    back = [order.index(each) for each in range(len(order))]
    return lowest.transpose(back), highest.transpose(back)


def _parameters(lowest: Array, highest: Array, integers: IntegerRange) -> tuple[Array, Array]:
    """The scales, and the zero points of the numpy type of the codes, for ranges of weights from `lowest` to `highest`.

    The ranges contain 0. They are overwritten: with small groups they are large.
    """
    with np.errstate(over="ignore"):
        if integers.signed:
            np.copyto(highest, lowest, where=highest <= -lowest)
        else:
            highest -= lowest
    highest /= np.float32(integers.lowest if integers.signed else integers.highest)
    # The reciprocal of a smaller scale would be infinite.
    highest[np.abs(highest) < np.finfo(np.float32).tiny] = 0
    size = np.abs(highest)
    fits_half = size.max(initial=0) <= HALF_RANGE[1] and size.min(initial=1, where=size > 0) >= HALF_RANGE[0]
    scales = highest.astype(np.float16) if fits_half else highest
    if integers.signed:
        return scales, np.broadcast_to(np.int8(0), scales.shape)
    np.divide(lowest, scales, out=lowest, where=scales != 0)
    np.rint(lowest, out=lowest)
    return scales, np.clip(-lowest, integers.lowest, integers.highest).astype(np.uint8)


def _codes(integers: IntegerRange, weights: Array, scales: Array, zero_points: Array) -> Array:
    """The integer codes of weights, given broadcast scales and zero points: rounded, clamped to `integers`, one per
    byte.
    """
    factors = scales.astype(np.float32)
    np.divide(1, factors, out=factors, where=factors != 0)
    codes = weights * _spread(factors, weights)
    if zero_points.dtype == np.uint8:
        codes += _spread(zero_points.astype(np.float32), weights)
    np.rint(codes, out=codes)
    np.clip(codes, integers.lowest, integers.highest, out=codes)
    return codes.astype(zero_points.dtype)


def _spread(values: Array, weights: Array) -> Array:
    """Repeats each row's value as often as the row is long, so that whole arrays can be computed at once."""
    length = weights.shape[-1]
    if values.shape[-1] != 1 or not 1 < length <= LARGEST_SHORT_ROW or values.shape[:-1] != weights.shape[:-1]:
        return values
    return np.repeat(values.reshape(-1), length).reshape(weights.shape)


def _packed_rows(encode: Callable[..., Array], weights: Values, scales: Array, zero_points: Array) -> Values:
    """4-bit codes of weights whose last dimension shares scales, two neighbours in a byte; computed lazily.

    `encode` computes codes from weights, scales and zero points.
    """
    shape = (*weights.shape[:-1], weights.shape[-1] // 2)
    return computed_rows(partial(_row_pairs, encode), [weights, scales, zero_points], shape, np.uint8, min(2, weights.ndim - 1))


def _row_pairs(encode: Callable[..., Array], weights: Array, scales: Array, zero_points: Array) -> Array:
    codes = encode(weights, scales, zero_points).view(np.uint8)
    pairs = codes.view(np.dtype("<u2"))
    # The second code, in the high byte, moves down to the high bits of the first.
    joined = pairs & np.uint16(0x0F00)
    joined >>= np.uint16(4)
    joined |= pairs & np.uint16(0x000F)
    return joined.astype(np.uint8)


def _packed(encode: Callable[..., Array], *arrays: Values) -> Values:
    """The 4-bit codes that `encode` computes from broadcast arrays, packed.

    Two neighbours in the last dimension share a byte, the first of them in its low bits.
    """
    return computed(partial(_packed_pairs, encode), *[_every_other(array, start) for start in (0, 1) for array in arrays])


def _packed_pairs(encode: Callable[..., Array], *arrays: Array) -> Array:
    first, second = encode(*arrays[: len(arrays) // 2]), encode(*arrays[len(arrays) // 2 :])
    return (first.view(np.uint8) & 15) | (second.view(np.uint8) << 4)


def _every_other(array: Values, start: int) -> Values:
    """Every second element along the last dimension, from `start` on; the array itself if it is broadcast along that
    dimension.
    """
    if array.shape[-1] == 1:
        return array
    return array[..., start::2] if isinstance(array, np.ndarray) else array.moved(lambda part: part[..., start::2])


def _packed_at_once(codes: Array) -> Array:
    """Codes of 4 bits, two in a byte in C order."""
    flat = np.append(codes.reshape(-1), np.zeros(codes.size % 2, codes.dtype)).view(np.uint8) & 15
    return flat[0::2] | (flat[1::2] << 4)


def _errors(weights: Values, axis: int, encode: Callable[..., Array], scales: Array, zero_points: Array) -> tuple[float, float]:
    """The sums of the squares of the errors of restored weights, and of the weights, both of a sample.

    `encode` computes the codes from weights, scales and zero points, which weights along `axis` share.
    """
    order = memory_order(weights)
    error = energy = 0.0
    arrays = [array.transpose(order) for array in (scales, zero_points)]
    reduced, moved = order.index(axis), weights.transpose(order) if order != sorted(order) else weights
    indices = list(block_indices(moved.shape, SAMPLE_VALUES))
    step = -(-weights.size // SAMPLED_VALUES)
    for index in indices[step // 2 :: step]:
        block = read_block(moved, index)
        slices = tuple([slice(None) if each == reduced else part for each, part in enumerate(index)])
        scale, point = (array[slices] for array in arrays)
        restored = encode(block, scale, point).astype(np.float32)
        restored -= point
        restored *= scale
        restored -= block
        error += float(np.vdot(restored, restored))
        energy += float(np.vdot(block, block))
    # A read byte maps pages around it.
    release_block(moved, (slice(None),) * moved.ndim)
    return error, energy
