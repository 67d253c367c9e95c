"""Fourier transforms. The last dimension of a complex tensor has the pairs of real and imaginary part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, optional_operands
from moir.dialects.shapes import Shapes, SymbolicShape, format_shape, is_fixed, merge_shapes, unknown_dimensions
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError

ComplexArray = NDArray[np.complexfloating[Any, Any]]


def _complex(pairs: Array) -> ComplexArray:
    return pairs[..., 0].astype(np.float64) + 1j * pairs[..., 1].astype(np.float64)


def _pairs(numbers: ComplexArray, dtype: np.dtype[np.generic]) -> Array:
    return np.stack([numbers.real, numbers.imag], axis=-1).astype(dtype)


class FourierOp(OpsetOp):
    """Base of the transforms along `axes`.

    `signal_size`, where not -1, first crops or pads the dimensions of these axes.
    """

    data = operand_def()
    axes = operand_def()
    signal_size = optional_operands(1)

    def positions(self, axes: Sequence[int], rank: int) -> list[int]:
        """The axes as nonnegative indices. Raises InferenceError for duplicate axes and axes outside of `rank`."""
        positions = [axis + rank if axis < 0 else axis for axis in axes]
        if any(not 0 <= axis < rank for axis in positions) or len(set(positions)) < len(positions):
            raise InferenceError(f"{list(axes)} are not distinct axes of {rank} dimensions")
        return positions

    @staticmethod
    def at_least_one(axes: tuple[int, ...]) -> tuple[int, ...]:
        """The axes, unchanged. Raises InferenceError if there are none."""
        if not axes:
            raise InferenceError("at least one axis is required")
        return axes

    def sizes(self, known: OperandValues, axes: Sequence[int]) -> list[int | None]:
        """Signal size for each axis: -1 for the size of the dimension itself, None if unknown."""
        operand = self.optional_operand(2)
        if operand is None:
            return [-1] * len(axes)
        lengths = known.integers(operand)
        if lengths is not None and (len(lengths) != len(axes) or min(lengths, default=0) < -1):
            raise InferenceError(f"{list(lengths)} are not signal sizes for {len(axes)} axes")
        return [None] * len(axes) if lengths is None else list(lengths)

    def checked_axes(self, shapes: Shapes, known: OperandValues) -> tuple[int, ...] | None:
        """The axes; None if they are not constant. Raises InferenceError unless axes and signal sizes are 1-D of one
        length.
        """
        counts: SymbolicShape = (-1,)
        for index in range(1, 2 if self.optional_operand(2) is None else 3):
            if self.rank(index) not in (1, None):
                raise InferenceError(f"operand {index} has rank 1, not shape {format_shape(shapes[index])}")
            counts = merge_shapes(counts, shapes[index])
        return known.integers(self.operands[1])

    @staticmethod
    def complex_rank(shape: SymbolicShape) -> int | None:
        """Rank of complex data without the last dimension, which has the pairs; None for a dynamic rank.

        Raises InferenceError unless there are at least two dimensions, the last of size 2.
        """
        if shape is not None and (len(shape) < 2 or (is_fixed(shape[-1]) and shape[-1] != 2)):
            raise InferenceError(f"complex data has at least two dimensions, the last of size 2, not shape {format_shape(shape)}")
        return None if shape is None else len(shape) - 1

    @staticmethod
    def lengths(operands: Sequence[Array], axes: Sequence[int]) -> list[int]:
        """The sizes of the transformed dimensions; `operands` are those of `evaluate`."""
        sizes = operands[2].ravel().tolist() if len(operands) > 2 else [-1] * len(axes)
        return [operands[0].shape[axis] if size < 0 else size for size, axis in zip(sizes, axes, strict=True)]


class ComplexFourierOp(FourierOp):
    """Base of the transforms from complex to complex numbers."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, rank, axes = shapes[0], self.complex_rank(shapes[0]), self.checked_axes(shapes, known)
        if shape is None or rank is None:
            return None
        if axes is None:
            sizes = shape[:-1] if self.optional_operand(2) is None else [-1] * rank
            return (*sizes, shape[-1])
        result = list(shape)
        for axis, size in zip(self.positions(axes, rank), self.sizes(known, axes), strict=True):
            result[axis] = -1 if size is None else result[axis] if size == -1 else size
        return tuple(result)

    def transform(self, numbers: ComplexArray, lengths: list[int], axes: list[int]) -> ComplexArray:
        """The transform of an array of complex numbers."""
        raise NotImplementedError

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data = operands[0]
        axes = self.positions(operands[1].ravel().tolist(), data.ndim - 1)
        return (_pairs(self.transform(_complex(data), self.lengths(operands, axes), axes), data.dtype),)


