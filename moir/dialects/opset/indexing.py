"""Operations that read or write elements at computed positions: the Gather and Scatter operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.base import AlongAxes, OpsetOp
from moir.dialects.opset.property_definitions import boolean_property, deferred_definition, integer_property, string_property
from moir.dialects.shapes import Shapes, SymbolicShape, format_shape, is_fixed, merge_shapes, normalize_axis, product
from moir.dialects.symbols import Dimension, is_symbolic, simplified
from moir.errors import InferenceError


class ReadingOp(OpsetOp):
    """Base of the operations whose result holds the elements of `data` at `indices`."""

    data = operand_def()
    indices = operand_def()

    SYMBOLIC: ClassVar[bool] = True

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        if any(is_symbolic(operand) for operand in operands[1:]):
            return None
        result = self.read(*operands)
        if result is None:
            return None
        # Indexing with scalars returns an element instead of an array.
        result = np.asarray(result, dtype=operands[0].dtype)
        return (simplified(result, element_types.to_numpy(self.element_type(0))) if result.dtype == object else result,)

    def read(self, *operands: Array) -> Array | None:
        """The result; only `data` may contain symbols.

        None for an index out of range, for which the runtime and numpy differ.
        """
        raise NotImplementedError


def _positions(indices: Array, size: int) -> Array | None:
    """Indices counted from the front; None if one is out of range."""
    positions = indices.astype(np.int64)
    positions = np.where(positions < 0, positions + size, positions)
    return positions if positions.size == 0 or (positions.min() >= 0 and positions.max() < size) else None


def _checked_batch(batch: int, rank: int, what: str) -> int:
    if not 0 <= batch <= rank:
        raise InferenceError(f"batch_dims is {batch}, but the {what} have only {rank} dimensions for it")
    return batch


class GatherOp(ReadingOp):
    """Base of the versions of Gather: the slices of `data` along `axis` at `indices`.

    The first `batch_dims` dimensions of data and indices, in the versions that have them, are common batch dimensions.
    """

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1, 2)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    axis = operand_def()

    COUNTS_FROM_END: ClassVar[bool] = False
    """Whether negative indices count from the end."""

    def batch_dimensions(self) -> int:
        """The number of common batch dimensions; a negative one counts from the end of the indices."""
        return self.integer("batch_dims") if "batch_dims" in self.properties else 0

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, indices, axis = shapes[0], shapes[1], known.integers(self.operands[2])
        batch = self.batch_dimensions()
        if indices is not None:
            batch = _checked_batch(batch + len(indices) if batch < 0 else batch, len(indices), "indices")
        if data == ():
            raise InferenceError("the data have at least one dimension")
        if data is not None and batch >= 0:
            _checked_batch(batch, len(data) - 1, "data")
        position = None if axis is None else normalize_axis(axis[0], len(data)) if data is not None else axis[0]
        if position is not None and batch > position >= 0:
            raise InferenceError(f"batch_dims {batch} is more than axis {position}")
        if data is None or indices is None:
            return None
        if position is None:
            return self._unknown_axis(data, indices, batch)
        return (*(merge_shapes(data[:batch], indices[:batch]) or ()), *data[batch:position], *indices[batch:], *data[position + 1 :])

    @staticmethod
    def _unknown_axis(data: tuple[Dimension, ...], indices: tuple[Dimension, ...], batch: int) -> SymbolicShape:
        lead = merge_shapes(data[:batch], indices[:batch]) or ()
        return (*lead, *[-1] * (len(data) + len(indices) - 1 - 2 * batch))

    def read(self, *operands: Array) -> Array | None:
        data, indices = operands[:2]
        axis = normalize_axis(int(operands[2].ravel()[0]), data.ndim)
        batch = self.batch_dimensions()
        batch += indices.ndim if batch < 0 else 0
        if not self.COUNTS_FROM_END and indices.size and indices.min() < 0:
            return None
        positions = _positions(indices, data.shape[axis])
        if positions is None:
            return None
        if batch == 0:
            return np.take(data, positions, axis)
        rows = int(np.prod(data.shape[:batch]))
        before = int(np.prod(data.shape[batch:axis]))
        table = data.reshape(rows, before, data.shape[axis], -1)
        picked = table[np.arange(rows)[:, None, None], np.arange(before)[None, :, None], positions.reshape(rows, 1, -1)]
        return picked.reshape(*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :])


@deferred_definition
class Gather1(GatherOp):
    """The slices of `data` along `axis` at `indices`."""

    name = "opset1.Gather"
    result = result_def()


@deferred_definition
class Gather7(GatherOp):
    """The slices of `data` along `axis` at `indices`, behind `batch_dims` common batch dimensions."""

    name = "opset7.Gather"
    batch_dims = integer_property(0)
    result = result_def()


@deferred_definition
class Gather(GatherOp):
    """The slices of `data` along `axis` at `indices`; negative indices count from the end.

    The first `batch_dims` dimensions of data and indices are common batch dimensions. An index out of range yields
    zeros.
    """

    name = "opset8.Gather"
    COUNTS_FROM_END: ClassVar[bool] = True
    batch_dims = integer_property(0)
    result = result_def()


@deferred_definition
class GatherElements(ReadingOp):
    """The elements of `data` at the positions of `indices`, with the coordinate along `axis` replaced by the index."""

    name = "opset6.GatherElements"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    AXES: ClassVar[AlongAxes | None] = AlongAxes(data=(0, 1), properties=("axis",))
    axis = integer_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, indices = shapes
        if indices == ():
            raise InferenceError("the indices have at least one dimension")
        if data is None or indices is None:
            return indices if data is None else self._free_axis(data)
        if len(data) != len(indices):
            raise InferenceError(f"data {format_shape(data)} and indices {format_shape(indices)} should have equal rank")
        axis = normalize_axis(self.integer("axis"), len(data))
        return merge_shapes(indices, (*data[:axis], indices[axis], *data[axis + 1 :]))

    def _free_axis(self, data: tuple[Dimension, ...]) -> SymbolicShape:
        axis = normalize_axis(self.integer("axis"), len(data))
        return (*data[:axis], -1, *data[axis + 1 :])

    def read(self, *operands: Array) -> Array | None:
        data, indices = operands
        axis = normalize_axis(self.integer("axis"), data.ndim)
        positions = _positions(indices, data.shape[axis])
        return None if positions is None else np.take_along_axis(data, positions, axis)


class CoordinateGatherOp(ReadingOp):
    """Base of the versions of GatherND.

    The elements or slices of `data` whose first coordinates are the vectors in the last dimension of `indices`. The
    first `batch_dims` dimensions of data and indices are common batch dimensions.
    """

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    batch_dims = integer_property(0)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, indices, batch = shapes[0], shapes[1], self.integer("batch_dims")
        for shape, what in ((data, "data"), (indices, "indices")):
            if shape is not None and not shape:
                raise InferenceError(f"the {what} have at least one dimension")
            _checked_batch(batch, batch if shape is None else len(shape) - 1, what)
        if data is None or indices is None or not is_fixed(depth := indices[-1]):
            return None
        if batch + depth > len(data):
            raise InferenceError(f"{depth} coordinates behind {batch} batch dimensions are too many for data {format_shape(data)}")
        return (*(merge_shapes(data[:batch], indices[:batch]) or ()), *indices[batch:-1], *data[batch + depth :])

    def read(self, *operands: Array) -> Array | None:
        data, indices = operands
        batch, depth = self.integer("batch_dims"), indices.shape[-1]
        coordinates = [_positions(indices[..., i], data.shape[batch + i]) for i in range(depth)]
        if any(coordinate is None for coordinate in coordinates):
            return None
        grid = np.indices(indices.shape[:-1], sparse=True)[:batch]
        return data[(*grid, *coordinates)] if batch + depth else np.broadcast_to(data, indices.shape[:-1] + data.shape)


@deferred_definition
class GatherND5(CoordinateGatherOp):
    """GatherND whose batch dimensions are one dimension of the result."""

    name = "opset5.GatherND"
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, batch = super().result_shape(shapes, known), self.integer("batch_dims")
        return shape if shape is None or batch < 2 else (reduce(product, shape[:batch]), *shape[batch:])

    def read(self, *operands: Array) -> Array | None:
        result, batch = super().read(*operands), self.integer("batch_dims")
        return result if result is None or batch < 2 else result.reshape(-1, *result.shape[batch:])


@deferred_definition
class GatherND(CoordinateGatherOp):
    """GatherND whose result has the batch dimensions of the data."""

    name = "opset8.GatherND"
    result = result_def()


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
    """The neutral value of a reduction."""
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
        positions = _positions(indices, data.shape[position])
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
        replaced = _positions(indices, data.shape[position])
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
    """`data` with the elements of `updates` in place of others."""

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

    `data` with elements or slices written to it, whose first coordinates are the vectors in the last dimension of
    `indices`.
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
        coordinates = [_positions(indices[..., i], data.shape[i]) for i in range(indices.shape[-1])]
        positions = tuple(coordinate for coordinate in coordinates if coordinate is not None)
        result = data.copy()
        if len(positions) < len(coordinates) or not positions or not _combine(result, positions, updates, self.reduction_mode()):
            return None
        return (result,)


@deferred_definition
class ScatterNDUpdate4(CoordinateWritingOp):
    """`data` with `updates` in place of elements or slices."""

    name = "opset4.ScatterNDUpdate"
    result = result_def()


@deferred_definition
class ScatterNDUpdate(CoordinateWritingOp):
    """`data` with elements or slices combined with `updates` by `reduction`."""

    name = "opset15.ScatterNDUpdate"
    reduction = string_property("none", "max", "min", "none", "prod", "sub", "sum")
    result = result_def()
