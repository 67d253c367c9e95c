"""Operations that write elements at computed positions: the Scatter operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.indexing import positions_of
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, string_property
from moir.dialects.shapes import Shapes, SymbolicShape, format_shape, is_fixed, merge_shapes, normalize_axis
from moir.dialects.symbols import is_symbolic, simplified
from moir.errors import InferenceError


class WritingOp(OpsetOp):
    """Base of the operations whose result is `data` with `updates` written to positions given by `indices`."""

    data = operand_def()
    indices = operand_def()
    updates = operand_def()

    def result_element(self) -> Attribute:
        return self.common_element(0, 2)

    def reduction_mode(self) -> str:
        """How updates are combined; `none` in the versions without `reduction`, in which they replace elements."""
        return self.text("reduction") if "reduction" in self.properties else "none"


def _neutral(reduction: str, dtype: np.dtype[Any]) -> Any:
    """The neutral element of a reduction in a numpy type: the least number for max, the greatest for min, 1 for prod,
    else 0.
    """
    if reduction in ("max", "min"):
        extremes = np.iinfo(dtype) if dtype.kind in "iu" else None
        low, high = (-np.inf, np.inf) if extremes is None else (extremes.min, extremes.max)
        return dtype.type(low if reduction == "max" else high)
    return dtype.type(reduction == "prod")


def _combine(result: Array, positions: tuple[Array | slice, ...], updates: Array, reduction: str) -> bool:
    """Write `updates` into `result`, combined with its elements by a reduction.

    Returns False if the reduction is not evaluated for this element type.
    """
    combinations: dict[str, Callable[..., Any]] = {
        "sum": np.add.at,
        "mean": np.add.at,
        "sub": np.subtract.at,
        "prod": np.multiply.at,
        "max": np.maximum.at,
        "min": np.minimum.at,
    }
    if reduction == "none":
        result[positions] = updates
        return True
    if result.dtype.kind not in "iuf":
        return False
    combinations[reduction](result, positions, updates)
    return True


@deferred_definition
class ScatterUpdate(WritingOp):
    """`data` with the slices along `axis` at `indices` replaced by `updates`."""

    name = "opset3.ScatterUpdate"
    axis = operand_def()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, indices, updates, axis = *shapes[:3], known.integers(self.operands[3])
        if data is not None and indices is not None and updates is not None and len(updates) != len(data) + len(indices) - 1:
            raise InferenceError(
                f"updates {format_shape(updates)} do not fit data {format_shape(data)} and indices {format_shape(indices)}"
            )
        if data is not None and axis is not None:
            position = normalize_axis(axis[0], len(data))
            if indices is not None and updates is not None:
                merge_shapes((*data[:position], *indices, *data[position + 1 :]), updates)
        return data

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, indices, updates, axis = operands
        if is_symbolic(indices) or is_symbolic(axis):
            return None
        position = normalize_axis(int(axis.ravel()[0]), data.ndim)
        positions = positions_of(indices, data.shape[position])
        if positions is None:
            return None
        result = data.astype(object if is_symbolic(updates) else data.dtype, copy=True)
        result[(*[slice(None)] * position, positions)] = updates
        return (simplified(result, element_types.to_numpy(self.element_type(0))) if result.dtype == object else result,)


class ElementWritingOp(WritingOp):
    """Base of the versions of ScatterElementsUpdate.

    `data` with each element of `updates` written at its position, whose coordinate along `axis` is the index.
    """

    AXES: ClassVar[AlongAxes | None] = AlongAxes(data=(0, 1, 2), operand=3)
    axis = operand_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, axis = shapes[0], known.integers(self.operands[3])
        indices = merge_shapes(shapes[1], shapes[2])
        if data is not None and indices is not None and len(data) != len(indices):
            raise InferenceError(f"data {format_shape(data)} and indices {format_shape(indices)} should have equal rank")
        if data is not None and axis is not None:
            normalize_axis(axis[0], len(data))
        return data

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, indices, updates, axis = operands
        position = normalize_axis(int(axis.ravel()[0]), data.ndim)
        replaced = positions_of(indices, data.shape[position])
        if replaced is None:
            return None
        positions = (*np.indices(indices.shape, sparse=True),)
        positions = (*positions[:position], replaced, *positions[position + 1 :])
        reduction, result = self.reduction_mode(), data.copy()
        initial = reduction == "none" or self.flag("use_init_val")
        if reduction != "none" and not initial:
            result[positions] = _neutral(reduction, data.dtype)
        if not _combine(result, positions, updates, reduction):
            return None
        if reduction == "mean":
            counts = np.zeros(data.shape, np.int64)
            np.add.at(counts, positions, 1)
            divisor = np.maximum(counts + (initial & (counts > 0)), 1)
            result = np.trunc(result / divisor).astype(data.dtype) if data.dtype.kind in "iu" else (result / divisor).astype(data.dtype)
        return (result,)


@deferred_definition
class ScatterElementsUpdate3(ElementWritingOp):
    """`data` with elements replaced by those of `updates`."""

    name = "opset3.ScatterElementsUpdate"
    result = result_def()


@deferred_definition
class ScatterElementsUpdate(ElementWritingOp):
    """`data` with the elements of `updates` written to it.

    `reduction` combines updates of one position with each other and, if `use_init_val` is set, with the element of
    `data`.
    """

    name = "opset12.ScatterElementsUpdate"
    reduction = string_property("none", "max", "mean", "min", "none", "prod", "sum")
    use_init_val = boolean_property(True)
    result = result_def()


class CoordinateWritingOp(WritingOp):
    """Base of the versions of ScatterNDUpdate.

    The result is `data` with elements or slices replaced by those of `updates`. Each vector in the last dimension of
    `indices` has the first coordinates of one of them.
    """

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, indices, updates = shapes
        if indices == () or data == ():
            raise InferenceError("data and indices have at least one dimension")
        if data is not None and indices is not None and is_fixed(depth := indices[-1]):
            if depth > len(data):
                raise InferenceError(f"{depth} coordinates are too many for data {format_shape(data)}")
            if updates is not None:
                merge_shapes((*indices[:-1], *data[depth:]), updates)
        return data

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, indices, updates = operands
        coordinates = [positions_of(indices[..., i], data.shape[i]) for i in range(indices.shape[-1])]
        positions = tuple(coordinate for coordinate in coordinates if coordinate is not None)
        result = data.copy()
        if len(positions) < len(coordinates) or not positions or not _combine(result, positions, updates, self.reduction_mode()):
            return None
        return (result,)


@deferred_definition
class ScatterNDUpdate4(CoordinateWritingOp):
    """`data` with elements or slices replaced by `updates`."""

    name = "opset4.ScatterNDUpdate"
    result = result_def()


@deferred_definition
class ScatterNDUpdate(CoordinateWritingOp):
    """`data` with elements or slices combined with `updates` by `reduction`."""

    name = "opset15.ScatterNDUpdate"
    reduction = string_property("none", "max", "min", "none", "prod", "sub", "sum")
    result = result_def()