@deferred_definition
class DFT(ComplexFourierOp):
    """The discrete Fourier transform."""

    name = "opset7.DFT"
    result = result_def()

    def transform(self, numbers: ComplexArray, lengths: list[int], axes: list[int]) -> ComplexArray:
        return np.fft.fftn(numbers, lengths, axes)


@deferred_definition
class IDFT(ComplexFourierOp):
    """The inverse of the discrete Fourier transform."""

    name = "opset7.IDFT"
    result = result_def()

    def transform(self, numbers: ComplexArray, lengths: list[int], axes: list[int]) -> ComplexArray:
        return np.fft.ifftn(numbers, lengths, axes)


@deferred_definition
class RDFT(FourierOp):
    """The Fourier transform of real numbers: n along the last of `axes` give n // 2 + 1 complex numbers."""

    name = "opset9.RDFT"
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, axes = shapes[0], self.checked_axes(shapes, known)
        if shape == ():
            raise InferenceError("the data has at least one dimension")
        if shape is None:
            return None
        result: list[Dimension] = [-1] * len(shape) if axes is None else list(shape)
        if axes is not None:
            positions = self.positions(self.at_least_one(axes), len(shape))
            for axis, size in zip(positions, self.sizes(known, axes), strict=True):
                result[axis] = -1 if size is None else result[axis] if size == -1 else size
            if is_fixed(length := result[positions[-1]]):
                length = length // 2 + 1
            result[positions[-1]] = length if is_fixed(length) else -1
        return (*result, 2)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data = operands[0]
        axes = self.positions(operands[1].ravel().tolist(), data.ndim)
        return (_pairs(np.fft.rfftn(data.astype(np.float64), self.lengths(operands, axes), axes), data.dtype),)


@deferred_definition
class IRDFT(FourierOp):
    """The inverse of RDFT.

    n complex numbers along the last of `axes` give 2 · (n - 1) real numbers, or as many as `signal_size` requires.
    """

    name = "opset9.IRDFT"
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, rank, axes = shapes[0], self.complex_rank(shapes[0]), self.checked_axes(shapes, known)
        if shape is None or rank is None or axes is None:
            return unknown_dimensions(rank)
        result = list(shape[:-1])
        sizes, positions = self.sizes(known, axes), self.positions(self.at_least_one(axes), rank)
        for axis, size in zip(positions, sizes, strict=True):
            result[axis] = -1 if size is None else result[axis] if size == -1 else size
        if sizes[-1] == -1:
            result[positions[-1]] = 2 * (length - 1) if is_fixed(length := result[positions[-1]]) else -1
        return tuple(result)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data = operands[0]
        axes = self.positions(operands[1].ravel().tolist(), data.ndim - 1)
        lengths = self.lengths(operands, axes)
        if len(operands) < 3 or int(operands[2].ravel()[-1]) < 0:
            lengths[-1] = 2 * (lengths[-1] - 1)
        return (np.fft.irfftn(_complex(data), lengths, axes).astype(data.dtype),)


def _scalar(op: OpsetOp, known: OperandValues, index: int) -> int:
    """The positive number that the operand at `index` contains; -1 if it is not constant."""
    numbers = known.integers(op.operands[index])
    if op.rank(index) not in (0, None) or (numbers is not None and numbers[0] < 1):
        raise InferenceError(f"operand {index} is a positive scalar")
    return -1 if numbers is None else numbers[0]


def _padded_window(window: Array, size: int) -> Array:
    """The window, padded with zeros on both sides to the size of a frame."""
    before = (size - window.size) // 2
    return np.pad(window.astype(np.float64), (before, size - window.size - before))


