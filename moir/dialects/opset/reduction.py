"""Reductions along the axes that the second operand lists, and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.element_types import dynamic, si32, si64
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.arithmetic import larger, smaller
from moir.dialects.opset.interfaces.elementwise import BOOLEANS, INTEGERS, NUMBERS, is_real, narrowed, require_element, widened
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition
from moir.dialects.opset.interfaces.truth import both, either
from moir.dialects.shapes import AnyDimension, Shapes, SymbolicShape, are_same_axes, normalize_axis
from moir.dialects.symbols import is_symbolic, simplified
from moir.errors import InferenceError


def reduced_shape(shape: tuple[AnyDimension, ...], axes: Sequence[int], keep_dims: bool) -> tuple[AnyDimension | int, ...]:
    """Shape after a reduction along axes. Raises InferenceError for an axis out of range."""
    # Without `keep_dims` there is axis 0 for a scalar, which has no axes.
    rank = len(shape) if shape or keep_dims else 1
    reduced = {normalize_axis(axis, rank) for axis in axes}
    if keep_dims:
        return tuple([1 if index in reduced else dimension for index, dimension in enumerate(shape)])
    return tuple([dimension for index, dimension in enumerate(shape) if index not in reduced])


def unknown_reduction(shape: SymbolicShape, axes: SymbolicShape, keep_dims: bool) -> SymbolicShape:
    """Shape after a reduction along unknown axes; `axes` is the shape of their operand."""
    if shape is None:
        return None
    if keep_dims:
        return (-1,) * len(shape)
    # Several axes may contain duplicates, so the rank is certain only for a single axis.
    return (-1,) * max(0, len(shape) - 1) if axes in ((), (1,)) else None


class ReductionOp(OpsetOp):
    """Base of the reductions.

    `axes` has rank 0 or 1; if it is empty, each element is reduced separately.
    """

    data = operand_def()
    axes = operand_def()
    keep_dims = boolean_property(False)
    result = result_def()

    ELEMENTS: ClassVar[frozenset[Attribute]] = NUMBERS
    FUNCTION: ClassVar[np.ufunc]
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = None
    """Function of two elements that may be symbols; None if the operation does not accept symbols."""
    KEEPS_SINGLE: ClassVar[bool] = True
    """Whether the reduction of a single element is this element."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, count = shapes
        if count is not None and len(count) > 1:
            raise InferenceError("axes should be a scalar or have one dimension")
        axes, keep_dims = known.integers(self.operands[1]), self.flag("keep_dims")
        if shape is None or axes is None:
            return unknown_reduction(shape, count, keep_dims)
        return reduced_shape(shape, axes, keep_dims)

    def result_element(self) -> Attribute:
        element = self.element_type(0)
        require_element(element, self.ELEMENTS)
        if self.element_type(1) not in INTEGERS:
            raise InferenceError("axes should be integers")
        return element

    def means_same(self, index: int, a: Array, b: Array) -> bool:
        return index == 1 and are_same_axes(a.ravel().tolist(), b.ravel().tolist(), self.rank(0))

    def gives_back_operand(self, known: OperandValues) -> bool:
        axes, rank = known.integers(self.operands[1]), self.rank(0)
        if axes is None or rank is None or not self.KEEPS_SINGLE or not self.flag("keep_dims"):
            return False
        return all(known.dimension(self.operands[0], axis % rank) == 1 for axis in axes if rank)

    def compute(self, x: Array, axes: tuple[int, ...]) -> Array | None:
        """The result with reduced dimensions kept, for numbers of at least 32 bits; None if it is not defined."""
        if x.size == 0 and self.FUNCTION.identity is None:
            return None
        return self.FUNCTION.reduce(x, axis=axes, keepdims=True)

    def compute_symbolic(self, x: Array, axes: tuple[int, ...]) -> Array | None:
        """The result with reduced dimensions kept, for an array with symbols in it; None without elements, and for
        operations that cannot compute with symbols.
        """
        function = self.SCALAR_FUNCTION
        if function is None or x.size == 0:
            return None
        for axis in axes:
            x = function.reduce(x, axis=axis, keepdims=True)
        return x

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        x = operands[0]
        if is_symbolic(operands[1]):
            return None
        axes = tuple({normalize_axis(int(axis), x.ndim) for axis in operands[1].ravel()}) if x.ndim else ()
        if is_symbolic(x):
            result = self.compute_symbolic(x, axes)
            result = None if result is None else simplified(result, x.dtype)
        else:
            result = self.compute(widened(x), axes)
            result = None if result is None else narrowed(result, x.dtype)
        if result is None:
            return None
        return (result if self.flag("keep_dims") else result.reshape(reduced_shape(x.shape, axes, False)),)


