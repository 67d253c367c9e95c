"""Fourier transforms and frames of signals. Complex numbers are pairs in a last dimension of 2.

    %y = paddle.fft_r2c(%x) {axes = [1, 2], normalization = "ortho"}
->  %y = opset1.Multiply(opset9.RDFT(%x, [1, 2]), 1 / √n)

Source: spectral_op.cc, frame_kernel_impl.h and overlap_add_kernel_impl.h of PaddlePaddle 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of, normalize_axis, shape_of, size_along
from moir.expansions.complex_numbers import conjugated, paired
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS_FROM_REAL, PAIRS_TO_REAL, Complex, complex_operands
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder


def _exponent(node: LoweringNode, normalization: str, *, forward: bool) -> float:
    """The exponent p of the factor nᵖ of a transform over n elements: 0, -1/2 or -1, by its normalization."""
    if normalization not in ("backward", "forward", "ortho"):
        node.fail(f"normalization {normalization!r} does not exist")
    if normalization == "ortho":
        return -0.5
    return -1.0 if (normalization == "forward") is forward else 0.0


def _scaled(op: OpBuilder, value: SSAValue, counted: SSAValue, axes: Sequence[int], exponent: float) -> SSAValue:
    """`value` times nᵖ, where p is `exponent` and n the number of elements of `counted` along the axes."""
    if not exponent:
        return value
    shape = shape_of(counted)
    sizes = [-1] if shape is None else [shape[axis] for axis in axes]
    if min(sizes) >= 0:
        return op.Multiply(value, float(math.prod(sizes)) ** exponent)
    count = op.ReduceProd(op.Gather(op.ShapeOf(counted), op.constant(list(axes)), 0), [0], keep_dims=False)
    return op.Multiply(value, op.Power(op.ConvertLike(count, value), exponent))


@paddle.lowers("fft_r2c", complex=PAIRS_FROM_REAL)
def real_transform(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    axes: tuple[int, ...],
    normalization: str = "backward",
    forward: bool = True,
    onesided: bool = True,
) -> SSAValue:
    """paddle.fft_r2c(x) {axes} -> opset9.RDFT(x, axes); opset7.DFT of all frequencies"""
    rank = node.known_rank(0)
    axes_ = [normalize_axis(axis, rank) for axis in axes]
    transformed = op.RDFT(x, axes_) if onesided else op.DFT(paired(op, x, op.Multiply(x, 0.0)), axes_)
    transformed = transformed if forward else conjugated(op, transformed)
    return _scaled(op, transformed, x, axes_, _exponent(node, normalization, forward=forward))


@paddle.lowers("fft_c2c", complex=Complex(is_source=True))
def complex_transform(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, axes: tuple[int, ...], normalization: str = "backward", forward: bool = True
) -> SSAValue:
    """paddle.fft_c2c(x) {axes} -> opset7.DFT(x, axes), or opset7.IDFT, which divides by the number of elements"""
    pairs = x if complex_operands(node.op) else paired(op, x, op.Multiply(x, 0.0))
    rank = node.known_rank(0) - (1 if complex_operands(node.op) else 0)
    axes_ = [normalize_axis(axis, rank) for axis in axes]
    exponent = _exponent(node, normalization, forward=forward)
    if forward:
        return _scaled(op, op.DFT(pairs, axes_), pairs, axes_, exponent)
    return _scaled(op, op.IDFT(pairs, axes_), pairs, axes_, exponent + 1)


@paddle.lowers("fft_c2r", complex=PAIRS_TO_REAL)
def inverse_real_transform(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    axes: tuple[int, ...],
    normalization: str = "backward",
    forward: bool = False,
    last_dim_size: int = 0,
) -> SSAValue:
    """paddle.fft_c2r(x) {axes, last_dim_size} -> opset7.IDFT along all axes but the last one, then opset9.IRDFT"""
    rank = node.known_rank(0) - 1
    axes_ = [normalize_axis(axis, rank) for axis in axes]
    exponent = _exponent(node, normalization, forward=forward) + 1
    pairs = conjugated(op, x) if forward else x
    if len(axes_) > 1:
        pairs = op.IDFT(pairs, axes_[:-1])
    result = op.IRDFT(pairs, axes_[-1:], [last_dim_size]) if last_dim_size > 0 else op.IRDFT(pairs, axes_[-1:])
    return _scaled(op, result, result, axes_, exponent)


@paddle.lowers("frame")
def frames(node: LoweringNode, op: OpBuilder, x: SSAValue, *, frame_length: int, hop_length: int, axis: int = -1) -> SSAValue:
    """paddle.frame(x) {frame_length, hop_length, axis} -> opset8.Gather of the elements of each frame

    The result is [..., frame_length, frames] for the last axis, and [frames, frame_length, ...] for the first one.
    """
    rank = node.known_rank(0)
    axis_ = _first_or_last(node, axis, rank)
    if frame_length < 1 or hop_length < 1:
        node.fail(f"frames of {frame_length} numbers in steps of {hop_length}")
    return op.Gather(x, _frame_indices(op, x, axis_, frame_length, hop_length, is_last=axis != 0), axis_)


def _first_or_last(node: LoweringNode, axis: int, rank: int) -> int:
    """The given axis, which has to be the first or the last one. Raises ConversionError for any other."""
    if axis not in (0, -1, rank - 1):
        node.fail(f"axis {axis} is neither the first nor the last one")
    return 0 if axis == 0 else rank - 1


def _frame_indices(op: OpBuilder, x: SSAValue, axis: int, length: int, hop: int, *, is_last: bool) -> SSAValue:
    """The index along an axis of each element of each frame: [length, frames], or [frames, length]."""
    size = (shape_of(x) or ())[axis]
    within = np.arange(length)
    if size >= 0:
        starts = np.arange(0, size - length + 1, hop)
        return op.constant(within[:, None] + starts if is_last else starts[:, None] + within)
    end = op.Subtract(op.Gather(op.ShapeOf(x), axis, 0), length - 1)
    starts = op.Range(op.constant(0), end, op.constant(hop), output_type=si64)
    return op.Add(op.constant(within[:, None]), starts) if is_last else op.Add(op.Unsqueeze(starts, [1]), op.constant(within))


@paddle.lowers("overlap_add")
def overlapped(node: LoweringNode, op: OpBuilder, x: SSAValue, *, hop_length: int, axis: int = -1) -> SSAValue:
    """paddle.overlap_add(x) {hop_length, axis} -> opset1.ConvolutionBackpropData with an identity as filters"""
    rank = node.known_rank(0)
    if _first_or_last(node, axis, rank) == 0:
        # [frames, length, ...] -> [..., length, frames]
        x = op.transposed(x, [*range(2, rank), 1, 0])
    length = size_along(shape_of(x) or (-1,) * rank, rank - 2)
    if length < 1 or hop_length < 1:
        node.fail(f"frames of {length} numbers in steps of {hop_length}", hint="give the model's inputs static sizes")
    lead = op.Slice(op.ShapeOf(x), [0], [rank - 2], [1])
    count = op.Slice(op.ShapeOf(x), [rank - 1], [rank], [1])
    columns = op.Reshape(x, op.Concat(op.constant([-1, length]), count, axis=0), special_zero=False)
    filters = op.constant(np.eye(length, dtype=np.float32)[:, None, :], element_of(x))
    added = op.ConvolutionBackpropData(columns, filters, strides=[hop_length], pads_begin=[0], pads_end=[0], dilations=[1])
    result = op.Reshape(added, op.Concat(lead, op.constant([-1]), axis=0), special_zero=False)
    return op.transposed(result, [rank - 2, *range(rank - 2)]) if axis == 0 else result


@paddle.lowers("stft", complex=PAIRS_FROM_REAL)
def short_time_transform(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    window: SSAValue,
    *,
    n_fft: int,
    hop_length: int,
    normalized: bool = False,
    onesided: bool = True,
) -> SSAValue:
    """paddle.stft(x [N, T], window) {n_fft, hop_length} -> opset9.RDFT of the frames: [N, frequencies, frames]"""
    positions = _frame_indices(op, x, node.known_rank(0) - 1, n_fft, hop_length, is_last=False)
    framed = op.Multiply(op.Gather(x, positions, -1), window)
    transformed = op.RDFT(framed, [2]) if onesided else op.DFT(paired(op, framed, op.Multiply(framed, 0.0)), [2])
    transformed = op.Multiply(transformed, n_fft**-0.5) if normalized else transformed
    return op.transposed(transformed, [0, 2, 1, 3])