@deferred_definition
class STFT(OpsetOp):
    """RDFT of overlapping frames of a signal or a batch of signals, each frame multiplied by `window`.

    Result: [batch, frames, frequencies, 2], with `transpose_frames` [batch, frequencies, frames, 2].
    """

    name = "opset15.STFT"
    signal = operand_def()
    window = operand_def()
    frame_size = operand_def()
    frame_step = operand_def()
    transpose_frames = boolean_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        signal, window = shapes[:2]
        size, step = _scalar(self, known, 2), _scalar(self, known, 3)
        if signal is None:
            return None
        if len(signal) not in (1, 2):
            raise InferenceError(f"a signal has one or two dimensions, not shape {format_shape(signal)}")
        length = signal[-1]
        wide = window is not None and is_fixed(window[0]) and 0 <= size < window[0]
        if wide or (is_fixed(length) and length < size):
            raise InferenceError(f"a frame of {size} elements does not fit the window or the signal of {length}")
        frames = (length - size) // step + 1 if is_fixed(length) and min(size, step) >= 0 else -1
        parts = (frames, -1 if min(size, step) < 0 else size // 2 + 1)
        return (*signal[:-1], *(parts[::-1] if self.flag("transpose_frames") else parts), 2)

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        signal, size, step = operands[0], int(operands[2].ravel()[0]), int(operands[3].ravel()[0])
        frames = np.lib.stride_tricks.sliding_window_view(signal, size, axis=-1)[..., ::step, :]
        result = np.fft.rfft(frames * _padded_window(operands[1], size))
        return (_pairs(result.swapaxes(-1, -2) if self.flag("transpose_frames") else result, signal.dtype),)


@deferred_definition
class ISTFT(OpsetOp):
    """The signal whose STFT is `data`, [batch, frequencies, frames, 2].

    The frames are transformed back, windowed, added where they overlap and divided by the sum of the squared windows.
    `center`: half a frame is cropped at both ends; `normalized`: `data` was divided by the square root of the frame
    size.
    """

    name = "opset16.ISTFT"
    data = operand_def()
    window = operand_def()
    frame_size = operand_def()
    frame_step = operand_def()
    signal_length = optional_operands(1)
    center = boolean_property()
    normalized = boolean_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, size, step = shapes[0], _scalar(self, known, 2), _scalar(self, known, 3)
        if data is None:
            return None
        if len(data) not in (3, 4) or (is_fixed(data[-1]) and data[-1] != 2):
            raise InferenceError(f"data is [batch, frequencies, frames, 2], not of shape {format_shape(data)}")
        if size >= 0 and is_fixed(data[-3]) and data[-3] != size // 2 + 1:
            raise InferenceError(f"{data[-3]} frequencies do not belong to frames of {size} elements")
        length = -1
        if self.optional_operand(4) is not None:
            length = _scalar(self, known, 4)
        elif is_fixed(frames := data[-2]) and min(size, step) >= 0:
            length = (frames - 1) * step + (0 if self.flag("center") else size)
        return (*data[:-3], length)

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, size, step = operands[0], int(operands[2].ravel()[0]), int(operands[3].ravel()[0])
        numbers = _complex(data) * (np.sqrt(size) if self.flag("normalized") else 1)
        window = _padded_window(operands[1], size)
        frames = np.fft.irfft(numbers, size, axis=-2) * window[:, None]
        count = frames.shape[-1]
        total = (count - 1) * step + size
        signal, weight = np.zeros((*data.shape[:-3], total)), np.zeros(total)
        for frame in range(count):
            signal[..., frame * step : frame * step + size] += frames[..., frame]
            weight[frame * step : frame * step + size] += window**2
        signal = np.divide(signal, weight, out=np.zeros_like(signal), where=weight > 1e-10)
        start = size // 2 if self.flag("center") else 0
        length = int(operands[4].ravel()[0]) if len(operands) > 4 else total - 2 * start
        signal = signal[..., start : start + length]
        signal = np.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, length - signal.shape[-1])])
        return (signal.astype(data.dtype),)
