"""Fourier transforms. Complex numbers are two tensors, their real and their imaginary parts.

%re, %im = keras.ops.RFFT(%x)  ->  the halves of opset9.RDFT(%x, [-1])
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, values_within
from moir.lowering.keras.functions.elementwise import as_real
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


def pairs_of(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Complex numbers [..., 2] from the real and the imaginary part, the two tensors of a call.

    Raises ConversionError for another number of tensors.
    """
    tensors = values_within(Arguments(node, "x").positional) or values_within(Arguments(node, "x").keywords)
    if len(tensors) != 2:
        node.fail(f"{len(tensors)} tensors in place of real and imaginary parts")
    return op.Concat(*(op.Unsqueeze(as_real(op, each), [-1]) for each in tensors), axis=-1)


def halves(op: OpBuilder, x: SSAValue) -> list[SSAValue]:
    """The real and the imaginary parts of complex numbers [..., 2]."""
    return [op.Gather(x, index, -1) for index in (0, 1)]


def _lengths(op: OpBuilder, length: int | None) -> list[SSAValue]:
    """The operands of a transform after its axes: its length as a 1-D tensor; none if `length` is None."""
    return [] if length is None else [op.constant([length], si64)]


@keras.lowers("ops.FFT", "ops.FFT2", "ops.IFFT2")
def transform(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """keras.ops.FFT((x, y)) -> opset7.DFT of the complex numbers x + i y; likewise FFT2, and IFFT2 by opset7.IDFT"""
    axes = [-1] if node.op.KIND == "ops.FFT" else [-2, -1]
    return halves(op, (op.IDFT if node.op.KIND == "ops.IFFT2" else op.DFT)(pairs_of(node, op), axes))


@keras.lowers("ops.RFFT")
def of_real_numbers(node: LoweringNode, op: OpBuilder, *, fft_length: int | None = None) -> list[SSAValue]:
    """keras.ops.RFFT(x) {fft_length} -> opset9.RDFT(x, [-1], [fft_length])"""
    x = as_real(op, Arguments(node, "x").tensor("x"))
    return halves(op, op.RDFT(x, [-1], *_lengths(op, fft_length)))


@keras.lowers("ops.IRFFT")
def to_real_numbers(node: LoweringNode, op: OpBuilder, *, fft_length: int | None = None) -> SSAValue:
    """keras.ops.IRFFT((x, y)) {fft_length} -> opset9.IRDFT((x, y), [-1], [fft_length])"""
    return op.IRDFT(pairs_of(node, op), [-1], *_lengths(op, fft_length))
