"""Resizing, sampling and patch extraction of images. Layout of data: N, C, spatial axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, bf16, dynamic, f16, f32, f64, si8, si32, si64, ui8
from moir.dialects.memory_map import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    float_property,
    integers_property,
    optional_operands,
    string_property,
)
from moir.dialects.opset.interfaces.spatial import AUTO_PAD, Window, expanded, positions
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    element_count,
    element_of,
    format_shape,
    is_fixed,
    merge_dimensions,
    product,
    shifted,
)
from moir.dialects.symbols import Dimension, Symbol
from moir.errors import InferenceError

HALF = np.float32(0.5)

COORDINATES: Mapping[str, Callable[[Array, Any, int], Array]] = {
    "align_corners": lambda positions, _, size: positions * np.float32(size - 1) / np.float32(max(1, len(positions) - 1)),
    "asymmetric": lambda positions, scale, _: positions / scale,
    "half_pixel": lambda positions, scale, _: (positions + HALF) / scale - HALF,
    "pytorch_half_pixel": lambda positions, scale, _: (positions + HALF) / scale - HALF if len(positions) > 1 else positions,
    "tf_half_pixel_for_nn": lambda positions, scale, _: (positions + HALF) / scale,
}
"""Mode -> a function that returns the coordinates in the data (f32) for positions in the result, the scale and the size
of the data. Source: the specification of Interpolate-11.
"""

NEAREST: Mapping[str, Callable[[Array, Any], Array]] = {
    "ceil": lambda coordinates, _: np.ceil(coordinates),
    "floor": lambda coordinates, _: np.floor(coordinates),
    "round_prefer_ceil": lambda coordinates, _: np.floor(coordinates + 0.5),
    "round_prefer_floor": lambda coordinates, _: np.ceil(coordinates - 0.5),
    "simple": lambda coordinates, scale: np.ceil(coordinates) if scale < 1 else np.trunc(coordinates),
}
"""Mode -> a function that returns the index of the element nearest to each coordinate (f64), given the scale."""

MODES = ("bicubic_pillow", "bilinear_pillow", "cubic", "linear", "linear_onnx", "nearest")


MARGIN = np.float32(1e-6)
"""A number that is added to a scale, so that rounding down restores a size from a scale that was computed as a quotient
of sizes.
"""


RESIZED_TYPES = (dynamic, f16, bf16, f32, f64, si8, ui8, si32, si64)
"""The element types of the data of an Interpolate from operation set 4 on."""

MAXIMUM_SIZE = 2.0**63


def scaled(size: Dimension, scale: Any) -> int:
    """A dimension times a scale, computed in f32 and rounded down; -1 if one is dynamic."""
    if not is_fixed(size) or isinstance(scale, Symbol):
        return -1
    with np.errstate(over="ignore"):
        extent = np.float32(size) * (np.float32(scale) + MARGIN)
    if not extent < MAXIMUM_SIZE:
        raise InferenceError(f"{size} elements cannot be scaled by {scale}")
    return max(0, math.floor(extent))


def check_list(shape: SymbolicShape, what: str) -> None:
    """Raise InferenceError, which names `what`, if a shape is known not to have rank 1."""
    if shape is not None and len(shape) != 1:
        raise InferenceError(f"{what} has shape {format_shape(shape)}, it should have rank 1")


class InterpolateOp(OpsetOp):
    """Base of the two versions of Interpolate."""

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "nearest", "shape_calculation_mode": "sizes"}

    mode = string_property(None, *MODES)
    shape_calculation_mode = string_property(None, "scales", "sizes")
    coordinate_transformation_mode = string_property("half_pixel", *COORDINATES)
    nearest_mode = string_property("round_prefer_floor", *NEAREST)
    antialias = boolean_property(False)
    pads_begin = integers_property((0,))
    pads_end = integers_property((0,))
    cube_coeff = float_property(-0.75)
    result = result_def()

    def resized(self, shapes: Shapes, known: OperandValues, target: int, axes_index: int) -> SymbolicShape:
        """Shape of the result; operand `target` has the sizes or scales.

        The optional operand `axes_index` lists the axes to which they apply.
        """
        data = shapes[0]
        if data is None:
            return None
        rank = len(data)
        pads = [self.integers("pads_begin"), self.integers("pads_end")]
        if max(map(len, pads)) > rank:
            raise InferenceError(f"more pads than the {rank} axes of the data")
        shape = [shifted(d, a + b) for d, a, b in zip(data, *(_extended(pad, rank) for pad in pads), strict=True)]
        check_list(shapes[target], self.text("shape_calculation_mode"))
        axes_operand = self.optional_operand(axes_index)
        if axes_operand is not None:
            check_list(shapes[axes_index], "axes")
        axes = tuple(range(rank)) if axes_operand is None else known.integers(axes_operand)
        if axes is None:
            return (-1,) * rank
        if any(not 0 <= axis < rank for axis in axes):
            raise InferenceError(f"axes {list(axes)} are not all axes of a tensor of rank {rank}")
        by_scale = self.text("shape_calculation_mode") == "scales"
        element = self.element_type(target)
        if element in (INTEGER_TYPES if by_scale else REAL_TYPES):
            raise InferenceError(f"{self.text('shape_calculation_mode')} of type {element} are not possible")
        entries = known.elements(self.operands[target])
        count = element_count(shapes[target]) if entries is None else entries.size
        if count is not None and count != len(axes):
            raise InferenceError(f"{count} {self.text('shape_calculation_mode')} for {len(axes)} axes")
        if by_scale:
            scales: list[Any] = [Symbol()] * len(axes) if entries is None else list(entries.ravel())
            sizes: Sequence[Dimension] = [scaled(shape[axis], scale) for axis, scale in zip(axes, scales, strict=True)]
        else:
            sizes = known.sizes(self.operands[target]) or (-1,) * len(axes)
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        return tuple(shape)

    def check_invariants(self) -> None:
        super().check_invariants()
        if any(pad < 0 for name in ("pads_begin", "pads_end") for pad in self.integers(name)):
            raise VerifyException("pads are negative")
        if (element := element_of(self.operands[0])) not in RESIZED_TYPES:
            raise VerifyException(f"data of {element} cannot be resized; convert it to f32 first")


@deferred_definition
class Interpolate4(InterpolateOp):
    """Data padded with zeros and resized along axes to `sizes`, or by `scales`.

    `shape_calculation_mode` selects which of the two operands applies; the other one is ignored.
    """

    name = "opset4.Interpolate"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1, 2)
    data = operand_def()
    sizes = operand_def()
    scales = operand_def()
    axes = optional_operands(1)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return self.resized(shapes, known, 1 if self.text("shape_calculation_mode") == "sizes" else 2, 3)


@deferred_definition
class Interpolate(InterpolateOp):
    """Data padded with zeros and resized along axes to sizes (integers), or by scales (floats).

    `shape_calculation_mode` selects which of the two the operand contains.
    """

    name = "opset11.Interpolate"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1, 2)
    data = operand_def()
    scales_or_sizes = operand_def()
    axes = optional_operands(1)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return self.resized(shapes, known, 1, 2)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, target = operands[:2]
        axes = operands[2].tolist() if len(operands) > 2 else range(data.ndim)
        if (
            self.text("mode") not in ("nearest", "linear", "linear_onnx", "cubic")
            or self.flag("antialias")
            or any((*self.integers("pads_begin"), *self.integers("pads_end")))
        ):
            return None
        mode, dtype = self.text("mode"), data.dtype
        for axis, entry in zip(axes, target.ravel().tolist(), strict=True):
            by_scale = self.text("shape_calculation_mode") == "scales"
            extent = scaled(data.shape[axis], entry) if by_scale else entry
            scale = np.float32(entry if by_scale else extent / data.shape[axis])
            coordinate = COORDINATES[self.text("coordinate_transformation_mode")]
            positions = coordinate(np.arange(extent, dtype=np.float32), scale, data.shape[axis])
            if mode != "nearest":
                data = _cubic(data, positions, axis, self.number("cube_coeff")) if mode == "cubic" else _between(data, positions, axis)
                continue
            nearest = NEAREST[self.text("nearest_mode")](positions.astype(np.float64), scale)
            data = data.take(np.clip(nearest, 0, data.shape[axis] - 1).astype(np.int64), axis)
        return ((np.rint(data) if dtype.kind in "iu" else data).astype(dtype),)


def _between(data: Array, positions: Array, axis: int) -> Array:
    """Linear interpolation along an axis at fractional positions, which are clamped to the first and last element."""
    last = data.shape[axis] - 1
    positions = np.clip(positions.astype(np.float64), 0, last)
    first = np.floor(positions).astype(np.int64)
    shares = (positions - first).reshape([-1 if each == axis else 1 for each in range(data.ndim)])
    return data.take(first, axis) * (1 - shares) + data.take(np.minimum(first + 1, last), axis) * shares


def _cubic(data: Array, positions: Array, axis: int, a: float) -> Array:
    """Cubic convolution of four elements along an axis at fractional positions; beyond the ends, elements repeat."""
    positions = positions.astype(np.float64)
    result: Any = 0.0
    for offset in (-1, 0, 1, 2):
        indices = np.floor(positions) + offset
        x = np.abs(positions - indices)
        weights = np.where(x <= 1, ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * a * x - 4 * a)
        elements = data.take(np.clip(indices, 0, data.shape[axis] - 1).astype(np.int64), axis)
        result = result + elements * weights.reshape([-1 if each == axis else 1 for each in range(data.ndim)])
    return result


MODES_OF_FIRST = ("area", "cubic", "linear", "nearest")


@deferred_definition
class Interpolate1(OpsetOp):
    """Data resized along `axes` to the sizes of the second operand [axes]; pads do not change the result's size."""

    name = "opset1.Interpolate"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    data = operand_def()
    output_shape = operand_def()
    align_corners = boolean_property(True)
    antialias = boolean_property(False)
    axes = integers_property()
    mode = string_property(None, *MODES_OF_FIRST)
    pads_begin = integers_property(())
    pads_end = integers_property(())
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, axes = shapes[0], self.integers("axes")
        check_list(shapes[1], "output_shape")
        if data is None:
            return None
        if any(not 0 <= axis < len(data) for axis in axes):
            raise InferenceError(f"axes {list(axes)} are not all axes of a tensor of rank {len(data)}")
        sizes = known.sizes(self.operands[1]) or (-1,) * len(axes)
        if len(sizes) != len(axes):
            raise InferenceError(f"{len(sizes)} sizes for {len(axes)} axes")
        shape = list(data)
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        return tuple(shape)


