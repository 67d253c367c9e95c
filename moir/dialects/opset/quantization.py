"""Operations that round floating-point data to the precision of a narrower type and keep its element type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import Array
from moir.dialects.element_types import f8e4m3, f8e5m2
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    deferred_definition,
    element_property,
    integer_property,
    optional_operands,
    string_property,
)
from moir.dialects.shapes import Shapes, SymbolicShape, broadcast_shapes, format_shape, is_fixed, merge_shapes
from moir.errors import InferenceError


def check_fits(shape: SymbolicShape, data: SymbolicShape) -> None:
    """Raise InferenceError if a shape cannot be broadcast to that of the data, leading dimensions of 1 aside."""
    if shape is None or data is None:
        return
    lead = max(0, len(shape) - len(data))
    own = shape[lead:]
    pairs = zip(own, data[len(data) - len(own) :], strict=True)
    too_large = any(is_fixed(a) and a > 1 for a in shape[:lead])
    if too_large or any(is_fixed(a) and is_fixed(b) and a not in (1, b) for a, b in pairs):
        raise InferenceError(f"shape {format_shape(shape)} does not broadcast into the data's {format_shape(data)}")


@deferred_definition
class FakeQuantize(OpsetOp):
    """Data clamped to an input range, rounded to one of `levels` evenly spaced values and mapped to an output range.

    The four limits are broadcast to the data. Values at or below the lower input limit become output_low, those above
    the higher one output_high.
    """

    name = "opset1.FakeQuantize"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    data = operand_def()
    input_low = operand_def()
    input_high = operand_def()
    output_low = operand_def()
    output_high = operand_def()
    levels = integer_property()
    auto_broadcast = string_property("numpy", "none", "numpy", "pdpd")
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data = shapes[0]
        for limit in shapes[1:]:
            if self.text("auto_broadcast") == "none":
                merge_shapes(data, limit)
            else:
                check_fits(limit, data)
        return data

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        if operands[0].dtype != np.float32 or self.text("auto_broadcast") == "pdpd":
            return None
        data, input_low, input_high, output_low, output_high = operands
        steps = np.float32(self.integer("levels") - 1)
        level = np.rint((data - input_low) / (input_high - input_low) * steps)
        inside = level / steps * (output_high - output_low) + output_low
        below, above = data <= np.minimum(input_low, input_high), data > np.maximum(input_low, input_high)
        result = np.where(below, output_low, np.where(above, output_high, inside))
        return (result.astype(data.dtype).reshape(data.shape),)

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.integer("levels") < 2:
            raise VerifyException("levels is below 2")


@deferred_definition
class FakeConvert(OpsetOp):
    """data * scale - shift, rounded to an 8-bit float and mapped back.

    Scale and shift have one shape, which is broadcast to that of the data.
    """

    name = "opset13.FakeConvert"
    POINTWISE: ClassVar[bool] = True
    data = operand_def()
    scale = operand_def()
    shift = optional_operands(1)
    destination_type = element_property(f8e4m3)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, factor = shapes[:2]
        if self.optional_operand(2) is not None:
            factor = None if factor is None else merge_shapes(factor, shapes[2])
        check_fits(factor, shape)
        if factor is not None and shape is not None and len(factor) > len(shape):
            raise InferenceError(f"shape {format_shape(factor)} does not broadcast into the data's {format_shape(shape)}")
        return broadcast_shapes(shape, factor)

    def result_element(self) -> Attribute:
        return self.common_element()

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.element("destination_type") not in (f8e4m3, f8e5m2):
            raise VerifyException("destination_type is neither f8e4m3 nor f8e5m2")
