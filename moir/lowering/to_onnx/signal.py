"""Fourier transforms, and those of the frames of a signal."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset


def _transform(op: OnnxBuilder, x: SSAValue, axis: int, size: int, **attributes: int) -> SSAValue:
    """Build an onnx.DFT along one axis. The signal is cut or padded to `size`; -1 keeps its own size."""
    length = None if size < 0 else op.constant(size)
    if op.version >= 20:
        return op.DFT(x, length, op.constant(axis), **attributes)
    return op.DFT(x, length, axis=axis, **attributes)


def _axes(node: LoweringNode, rank: int) -> list[tuple[int, int]]:
    """The axes of a transform, each with the size of its signal. Raises ConversionError if they are not constant."""
    axes, sizes = node.constant_integers(1), node.constant_integers(2)
    if axes is None or (sizes is None and node.optional(2) is not None):
        node.fail("its axes or signal sizes are not constant")
    return list(zip([axis % rank for axis in axes], sizes or (-1,) * len(axes), strict=True))


def _complex(kind: str, inverse: int) -> None:
    @opset.lowers(kind, since=17)
    def transform(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _of_axes: SSAValue, _sizes: SSAValue | None = None) -> SSAValue:
        for axis, size in _axes(node, node.known_rank(0) - 1):
            x = _transform(op, x, axis, size, inverse=inverse)
        return x

    transform.__name__ = kind


_complex("DFT", 0)
_complex("IDFT", 1)


@opset.lowers("RDFT", since=17)
def rdft(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _of_axes: SSAValue, _sizes: SSAValue | None = None) -> SSAValue:
    """opset9.RDFT(x, axes) -> onnx.DFT of real numbers, half of it along the last of the axes, then along the others"""
    rank = node.known_rank(0)
    *others, (last, size) = _axes(node, rank)
    result = _transform(op, op.Unsqueeze(x, [rank]), last, size, onesided=1)
    for axis, length in others:
        result = _transform(op, result, axis, length)
    return result


@opset.lowers("IRDFT", since=17)
def irdft(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _of_axes: SSAValue, _sizes: SSAValue | None = None) -> SSAValue:
    """opset9.IRDFT(x) -> the inverse transform along all axes, of a spectrum whose second half is the conjugate of the
    first one
    """
    rank = node.known_rank(0)
    *others, (last, size) = _axes(node, rank - 1)
    for axis, length in others:
        x = _transform(op, x, axis, length, inverse=1)
    shape = node.shape(0)
    own = -1 if shape is None else shape[last]
    if size < 0:
        if own < 0:
            node.fail("the size of its last axis is dynamic", hint="give static shapes with --static-shape")
        size = 2 * (own - 1)
    half = size // 2 + 1
    if own < half:
        # With zeros for the frequencies that are not there; for a dynamic size, too many of them.
        pads = [0] * (2 * rank)
        pads[rank + last] = half - max(own, 0)
        x = op.Pad(x, pads)
    x = op.Slice(x, [0], [half], [last])
    mirrored = op.Slice(x, [size - half], [0], [last], [-1])
    conjugate = op.Mul(mirrored, op.constant(np.array([1, -1], np.float32), node.element(0)))
    whole = op.Concat(x, conjugate, axis=last)
    return op.Gather(_transform(op, whole, last, -1, inverse=1), op.constant(0), axis=-1)


@opset.lowers("STFT", since=17)
def stft(
    node: LoweringNode,
    op: OnnxBuilder,
    signal: SSAValue,
    window: SSAValue,
    _frame_size: SSAValue,
    frame_step: SSAValue,
    *,
    transpose_frames: bool,
) -> SSAValue:
    """opset15.STFT(signal [N, L] or [L], window) -> onnx.STFT(signal [N, L, 1], window) {onesided = 1}"""
    size, shape = node.constant_integers(2), node.shape(1)
    if size is None or shape is None or shape[0] < 0:
        node.fail("the sizes of its frames or its window are computed")
    before = (size[0] - shape[0]) // 2
    if size[0] != shape[0]:
        window = op.Pad(window, [before, size[0] - shape[0] - before])
    is_single = node.known_rank(0) == 1
    signals = op.Unsqueeze(signal, [0, 2] if is_single else [2])
    result = op.STFT(signals, op.integers(frame_step), window, op.constant(size[0]), onesided=1)
    if transpose_frames:
        result = op.Transpose(result, perm=(0, 2, 1, 3))
    return op.Squeeze(result, [0]) if is_single else result