@deferred_definition
class GridSample(OpsetOp):
    """Data [N, C, H, W] sampled at the positions (x, y) in -1 … 1 of a grid [N, H_out, W_out, 2].

    Result: [N, C, H_out, W_out].
    """

    name = "opset9.GridSample"
    data = operand_def()
    grid = operand_def()
    align_corners = boolean_property(False)
    mode = string_property("bilinear", "bicubic", "bilinear", "nearest")
    padding_mode = string_property("zeros", "border", "reflection", "zeros")
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data = expanded(shapes[0], 4, "data")
        grid = expanded(shapes[1], 4, "the grid")
        if is_fixed(grid[3]) and grid[3] != 2:
            raise InferenceError(f"points of the grid have {grid[3]} coordinates, not 2")
        return (merge_dimensions(data[0], grid[0]), data[1], grid[1], grid[2])


@deferred_definition
class ExtractImagePatches(OpsetOp):
    """Patches of `sizes` elements of data [N, C, H, W].

    The elements of a patch are `rates` apart, the patches `strides`. Result: [N, C * patch elements, rows, columns].
    """

    name = "opset3.ExtractImagePatches"
    data = operand_def()
    sizes = integers_property()
    strides = integers_property()
    rates = integers_property()
    auto_pad = string_property(None, *AUTO_PAD)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data = expanded(shapes[0], 4, "data")
        sizes = self.integers("sizes")
        windows = tuple(map(Window, sizes, self.integers("strides"), self.integers("rates")))
        if len(windows) != 2:
            raise InferenceError("sizes, strides and rates must have two entries each")
        counts = [
            0 if is_fixed(size) and size < window.extent and auto_pad == "valid" else positions(size, window, auto_pad)
            for size, window, auto_pad in zip(data[2:], windows, (self.text("auto_pad"),) * 2, strict=True)
        ]
        return (data[0], product(data[1], math.prod(sizes)), *counts)

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.text("auto_pad") == "explicit":
            raise VerifyException("auto_pad is 'explicit', but there are no pads")
        for name in ("sizes", "strides", "rates"):
            values = self.integers(name)
            if len(values) != 2 or min(values) < 1:
                raise VerifyException(f"{name} {list(values)} is not two positive integers")