@deferred_definition
class ReduceL1(ReductionOp):
    """Sum of absolute values."""

    name = "opset4.ReduceL1"
    KEEPS_SINGLE: ClassVar[bool] = False

    def compute(self, x: Array, axes: tuple[int, ...]) -> Array | None:
        return np.sum(np.abs(x), axis=axes, keepdims=True)


@deferred_definition
class ReduceL2(ReductionOp):
    """Square root of the sum of squares."""

    name = "opset4.ReduceL2"
    KEEPS_SINGLE: ClassVar[bool] = False

    def compute(self, x: Array, axes: tuple[int, ...]) -> Array | None:
        return np.sqrt(np.sum(np.square(x), axis=axes, keepdims=True)) if is_real(x) else None


@deferred_definition
class ReduceLogicalAnd(ReductionOp):
    """Whether all elements are true."""

    name = "opset1.ReduceLogicalAnd"
    ELEMENTS: ClassVar[frozenset[Attribute]] = BOOLEANS
    FUNCTION: ClassVar[np.ufunc] = np.logical_and
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = both
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class ReduceLogicalOr(ReductionOp):
    """Whether any element is true."""

    name = "opset1.ReduceLogicalOr"
    ELEMENTS: ClassVar[frozenset[Attribute]] = BOOLEANS
    FUNCTION: ClassVar[np.ufunc] = np.logical_or
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = either
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class ReduceMax(ReductionOp):
    """The largest element."""

    name = "opset1.ReduceMax"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.maximum
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = larger
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class ReduceMean(ReductionOp):
    """The mean of the elements."""

    name = "opset1.ReduceMean"

    def compute(self, x: Array, axes: tuple[int, ...]) -> Array | None:
        return np.mean(x, axis=axes, keepdims=True) if is_real(x) and x.size else None


@deferred_definition
class ReduceMin(ReductionOp):
    """The smallest element."""

    name = "opset1.ReduceMin"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.minimum
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = smaller
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class ReduceProd(ReductionOp):
    """The product of the elements."""

    name = "opset1.ReduceProd"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.multiply
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = np.multiply
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class ReduceSum(ReductionOp):
    """The sum of the elements."""

    name = "opset1.ReduceSum"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.add
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = np.add
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class CumSum(OpsetOp):
    """Cumulative sums along an axis; `exclusive` excludes the element itself, `reverse` starts at the end."""

    name = "opset3.CumSum"
    AXES: ClassVar[AlongAxes | None] = AlongAxes(operand=1)
    data = operand_def()
    axis = operand_def()
    exclusive = boolean_property(False)
    reverse = boolean_property(False)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]

    def result_element(self) -> Attribute:
        if self.element_type(1) not in (si32, si64, dynamic):
            raise InferenceError("the axis should be i32 or i64")
        return self.element_type(0)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, axis = operands[0], normalize_axis(int(operands[1].reshape(())), operands[0].ndim)
        x = np.moveaxis(widened(data), axis, 0)
        x = x[::-1] if self.flag("reverse") else x
        total = np.cumsum(x, axis=0, dtype=x.dtype)
        if self.flag("exclusive"):
            total = np.concatenate([np.zeros_like(x[:1]), total[:-1]])
        total = total[::-1] if self.flag("reverse") else total
        return (narrowed(np.moveaxis(total, 0, axis), data.dtype),)
