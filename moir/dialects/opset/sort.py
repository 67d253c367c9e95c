"""Operations that sort, search or collect elements by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import LARGEST_SIZE, Bounds, OperandBounds
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    element_property,
    integer_property,
    optional_operands,
    string_property,
)
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    element_count,
    format_shape,
    is_fixed,
    merge_elements,
    merge_shapes,
    normalize_axis,
)
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


def has_nan(array: Array) -> bool:
    """Whether an element is NaN, whose place in an order the operations leave undefined."""
    return array.dtype.kind in "fV" and bool(np.isnan(array).any())


class TopKOp(OpsetOp):
    """Base of the versions of TopK: the `k` largest (`mode` max) or smallest elements along `axis`, and their indices.

    `sort` sorts them by value or by index, or leaves their order undefined.
    """

    STEPS: ClassVar[int] = 64

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "max", "sort": "none"}

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    AXES: ClassVar[AlongAxes | None] = AlongAxes(properties=("axis",))
    data = operand_def()
    k = operand_def()
    axis = integer_property()
    mode = string_property(None, "max", "min")
    sort = string_property(None, "index", "none", "value")
    index_element_type = element_property(element_types.si32)
    values = result_def()
    indices = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        shape, k = shapes[0], known.integers(self.operands[1])
        if self.rank(1) not in (0, None) or (k is not None and k[0] < 0):
            raise InferenceError("k is a scalar that is not negative")
        if shape is not None:
            axis = normalize_axis(self.integer("axis"), len(shape))
            size = (known.sizes(self.operands[1]) or (-1,))[0]
            if is_fixed(size) and is_fixed(length := shape[axis]) and length < size:
                raise InferenceError(f"k is {size}, but the dimension has only {length} elements")
            shape = (*shape[:axis], 0 if shape[axis] == 0 else size, *shape[axis + 1 :])
        return shape, shape

    def result_elements(self) -> Sequence[Attribute]:
        return self.element_type(0), self.element("index_element_type")

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, count = operands[0], int(operands[1].ravel()[0])
        if data.dtype.kind not in "iuf" or has_nan(data):
            return None
        axis = normalize_axis(self.integer("axis"), data.ndim)
        # The complement of an integer, unlike its negative, reverses the order without overflow.
        key = data if self.text("mode") == "min" else -data if data.dtype.kind == "f" else ~data
        order = np.take(np.argsort(key, axis, kind="stable"), range(count), axis)
        if self.text("sort") == "index":
            order = np.sort(order, axis)
        return np.take_along_axis(data, order, axis), order.astype(element_types.to_numpy(self.element("index_element_type")))

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        if index == 0:
            return of(0)
        shape = self.shape(0)
        size = -1 if shape is None else shape[self.integer("axis")]
        return 0.0, max(size - 1.0, 0.0) if is_fixed(size) else LARGEST_SIZE


@deferred_definition
class TopK1(TopKOp):
    """The largest or smallest elements and their indices."""

    name = "opset1.TopK"


@deferred_definition
class TopK3(TopKOp):
    """The largest or smallest elements and their indices."""

    name = "opset3.TopK"


@deferred_definition
class TopK(TopKOp):
    """The largest or smallest elements and their indices; `stable` keeps the order of equal elements."""

    name = "opset11.TopK"
    stable = boolean_property(False)

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.flag("stable") and self.text("sort") == "none":
            raise VerifyException("stable needs an order: sort is value or index")


@deferred_definition
class SearchSorted(OpsetOp):
    """For each element of `values` the index in a sorted row at which it could be inserted.

    With `right_mode` that is after equal elements. `sorted` has one row for all, or one for each row of `values`. The
    place of NaN is not defined.
    """

    name = "opset15.SearchSorted"
    STEPS: ClassVar[int] = 128
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    sorted = operand_def()
    values = operand_def()
    right_mode = boolean_property(False)
    output_type = element_property(element_types.si64)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        rows, values = shapes
        if rows == ():
            raise InferenceError("the sorted sequence has at least one dimension")
        if rows is not None and len(rows) > 1:
            if values is None:
                values = (*rows[:-1], -1)
            elif len(values) != len(rows):
                raise InferenceError(f"rows {format_shape(rows)} and values {format_shape(values)} do not belong together")
            else:
                values = (*(merge_shapes(rows[:-1], values[:-1]) or ()), values[-1])
        return values

    def result_element(self) -> Attribute:
        merge_elements(self.element_type(0), self.element_type(1))
        return self.element("output_type")

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        rows, values = operands
        if has_nan(rows) or has_nan(values):
            return None
        side = "right" if self.flag("right_mode") else "left"
        if rows.ndim == 1:
            positions = np.searchsorted(rows, values, side)
        else:
            pairs = zip(rows.reshape(-1, rows.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
            positions = np.array([np.searchsorted(row, row_values, side) for row, row_values in pairs]).reshape(values.shape)
        return (np.asarray(positions, element_types.to_numpy(self.element("output_type"))),)


@deferred_definition
class Bucketize(OpsetOp):
    """For each element of `data` the index of its bucket; `buckets` are the ascending boundaries of the buckets.

    A boundary belongs to the bucket below it if `with_right_bound` is set, otherwise to the bucket above it. In the
    latter case NaN belongs to the last bucket.
    """

    name = "opset3.Bucketize"
    STEPS: ClassVar[int] = 128
    data = operand_def()
    buckets = operand_def()
    output_type = element_property(element_types.si64)
    with_right_bound = boolean_property(True)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if self.rank(1) not in (1, None):
            raise InferenceError(f"the buckets have one dimension, not shape {format_shape(shapes[1])}")
        return shapes[0]

    def result_element(self) -> Attribute:
        return self.element("output_type")

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, buckets = operands
        if has_nan(buckets) or (self.flag("with_right_bound") and has_nan(data)):
            return None
        positions = np.searchsorted(buckets, data, "left" if self.flag("with_right_bound") else "right")
        return (np.asarray(positions, element_types.to_numpy(self.element("output_type"))),)


@deferred_definition
class Unique(OpsetOp):
    """The distinct elements of `data`, or its distinct slices along `axis`, ordered by value (`sorted`) or by first
    occurrence.

    Results: the elements or slices; for each the index of its first occurrence; for each element or slice of `data` its
    index in the first result; for each element or slice of the first result the number of occurrences.
    """

    name = "opset10.Unique"
    SIZES_OF_ELEMENTS: ClassVar[bool] = True
    STEPS: ClassVar[int] = 128
    data = operand_def()
    axis = optional_operands(1)
    sorted = boolean_property(True)
    index_element_type = element_property(element_types.si64)
    count_element_type = element_property(element_types.si64)
    values = result_def()
    first_indices = result_def()
    inverse_indices = result_def()
    counts = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        shape, operand = shapes[0], self.optional_operand(1)
        total: Dimension
        if operand is None:
            total = element_count(shape) or -1
            distinct = 1 if total == 1 else -1
            values: SymbolicShape = (distinct,)
        else:
            axis = known.integers(operand)
            if axis is None or len(axis) != 1:
                raise InferenceError("the axis is one constant number")
            values, total = None, -1
            if shape is not None:
                position = normalize_axis(axis[0], len(shape))
                total = shape[position]
                values = (*shape[:position], total if total in (0, 1) else -1, *shape[position + 1 :])
            distinct = 0 if total == 0 else -1
        return values, (distinct,), (total,), (distinct,)

    def result_elements(self) -> Sequence[Attribute]:
        index = self.element("index_element_type")
        return self.element_type(0), index, index, self.element("count_element_type")

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data = operands[0]
        if data.dtype.kind not in "iufb":
            return None
        axis = int(operands[1].ravel()[0]) if len(operands) > 1 else None
        values, first, inverse, counts = np.unique(data, return_index=True, return_inverse=True, return_counts=True, axis=axis)
        inverse = inverse.reshape(-1)
        if not self.flag("sorted"):
            order = np.argsort(first, kind="stable")
            values = values[order] if axis is None else np.take(values, order, axis)
            first, inverse, counts = first[order], np.argsort(order)[inverse], counts[order]
        index, count = (element_types.to_numpy(self.element(name)) for name in ("index_element_type", "count_element_type"))
        return values, first.astype(index), inverse.astype(index), counts.astype(count)