@deferred_definition
class Col2Im(OpsetOp):
    """Sum of overlapping blocks: [N, C * kernel elements, blocks], or without N, to an image [N, C, H, W].

    `output_size` is (H, W) and `kernel_size` the size of a block, both integers [2].
    """

    name = "opset15.Col2Im"
    data = operand_def()
    output_size = operand_def()
    kernel_size = operand_def()
    strides = integers_property((1, 1))
    dilations = integers_property((1, 1))
    pads_begin = integers_property((0, 0))
    pads_end = integers_property((0, 0))
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data = shapes[0]
        if data is None:
            return None
        if len(data) not in (2, 3):
            raise InferenceError(f"data has rank {len(data)}, not 2 or 3")
        check_list(shapes[1], "output_size")
        check_list(shapes[2], "kernel_size")
        size = expanded_pair(known.sizes(self.operands[1]), "output_size")
        kernel = expanded_pair(known.sizes(self.operands[2]), "kernel_size")
        taps = product(*kernel)
        channels = -1
        if is_fixed(taps) and taps > 0 and is_fixed(depth := data[-2]):
            channels, remainder = divmod(depth, taps)
            if remainder:
                raise InferenceError(f"{depth} is not a multiple of the {taps} elements of the kernel")
        self._check_blocks(data[-1], size, kernel)
        return (*data[:-2], channels, *size)

    def _check_blocks(self, blocks: Dimension, size: tuple[Dimension, ...], kernel: tuple[Dimension, ...]) -> None:
        properties = (self.integers(name) for name in ("strides", "dilations", "pads_begin", "pads_end"))
        windows = tuple(map(Window, kernel, *properties))
        if len(windows) != 2:
            raise InferenceError("strides, dilations and pads must have two entries each")
        rows, columns = (positions(extent, window, "explicit") for extent, window in zip(size, windows, strict=True))
        expected = product(rows, columns)
        if is_fixed(blocks) and is_fixed(expected) and blocks != expected:
            raise InferenceError(f"data has {blocks} blocks, the image needs {expected}")

    def check_invariants(self) -> None:
        super().check_invariants()
        for name, lowest in (("strides", 1), ("dilations", 1), ("pads_begin", 0), ("pads_end", 0)):
            values = self.integers(name)
            if len(values) != 2 or min(values) < lowest:
                raise VerifyException(f"{name} {list(values)} is not two integers of at least {lowest}")


def _extended(pads: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Pads followed by a 0 for each of `rank` axes that has none."""
    return (*pads, *[0] * (rank - len(pads)))


def expanded_pair(pair: SymbolicShape, what: str) -> tuple[Dimension, ...]:
    """Two dimensions that a value holds, unknown ones if the value is unknown.

    Raises InferenceError if the value does not have two entries.
    """
    if pair is None:
        return (-1, -1)
    if len(pair) != 2:
        raise InferenceError(f"{what} has {len(pair)} entries, not 2")
    return pair
