"""Normalization by given statistics, or by those along axes, in groups of channels or in neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import is_real, widened
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    float_property,
    integer_property,
    integers_property,
    string_property,
)
from moir.dialects.shapes import Shapes, SymbolicShape, are_same_axes, format_shape, is_fixed, merge_dimensions, normalize_axis
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


def along_channels(vector: Array, rank: int) -> Array:
    """A vector of one entry per channel, reshaped to broadcast against [N, C, …]."""
    return vector.reshape(-1, *(1,) * (rank - 2))


def channels_of(vectors: Shapes) -> Dimension:
    """Number of channels, given the shapes of the operands with one entry per channel, which follow the data.

    Raises InferenceError if they differ.
    """
    channels: Dimension = -1
    for index, vector in enumerate(vectors, start=1):
        if vector is None:
            continue
        if len(vector) != 1:
            raise InferenceError(f"operand {index} has shape {format_shape(vector)} where one entry a channel is required")
        channels = merge_dimensions(channels, vector[0])
    return channels


class BatchNormOp(OpsetOp):
    """gamma * (data - mean) / sqrt(variance + epsilon) + beta; data is [N, C, …], all other operands are [C]."""

    ORDER: ClassVar[tuple[int, ...]]
    """The indices, among the operands, of data, gamma, beta, mean and variance."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, *others = (shapes[index] for index in self.ORDER)
        channels = channels_of(others)
        if shape is None:
            return None
        if len(shape) < 2:
            raise InferenceError(f"data {format_shape(shape)} has no channels")
        return (shape[0], merge_dimensions(shape[1], channels), *shape[2:])

    def result_element(self) -> Attribute:
        return self.common_element()

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, gamma, beta, mean, variance = (widened(operands[index]) for index in self.ORDER)
        scale = gamma / np.sqrt(variance + np.asarray(self.number("epsilon"), variance.dtype))
        rank = data.ndim
        result = (data - along_channels(mean, rank)) * along_channels(scale, rank) + along_channels(beta, rank)
        return (result.astype(operands[0].dtype),)

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.number("epsilon") < 0:
            raise VerifyException("epsilon is negative")


@deferred_definition
class BatchNormInference1(BatchNormOp):
    """Batch normalization by given statistics; scale and shift are the operands before the data."""

    name = "opset1.BatchNormInference"
    ORDER: ClassVar[tuple[int, ...]] = (2, 0, 1, 3, 4)
    gamma = operand_def()
    beta = operand_def()
    data = operand_def()
    mean = operand_def()
    variance = operand_def()
    epsilon = float_property()
    result = result_def()


@deferred_definition
class BatchNormInference(BatchNormOp):
    """Batch normalization by given statistics."""

    name = "opset5.BatchNormInference"
    ORDER: ClassVar[tuple[int, ...]] = (0, 1, 2, 3, 4)
    data = operand_def()
    gamma = operand_def()
    beta = operand_def()
    mean = operand_def()
    variance = operand_def()
    epsilon = float_property()
    result = result_def()


class NormalizationOp(OpsetOp):
    """Base of the operations that normalize data along the axes that the second operand lists [axes]."""

    data = operand_def()
    axes = operand_def()

    SCALAR_AXES: ClassVar[bool] = False
    """Whether the second operand may be a scalar, a single axis."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, shape = shapes
        if shape is not None and len(shape) != 1 and (shape or not self.SCALAR_AXES):
            raise InferenceError(f"axes have shape {format_shape(shape)}, they should have rank 1")
        axes = known.integers(self.operands[1])
        if axes is not None and data is not None:
            for axis in axes:
                normalize_axis(axis, len(data))
        return data

    def means_same(self, index: int, a: Array, b: Array) -> bool:
        return index == 1 and are_same_axes(a.ravel().tolist(), b.ravel().tolist(), self.rank(0))


def axes_tuple(axes: Array) -> tuple[int, ...]:
    """Axes in the form of numpy's parameter `axis`."""
    return tuple(int(axis) for axis in axes.ravel())


@deferred_definition
class NormalizeL2(NormalizationOp):
    """data / sqrt(sum of squares along axes); without axes, each element is normalized separately.

    `eps` is added to the sum, or is its lower bound.
    """

    name = "opset1.NormalizeL2"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"eps_mode": "add"}
    AXES: ClassVar[AlongAxes | None] = AlongAxes(operand=1)
    SCALAR_AXES: ClassVar[bool] = True
    eps = float_property()
    eps_mode = string_property(None, "add", "max")
    result = result_def()

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, axes = operands
        if not is_real(data):
            return None
        values = widened(data)
        total = np.sum(values * values, axis=axes_tuple(axes), keepdims=True, dtype=values.dtype)
        eps = np.asarray(self.number("eps"), values.dtype)
        total = total + eps if self.text("eps_mode") == "add" else np.maximum(total, eps)
        return ((values / np.sqrt(total)).astype(data.dtype),)


