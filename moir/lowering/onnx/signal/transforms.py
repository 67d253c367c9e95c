"""Fourier transforms.

The last dimension of an ONNX signal has size 1 for real numbers, and size 2 for complex numbers.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, f64, si64, to_numpy
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.shape_values import as_list, as_scalar, dimension, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import swapping
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("DFT", since=17)
def fourier_attribute(node: LoweringNode, op: OpBuilder, *, axis: int = 1) -> SSAValue:
    """onnx.DFT(x, length) {axis = 1, inverse, onesided} -> opset7.DFT, opset7.IDFT, opset9.RDFT or opset9.IRDFT"""
    return transformed(node, op, axis)


@onnx.lowers("DFT", since=20)
def fourier(node: LoweringNode, op: OpBuilder, _input: SSAValue, _dft_length: SSAValue, axis_: SSAValue | None = None) -> SSAValue:
    """onnx.DFT(x, length, axis = -2) {inverse, onesided} -> opset7.DFT, opset7.IDFT, opset9.RDFT or opset9.IRDFT"""
    axis = (-2,) if axis_ is None else op.known.integers(axis_)
    if axis_ is not None and axis is None:
        return along_computed_axis(node, op, as_list(op, axis_))
    if axis is None or len(axis) != 1:
        node.fail("the axis is not a number")
    return transformed(node, op, axis[0])


def along_computed_axis(node: LoweringNode, op: OpBuilder, axis: SSAValue) -> SSAValue:
    """The Fourier transform of operand 0 along a computed axis.

    The axis is swapped with the last but one before the transform, and back after it.
    """
    rank = node.known_rank(0)
    order = swapping(op, axis, rank - 2, rank)
    return op.Transpose(spectrum(node, op, op.Transpose(node.operand(0), order), rank - 2), order)


def is_real(signal: SSAValue, node: LoweringNode) -> bool | None:
    """Whether the signal of a node consists of real numbers; None if this depends on a size that is dynamic."""
    shape = shape_of(signal)
    if not shape or shape[-1] < 0:
        return None
    if shape[-1] not in (1, 2):
        node.fail(f"the last dimension of the signal is {shape[-1]}, not 1 (real) or 2 (complex)")
    return shape[-1] == 1


def transformed(node: LoweringNode, op: OpBuilder, axis: int) -> SSAValue:
    """The Fourier transform of operand 0 along an axis, by the attributes of the node."""
    rank = node.known_rank(0)
    axis = normalize_axis(axis, rank)
    if axis == rank - 1:
        node.fail("the last axis holds the parts of the numbers, it cannot be transformed")
    return spectrum(node, op, node.operand(0), axis)


def spectrum(node: LoweringNode, op: OpBuilder, data: SSAValue, axis: int) -> SSAValue:
    """The Fourier transform of data along an axis, which is not negative; computed in f32 if the data is f64."""
    element, real = element_of(data), is_real(node.operand(0), node)
    if element is f64:
        # The transforms of opset7 and opset9 are of f32, f16 and bf16.
        data = op.convert(data, f32)
    size = [as_list(op, length)] if (length := node.optional(1)) is not None else []
    inverse, onesided = node.flag("inverse"), node.flag("onesided")
    if onesided and real is inverse:
        node.fail(f"the onesided {'inverse' if inverse else 'transform'} is defined for {'complex' if inverse else 'real'} numbers only")
    if onesided and inverse:
        result = op.Unsqueeze(op.IRDFT(data, [axis], *size), [-1])
    elif onesided:
        signal = op.Squeeze(data, [-1])
        result = op.RDFT(signal, [axis], *size)
    else:
        result = (op.IDFT if inverse else op.DFT)(data if real is False else as_complex(op, data), [axis], *size)
    return op.convert(result, element)


def as_complex(op: OpBuilder, data: SSAValue) -> SSAValue:
    """Append an imaginary part of 0 to real numbers [..., 1]: [..., 2]. Complex numbers are unchanged."""
    rank, parts = rank_of(data) or 1, dimension(op, data, -1)
    ends = [0] * (rank - 1) + [1] if parts == 1 else op.Concat([0] * (rank - 1), op.Subtract(2, dimension_list(op, data, -1)), axis=0)
    return op.Pad(data, [0] * rank, ends, pad_mode="constant")


@onnx.lowers("STFT", since=17)
def short_time_fourier(
    node: LoweringNode,
    op: OpBuilder,
    signal: SSAValue,
    frame_step: SSAValue,
    window: SSAValue | None = None,
    frame_length: SSAValue | None = None,
    *,
    onesided: bool = True,
) -> SSAValue:
    """onnx.STFT(x, step, window, length) {onesided = 1} -> opset15.STFT(opset1.Squeeze(x, -1), window, length, step)

    A signal without a dimension of real and imaginary parts, as PyTorch writes it, is one of real numbers.
    For a complex signal, or for two-sided spectra, the frames are gathered, multiplied by the window and transformed by
    opset7.DFT.
    """
    if rank_of(signal) == 2:
        signal = op.Unsqueeze(signal, [2])
    real, element = is_real(signal, node), element_of(signal)
    step = op.convert(as_scalar(op, frame_step), si64)
    if window is not None and rank_of(window) is None:
        window = op.Reshape(window, [-1], special_zero=False)
    length: Operand = frame_length
    if isinstance(length, SSAValue):
        length = op.convert(as_scalar(op, length), si64)
    elif window is not None:
        length = dimension(op, window, 0)
    else:
        node.fail("there is neither a window nor the length of a frame")
    known = node.known.integers(length) if isinstance(length, SSAValue) else (length,)
    if window is None:
        window = op.Broadcast(op.constant(np.ones((), to_numpy(element)), element), op.Reshape(length, [1], special_zero=False))
        if known is not None and 0 <= known[0] <= 1 << 20:
            window = op.constant(np.ones(known[0], to_numpy(element)), element)
    if onesided and real is not False:
        # ONNX has the spectra of the frames in rows: [batch, frames, frequencies, 2].
        return op.STFT(op.Squeeze(signal, [-1]), window, length, step, transpose_frames=False)
    if onesided:
        node.fail("the onesided transform is defined for real numbers only")
    node.known_rank(0)
    count = op.Add(op.Divide(op.Subtract(dimension_value(op, signal, 1), length), step), 1)
    starts = op.Multiply(op.Range(0, count, 1, output_type=si64), op.convert(step, si64))
    positions = op.Add(op.Unsqueeze(starts, [1]), op.Range(0, length, 1, output_type=si64))
    frames = op.Multiply(op.Gather(signal, positions, 1), op.Unsqueeze(window, [1]))
    if element is f64:
        # The transforms of opset7 and opset9 are of f32, f16 and bf16.
        frames = op.convert(frames, f32)
    return op.convert(op.DFT(frames if real is False else as_complex(op, frames), [2]), element)


def dimension_value(op: OpBuilder, data: SSAValue, axis: int) -> SSAValue:
    """A dimension as a scalar of type i64."""
    size = dimension(op, data, axis)
    return op.constant(size) if isinstance(size, int) else size
