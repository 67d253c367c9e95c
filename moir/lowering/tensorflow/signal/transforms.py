"""Fourier transforms. Complex numbers are pairs in a last dimension of 2.

    %y = tf.RFFT2D(%x, %length)
->  %y = opset9.RDFT(%x, [-2, -1], %length)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, PAIRS_TO_REAL
from moir.lowering.table import BoundHandler
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def innermost_axes(node: LoweringNode) -> list[int]:
    """The axes that a kind transforms: the last 1, 2 or 3 axes, according to its name."""
    kind = node.op.KIND
    return list(range(-(int(kind[-2]) if kind.endswith("D") else 1), 0))


def complex_transform(build: str) -> BoundHandler:
    """Build a handler for complex transforms; `build` is the operation that the builder creates, such as DFT."""

    def handler(node: LoweringNode, op: OpBuilder) -> SSAValue:
        return getattr(op, build)(node.operand(0), innermost_axes(node))

    return handler


tf.lowers("BatchFFT", "BatchFFT2D", "BatchFFT3D", "FFT", "FFT2D", "FFT3D", complex=PAIRS)(complex_transform("DFT"))
tf.lowers("BatchIFFT", "BatchIFFT2D", "BatchIFFT3D", "IFFT", "IFFT2D", "IFFT3D", complex=PAIRS)(complex_transform("IDFT"))


@tf.lowers("RFFT", "RFFT2D", "RFFT3D", complex=PAIRS)
def real_transform(node: LoweringNode, op: OpBuilder, input: SSAValue, fft_length: SSAValue) -> SSAValue:
    """tf.RFFT2D(x, fft_length) -> opset9.RDFT(x, [-2, -1], fft_length); likewise RFFT and RFFT3D"""
    return op.RDFT(input, innermost_axes(node), fft_length)


@tf.lowers("IRFFT", "IRFFT2D", "IRFFT3D", complex=PAIRS_TO_REAL)
def inverse_real_transform(node: LoweringNode, op: OpBuilder, input: SSAValue, fft_length: SSAValue) -> SSAValue:
    """tf.IRFFT2D(x, lengths) -> opset9.IRDFT(x, [-2, -1], lengths); likewise IRFFT and IRFFT3D"""
    return op.IRDFT(input, innermost_axes(node), fft_length)


# Transforms along given axes


def transform_axes(node: LoweringNode) -> list[int]:
    """The axes that operand 2 contains. Raises ConversionError if they are not constant, or there are none."""
    axes = node.constant_integers(2)
    if not axes:
        node.fail("its axes are computed when the model runs, or there are none", hint="make the axes a constant")
    return list(axes)


@tf.lowers("FFTND", "IFFTND", complex=PAIRS)
def transform_of_axes(node: LoweringNode, op: OpBuilder, input: SSAValue, fft_length: SSAValue) -> SSAValue:
    """tf.FFTND(x, lengths, axes) -> opset7.DFT(x, axes, lengths); opset7.IDFT for tf.IFFTND"""
    build = op.DFT if node.op.KIND == "FFTND" else op.IDFT
    return build(input, transform_axes(node), fft_length)


@tf.lowers("RFFTND", complex=PAIRS)
def real_transform_of_axes(node: LoweringNode, op: OpBuilder, input: SSAValue, fft_length: SSAValue) -> SSAValue:
    """tf.RFFTND(x, lengths, axes) -> opset9.RDFT(x, axes, lengths)"""
    return op.RDFT(input, transform_axes(node), fft_length)


@tf.lowers("IRFFTND", complex=PAIRS_TO_REAL)
def inverse_real_transform_of_axes(node: LoweringNode, op: OpBuilder, input: SSAValue, fft_length: SSAValue) -> SSAValue:
    """tf.IRFFTND(x, lengths, axes) -> opset9.IRDFT(x, axes, lengths)"""
    return op.IRDFT(input, transform_axes(node), fft_length)