@deferred_definition
class MVN(NormalizationOp):
    """data minus its mean along axes and, with `normalize_variance`, divided by its standard deviation along them."""

    name = "opset6.MVN"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"eps_mode": "INSIDE_SQRT"}
    AXES: ClassVar[AlongAxes | None] = AlongAxes(operand=1)
    eps = float_property()
    normalize_variance = boolean_property()
    eps_mode = string_property(None, "INSIDE_SQRT", "OUTSIDE_SQRT")
    result = result_def()

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, axes = operands
        if not is_real(data):
            return None
        inside = self.text("eps_mode") == "INSIDE_SQRT"
        values = standardized(widened(data), axes_tuple(axes), self.number("eps"), self.flag("normalize_variance"), inside)
        return (values.astype(data.dtype),)


def standardized(values: Array, axes: tuple[int, ...], eps: float, normalize_variance: bool = True, inside: bool = True) -> Array:
    """Values minus their mean along axes, divided by their standard deviation if `normalize_variance` is set.

    `eps` is added inside or outside of the root.
    """
    centred = values - np.mean(values, axis=axes, keepdims=True, dtype=values.dtype)
    if not normalize_variance:
        return centred
    variance = np.mean(centred * centred, axis=axes, keepdims=True, dtype=values.dtype)
    margin = np.asarray(eps, values.dtype)
    return centred / (np.sqrt(variance + margin) if inside else np.sqrt(variance) + margin)


@deferred_definition
class MVN2(OpsetOp):
    """Data minus their mean along `reduction_axes` and, with `normalize_variance`, divided by their standard deviation.

    Without `reduction_axes` the axes are all but the first, with `across_channels`, or all but the first two.
    """

    name = "opset2.MVN"
    data = operand_def()
    eps = float_property(1e-9)
    across_channels = boolean_property(False)
    normalize_variance = boolean_property(False)
    reduction_axes = integers_property(())
    result = result_def()

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"eps": 0.0}

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        (data,) = operands
        if not is_real(data) or self.integers("reduction_axes"):
            # Devices follow `across_channels` alone.
            return None
        axes = tuple(range(1 if self.flag("across_channels") else 2, data.ndim))
        values = standardized(widened(data), axes, self.number("eps"), self.flag("normalize_variance"))
        return (values.astype(data.dtype),)


@deferred_definition
class LRN(NormalizationOp):
    """data / (bias + alpha / n * sum of squares over n neighbours) ** beta.

    A neighbourhood has `size` elements along each axis and is centred.
    """

    name = "opset1.LRN"
    alpha = float_property()
    beta = float_property()
    bias = float_property()
    size = integer_property()
    result = result_def()

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, axes = operands
        if not is_real(data):
            return None
        values, size = widened(data), self.integer("size")
        squares = values * values
        for axis in axes_tuple(axes):
            squares = neighbour_sums(squares, axis, size)
        count = size ** len(axes_tuple(axes))
        base = self.number("bias") + self.number("alpha") / count * squares
        return ((values / base ** self.number("beta")).astype(data.dtype),)

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.integer("size") < 1:
            raise VerifyException("size is below 1")


def neighbour_sums(values: Array, axis: int, size: int) -> Array:
    """Sums of `size` elements along an axis, centred on each position.

    For an even size, one more element precedes the position than follows it.
    """
    length = values.shape[axis]
    sums = np.cumsum(values, axis=axis, dtype=np.float64)
    sums = np.insert(sums, 0, 0, axis=axis)
    positions: Array = np.arange(length, dtype=np.int64)
    first = np.maximum(positions - min(size // 2, length), 0)
    after = np.minimum(positions + min(size - size // 2, length), length)
    return (np.take(sums, after, axis=axis) - np.take(sums, first, axis=axis)).astype(values.dtype)


@deferred_definition
class GroupNormalization(OpsetOp):
    """Data [N, C, …] standardized in each group of channels, times `scale` [C], plus `bias` [C]."""

    name = "opset12.GroupNormalization"
    data = operand_def()
    scale = operand_def()
    bias = operand_def()
    num_groups = integer_property()
    epsilon = float_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, groups = shapes[0], self.integer("num_groups")
        if shape is not None and len(shape) < 2:
            raise InferenceError(f"data {format_shape(shape)} has no channels")
        channels = merge_dimensions(-1 if shape is None else shape[1], channels_of(shapes[1:]))
        if groups < 1 or (is_fixed(channels) and channels % groups):
            raise InferenceError(f"{channels} channels are not a multiple of {groups} groups")
        return shape

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, scale, bias = operands
        if not is_real(data):
            return None
        values = widened(data)
        batch, count = values.shape[0], self.integer("num_groups")
        groups = values.reshape(batch, count, math.prod(values.shape[1:]) // count)
        normal = standardized(groups, (2,), self.number("epsilon")).reshape(values.shape)
        result = normal * along_channels(widened(scale), data.ndim) + along_channels(widened(bias), data.ndim)
        return (result.astype(data.dtype),)

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.integer("num_groups") < 1:
            raise VerifyException("num_groups is below 1")


@deferred_definition
class GRN(OpsetOp):
    """x / sqrt(sum(x ^ 2 over channels) + bias)"""

    name = "opset1.GRN"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"bias": 1.0}
    data = operand_def()
    bias = float_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]
