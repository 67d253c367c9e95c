"""What architectures are written in: the operations of networks, for a graph of any framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod

import numpy as np

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw
from tests.fuzz.fusions.draft import Value


class Language(ABC):
    """A graph that is being drawn.

    Args:
        draw: makes the choices.
        quantizes: whether what convolutions and products read is quantized to 8 bits.
    """

    channels_last: bool

    def __init__(self, draw: Draw, *, quantizes: bool = False) -> None:
        self.draw = draw
        self.quantizes = quantizes
        self.values: list[Value] = []
        """Inputs and the results of blocks and insertions, in their order."""
        self.outputs: list[Value] = []

    # Values.

    @abstractmethod
    def input(self, shape: Sequence[int]) -> Value:
        """An input of floats."""

    @abstractmethod
    def constant(self, array: Array) -> Value:
        """A constant."""

    @abstractmethod
    def case(self, subject: str) -> Case:
        """The graph as a case. Raises NoCase if nothing is computed."""

    def numbers(self, shape: Sequence[int], scale: float = 1.0, shift: float = 0.0) -> Array:
        """Random floats of both signs around a number."""
        return (self.draw.random.normal(size=tuple(shape)) * scale + shift).astype(np.float32)

    def weights(self, shape: Sequence[int], fan: int) -> Array:
        """Random numbers such that sums of so many products with them stay small."""
        return self.numbers(shape, 1.4 / max(1, fan) ** 0.5)

    # Images: in the layout of the framework.

    def channel_axis(self, x: Value) -> int:
        """The dimension of the channels of an image."""
        return x.rank - 1 if self.channels_last else 1

    def channels(self, x: Value) -> int:
        """The number of channels of an image."""
        return x.shape[self.channel_axis(x)]

    def spatial_axes(self, x: Value) -> list[int]:
        """The dimensions of an image but those of the batch and the channels."""
        return [axis for axis in range(1, x.rank) if axis != self.channel_axis(x)]

    def sizes(self, x: Value) -> list[int]:
        """The height and the width of an image."""
        return [x.shape[axis] for axis in self.spatial_axes(x)]

    def image_shape(self, batch: int, channels: int, sizes: Sequence[int]) -> list[int]:
        """The shape of an image."""
        return [batch, *sizes, channels] if self.channels_last else [batch, channels, *sizes]

    def per_channel(self, x: Value, array: Array) -> Value:
        """A constant with a number for each channel of an image."""
        shape = [1] * x.rank
        shape[self.channel_axis(x)] = array.size
        return self.constant(array.reshape(shape))

    @abstractmethod
    def convolution(self, x: Value, filters: int, kernel: Sequence[int], stride: int = 1, groups: int = 1, dilation: int = 1) -> Value:
        """A convolution of an image, with a bias or without one, padded so that with a stride of 1 the sizes stay."""

    @abstractmethod
    def transposed_convolution(self, x: Value, filters: int, factor: int) -> Value:
        """A convolution that makes an image larger by a factor."""

    @abstractmethod
    def batch_normalization(self, x: Value) -> Value:
        """A batch normalization with constant statistics."""

    @abstractmethod
    def pooled(self, kind: str, x: Value, kernel: int, stride: int) -> Value:
        """A pooling, "max" or "average", padded so that with a stride of 1 the sizes stay."""

    @abstractmethod
    def resized(self, x: Value, factor: int) -> Value:
        """An image that is larger by a factor."""

    # Everything else.

    @abstractmethod
    def unary(self, kind: str, x: Value) -> Value:
        """An elementwise function of a value, by its name in ONNX."""

    @abstractmethod
    def binary(self, kind: str, x: Value, y: Value) -> Value:
        """Add, Sub, Mul, Max or Min of two values."""

    @abstractmethod
    def product(self, x: Value, y: Value) -> Value:
        """The product of two matrices, or batches of them."""

    @abstractmethod
    def softmax(self, x: Value, axis: int) -> Value:
        """A Softmax along an axis."""

    @abstractmethod
    def reduced(self, kind: str, x: Value, axes: Sequence[int], *, keep: bool) -> Value:
        """A reduction, "Mean", "Max" or "Sum"; the axes stay with a size of 1, or go."""

    @abstractmethod
    def layer_normalization(self, x: Value, axis: int) -> Value:
        """A value normalized along an axis, with a scale and a shift."""

    @abstractmethod
    def transposed(self, x: Value, order: Sequence[int]) -> Value:
        """A value whose axes are those of another order."""

    @abstractmethod
    def reshaped(self, x: Value, shape: Sequence[int]) -> Value:
        """A value of another shape."""

    @abstractmethod
    def joined(self, values: Sequence[Value], axis: int) -> Value:
        """Values one after the other along an axis."""

    @abstractmethod
    def parts(self, x: Value, sizes: Sequence[int], axis: int) -> list[Value]:
        """The parts of a value along an axis."""

    @abstractmethod
    def sliced(self, x: Value, axis: int, begin: int, end: int, step: int = 1) -> Value:
        """Some entries of a value along an axis."""

    @abstractmethod
    def padded(self, x: Value, begin: Sequence[int], end: Sequence[int]) -> Value:
        """A value with zeros around it."""

    @abstractmethod
    def quantized(self, x: Value) -> Value:
        """A value that is rounded to levels of 8 bits."""

    def rounded(self, x: Value) -> Value:
        """A value as convolutions and products read it: quantized in a quantized graph."""
        return self.quantized(x) if self.quantizes and self.draw.chance(0.85) else x

    def dense(self, x: Value, columns: int, *, bias: bool | None = None) -> Value:
        """The product of a value with a constant matrix, perhaps with a bias."""
        rows = x.shape[-1]
        result = self.product(self.rounded(x), self.matrix(self.weights((rows, columns), rows)))
        has_bias = self.draw.chance(0.6) if bias is None else bias
        return self.binary("Add", result, self.constant(self.numbers((columns,), 0.5))) if has_bias else result

    def matrix(self, array: Array) -> Value:
        """A constant matrix, in a quantized graph dequantized from 8 bits."""
        return self.constant(array)

    def scalar(self, number: float) -> Value:
        """A constant with one number."""
        return self.constant(np.array(number, np.float32))

    def flattened(self, x: Value) -> Value:
        """A value as a matrix with a row for each entry of the batch."""
        return self.reshaped(x, (x.shape[0], prod(x.shape[1:])))
