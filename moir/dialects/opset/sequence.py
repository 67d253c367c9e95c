"""Cumulative sum and one-hot encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.element_types import dynamic, si32, si64
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import INTEGERS, narrowed, require_element, widened
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, integer_property, string_property
from moir.dialects.shapes import Shapes, SymbolicShape, element_of, normalize_axis
from moir.errors import InferenceError


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
        size = int(depth.reshape(()))
        axis = normalize_axis(self.integer("axis"), indices.ndim + 1)
        position = np.expand_dims(self.position(indices.astype(np.int64), size), axis)
        steps = np.arange(size).reshape([-1 if index == axis else 1 for index in range(indices.ndim + 1)])
        return (np.where(position == steps, on_value.reshape(()), off_value.reshape(())),)


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
