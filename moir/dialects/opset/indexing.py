"""Operations that read elements at computed positions, one-hot encoding, positions of nonzero elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds
from moir.dialects.opset.interfaces.elementwise import INTEGERS, require_element
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.interfaces.properties import deferred_definition, element_property, integer_property, string_property
from moir.dialects.shapes import Shapes, SymbolicShape, element_of, format_shape, is_fixed, merge_shapes, normalize_axis, product
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
        """The result for values of the operands, of which only `data` may contain symbols.

        None for an index out of range, which numpy does not accept.
        """
        raise NotImplementedError


def positions_of(indices: Array, size: int) -> Array | None:
    """Indices counted from the front; None if one is out of range."""
    positions = indices.astype(np.int64)
    positions = np.where(positions < 0, positions + size, positions)
    return positions if positions.size == 0 or (positions.min() >= 0 and positions.max() < size) else None


def checked_batch(batch: int, rank: int, what: str) -> int:
    """`batch`, a number of batch dimensions. Raises InferenceError if it is negative or exceeds `rank`, that of the
    `what`.
    """
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
            batch = checked_batch(batch + len(indices) if batch < 0 else batch, len(indices), "indices")
        if data == ():
            raise InferenceError("the data have at least one dimension")
        if data is not None and batch >= 0:
            checked_batch(batch, len(data) - 1, "data")
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
        positions = positions_of(indices, data.shape[axis])
        if positions is None and self.COUNTS_FROM_END and batch == 0 and data.dtype.kind in "iu":
            # Computations of shapes have such indices: opset8.Gather reads a zero for an index out of range.
            zero = np.zeros((*data.shape[:axis], 1, *data.shape[axis + 1 :]), data.dtype)
            nonnegative = np.where(indices < 0, indices + data.shape[axis], indices)
            inside = (nonnegative >= 0) & (nonnegative < data.shape[axis])
            return np.take(np.concatenate([data, zero], axis), np.where(inside, nonnegative, data.shape[axis]), axis)
        if positions is None:
            return None
        if batch == 0:
            return np.take(data, positions, axis)
        rows = int(np.prod(data.shape[:batch]))
        before = int(np.prod(data.shape[batch:axis]))
        table = data.reshape(rows, before, data.shape[axis], -1)
        picked = table[np.arange(rows)[:, None, None], np.arange(before)[None, :, None], positions.reshape(rows, 1, -1)]
        return picked.reshape(*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :])

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        bounds = of(0)
        # Indices out of range read zeros.
        return None if bounds is None else (min(bounds[0], 0.0), max(bounds[1], 0.0))


@deferred_definition
class Gather1(GatherOp):
    """The slices of `data` along `axis` at `indices`."""

    name = "opset1.Gather"
    result = result_def()


@deferred_definition
class Gather7(GatherOp):
    """The slices of `data` along `axis` at `indices`, after `batch_dims` common batch dimensions."""

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
    MOVES: ClassVar[bool] = True
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
        positions = positions_of(indices, data.shape[axis])
        return None if positions is None else np.take_along_axis(data, positions, axis)


class CoordinateGatherOp(ReadingOp):
    """Base of the versions of GatherND.

    The elements or slices of `data` whose first coordinates are the vectors in the last dimension of `indices`. The
    first `batch_dims` dimensions of data and indices are common batch dimensions.
    """

    MOVES: ClassVar[bool] = True
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    batch_dims = integer_property(0)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, indices, batch = shapes[0], shapes[1], self.integer("batch_dims")
        for shape, what in ((data, "data"), (indices, "indices")):
            if shape is not None and not shape:
                raise InferenceError(f"the {what} have at least one dimension")
            checked_batch(batch, batch if shape is None else len(shape) - 1, what)
        if data is None or indices is None or not is_fixed(depth := indices[-1]):
            return None
        if batch + depth > len(data):
            raise InferenceError(f"{depth} coordinates after {batch} batch dimensions are too many for data {format_shape(data)}")
        return (*(merge_shapes(data[:batch], indices[:batch]) or ()), *indices[batch:-1], *data[batch + depth :])

    def read(self, *operands: Array) -> Array | None:
        data, indices = operands
        batch, depth = self.integer("batch_dims"), indices.shape[-1]
        coordinates = [positions_of(indices[..., i], data.shape[batch + i]) for i in range(depth)]
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


class OneHotOp(OpsetOp):
    """Base of the one-hot encodings.

    A new axis of size `depth` has `on_value` at the position of the index and `off_value` elsewhere.
    """

    indices = operand_def()
    depth = operand_def()
    on_value = operand_def()
    off_value = operand_def()
    axis = integer_property()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        indices = shapes[0]
        for index, what in ((1, "depth"), (2, "on_value"), (3, "off_value")):
            if shapes[index]:
                raise InferenceError(f"{what} should be a scalar")
        if indices is None:
            return None
        axis = normalize_axis(self.integer("axis"), len(indices) + 1)
        depth = known.integers(self.operands[1])
        if depth is not None and depth[0] < 0:
            raise InferenceError(f"depth is {depth[0]}")
        return (*indices[:axis], (known.sizes(self.operands[1]) or (-1,))[0], *indices[axis:])

    def result_element(self) -> Attribute:
        for operand in self.operands[:2]:
            require_element(element_of(operand), INTEGERS)
        return self.common_element(2, 3)

    def position(self, indices: Array, depth: int) -> Array:
        """A mask of the positions of `on_value`; an index outside 0 … depth - 1 has none."""
        return indices

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        indices, depth, on_value, off_value = operands
        if is_symbolic(indices) or is_symbolic(depth):
            return None
        size = int(depth.reshape(()))
        axis = normalize_axis(self.integer("axis"), indices.ndim + 1)
        position = np.expand_dims(self.position(indices.astype(np.int64), size), axis)
        steps = np.arange(size).reshape([-1 if index == axis else 1 for index in range(indices.ndim + 1)])
        encoded = np.where(position == steps, on_value.reshape(()), off_value.reshape(()))
        element = self.element_type(2)
        return (simplified(encoded, element_types.to_numpy(element)) if encoded.dtype == object and element in INTEGERS else encoded,)


@deferred_definition
class OneHot1(OneHotOp):
    """One-hot encoding; a negative index selects nothing."""

    name = "opset1.OneHot"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)


@deferred_definition
class OneHot(OneHotOp):
    """One-hot encoding.

    A negative index selects nothing or, with `negative_indices_mode` `normalize`, counts from the end.
    """

    name = "opset16.OneHot"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    negative_indices_mode = string_property("ignore_negative", "ignore_negative", "normalize")

    def position(self, indices: Array, depth: int) -> Array:
        if self.text("negative_indices_mode") == "ignore_negative":
            return indices
        return np.where(indices < 0, indices + depth, indices)


@deferred_definition
class NonZero(OpsetOp):
    """The coordinates of the nonzero elements, one column for each, in row-major order."""

    name = "opset3.NonZero"
    data = operand_def()
    output_type = element_property(element_types.si64)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, values = shapes[0], known.elements(self.operands[0])
        count = 0 if shape is not None and 0 in shape else -1
        if values is not None and values.dtype != object:
            count = int(np.count_nonzero(values))
        return (len(shape) if shape else -1, count)

    def result_element(self) -> Attribute:
        return self.element("output_type")

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        (data,) = operands
        if data.ndim == 0 or data.dtype == object:
            return None
        return (np.stack(np.nonzero(data)).astype(element_types.to_numpy(self.element("output_type"))),)
