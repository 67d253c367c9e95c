"""Fourier transforms. Complex numbers are two tensors, their real and their imaginary parts.

%re, %im = keras.ops.RFFT(%x)  ->  the halves of opset9.RDFT(%x, [-1])
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.signal_lengths import lengthened
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, values_within
from moir.lowering.keras.functions.elementwise import as_real
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


def pairs_of(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Complex numbers [..., 2] of the two tensors of a call."""
    found = values_within(Arguments(node, "x").positional) or values_within(Arguments(node, "x").keywords)
    if len(found) != 2:
        node.fail(f"{len(found)} tensors in place of real and imaginary parts")
    return op.Concat(*(op.Unsqueeze(as_real(op, each), [-1]) for each in found), axis=-1)


def halves(op: OpBuilder, x: SSAValue) -> list[SSAValue]:
    """The real and the imaginary parts of complex numbers [..., 2]."""
    return [op.Gather(x, index, -1) for index in (0, 1)]


def of_length(op: OpBuilder, x: SSAValue, axis: int, length: int) -> SSAValue:
    """An axis cut, or lengthened by zeros: the runtime's transforms do not add zeros themselves."""
    return op.Slice(lengthened(op, x, axis, op.constant([length], si64)), [0], [length], [1], [axis])


@keras.lowers("ops.FFT", "ops.FFT2", "ops.IFFT2")
def transform(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """keras.ops.FFT((x, y)) -> opset7.DFT; opset7.IDFT"""
    axes = [-1] if node.op.KIND == "ops.FFT" else [-2, -1]
    return halves(op, (op.IDFT if node.op.KIND == "ops.IFFT2" else op.DFT)(pairs_of(node, op), axes))


@keras.lowers("ops.RFFT")
def of_real_numbers(node: LoweringNode, op: OpBuilder, *, fft_length: int | None = None) -> list[SSAValue]:
    """keras.ops.RFFT(x) {fft_length} -> opset9.RDFT(x, [-1], [fft_length])"""
    x = as_real(op, Arguments(node, "x").tensor("x"))
    return halves(op, op.RDFT(x if fft_length is None else of_length(op, x, node.known_rank(0) - 1, fft_length), [-1]))


@keras.lowers("ops.IRFFT")
def to_real_numbers(node: LoweringNode, op: OpBuilder, *, fft_length: int | None = None) -> SSAValue:
    """keras.ops.IRFFT((x, y)) {fft_length} -> opset9.IRDFT"""
    pairs = pairs_of(node, op)
    if fft_length is None:
        return op.IRDFT(pairs, [-1])
    return op.IRDFT(of_length(op, pairs, node.known_rank(0) - 1, fft_length // 2 + 1), [-1], op.constant([fft_length], si64))
