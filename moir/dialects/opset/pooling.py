"""Pooling over sliding windows, and over a given number of cells. Layout of data: N, C, spatial axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.element_types import si64
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    element_property,
    integer_property,
    integers_property,
    string_property,
)
from moir.dialects.opset.interfaces.spatial import AUTO_PAD, ROUNDING, SlidingWindowOp, expanded
from moir.dialects.shapes import Shapes, SymbolicShape, element_count
from moir.errors import InferenceError


class PoolingOp(SlidingWindowOp):
    """Base of the pooling operations with a kernel, whose rank is the number of spatial axes."""

    ROUNDS_AS_TORCH: ClassVar[bool] = True
    """Whether this version of the operation has the rounding type `ceil_torch`."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        kernel = self.integers("kernel")
        data = expanded(shapes[0], len(kernel) + 2, "data")
        return (data[0], data[1], *self.result_sizes(data[2:], kernel, self.text("rounding_type")))

    def check_invariants(self) -> None:
        super().check_invariants()
        if len(self.integers("kernel")) != len(self.integers("strides")):
            raise VerifyException("kernel and strides have different numbers of entries")
        if not self.ROUNDS_AS_TORCH and self.text("rounding_type") == "ceil_torch":
            raise VerifyException("rounding_type 'ceil_torch' exists since opset14")


class AvgPoolOp(PoolingOp):
    """Base of the averaging operations.

    If padding is excluded, each window must contain an element, since the mean of an empty window is undefined.
    """

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"exclude-pad": True}

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.text("auto_pad") != "explicit" or not self.flag("exclude-pad"):
            return
        for axis, window in enumerate(self.windows(self.integers("kernel"))):
            if max(window.pad_begin, window.pad_end) >= window.extent:
                raise VerifyException(f"along spatial axis {axis} a window of {window.extent} elements can lie in the padding alone")


@deferred_definition
class AvgPool1(AvgPoolOp):
    """Mean of each window; `exclude-pad` excludes padding from the count."""

    name = "opset1.AvgPool"
    ROUNDS_AS_TORCH: ClassVar[bool] = False
    data = operand_def()
    kernel = integers_property()
    strides = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    exclude_pad = boolean_property(xml="exclude-pad")
    auto_pad = string_property("explicit", *AUTO_PAD)
    rounding_type = string_property("floor", *ROUNDING)
    result = result_def()


@deferred_definition
class AvgPool14(AvgPoolOp):
    """Mean of each window; `exclude-pad` excludes padding from the count."""

    name = "opset14.AvgPool"
    data = operand_def()
    kernel = integers_property()
    strides = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    exclude_pad = boolean_property(xml="exclude-pad")
    auto_pad = string_property("explicit", *AUTO_PAD)
    rounding_type = string_property("floor", *ROUNDING)
    result = result_def()


@deferred_definition
class AvgPool(AvgPoolOp):
    """Mean of each window, whose elements are `dilations` apart; `exclude-pad` excludes padding from the count."""

    name = "opset16.AvgPool"
    data = operand_def()
    kernel = integers_property()
    strides = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    exclude_pad = boolean_property(xml="exclude-pad")
    auto_pad = string_property("explicit", *AUTO_PAD)
    rounding_type = string_property("floor", *ROUNDING)
    dilations = integers_property(())
    result = result_def()


@deferred_definition
class MaxPool1(PoolingOp):
    """Maximum of each window."""

    name = "opset1.MaxPool"
    ROUNDS_AS_TORCH: ClassVar[bool] = False
    data = operand_def()
    strides = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    kernel = integers_property()
    rounding_type = string_property("floor", *ROUNDING)
    auto_pad = string_property("explicit", *AUTO_PAD)
    result = result_def()


class IndexedMaxPoolOp(PoolingOp):
    """Maximum of each window and its index, in the data with the dimensions from `axis` on flattened."""

    data = operand_def()
    strides = integers_property()
    dilations = integers_property(())
    pads_begin = integers_property()
    pads_end = integers_property()
    kernel = integers_property()
    rounding_type = string_property("floor", *ROUNDING)
    auto_pad = string_property("explicit", *AUTO_PAD)
    index_element_type = element_property(si64)
    axis = integer_property(0)
    result = result_def()
    indices = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        return (self.result_shape(shapes, known),) * 2

    def result_elements(self) -> Sequence[Attribute]:
        return self.element_type(0), self.element("index_element_type")

    def check_invariants(self) -> None:
        super().check_invariants()
        rank = len(self.integers("kernel")) + 2
        if not -rank <= self.integer("axis") < rank:
            raise VerifyException(f"axis {self.integer('axis')} is outside a tensor of rank {rank}")


@deferred_definition
class MaxPool8(IndexedMaxPoolOp):
    """Maximum of each window and its index."""

    name = "opset8.MaxPool"
    ROUNDS_AS_TORCH: ClassVar[bool] = False


@deferred_definition
class MaxPool(IndexedMaxPoolOp):
    """Maximum of each window and its index; this version introduces the rounding type `ceil_torch`."""

    name = "opset14.MaxPool"


class AdaptivePoolOp(OpsetOp):
    """Base of the pooling operations that divide the spatial axes into a given number of cells [spatial axes]."""

    data = operand_def()
    output_shape = operand_def()

    SPATIAL_RANKS: ClassVar[tuple[int, ...]] = (1, 2, 3)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data = shapes[0]
        if data is None:
            return None
        if len(data) - 2 not in self.SPATIAL_RANKS:
            raise InferenceError(f"data of rank {len(data)} has no spatial axes to pool")
        count = element_count(shapes[1])
        if count is not None and count != len(data) - 2:
            raise InferenceError(f"output_shape has {count} entries where data has {len(data) - 2} spatial axes")
        sizes = known.sizes(self.operands[1])
        return (*data[:2], *(sizes or (-1,) * (len(data) - 2)))


@deferred_definition
class AdaptiveAvgPool(AdaptivePoolOp):
    """Mean of each cell."""

    name = "opset8.AdaptiveAvgPool"
    result = result_def()


@deferred_definition
class AdaptiveMaxPool(AdaptivePoolOp):
    """Maximum of each cell and its index in the flattened spatial axes."""

    name = "opset8.AdaptiveMaxPool"
    index_element_type = element_property(si64)
    result = result_def()
    indices = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        return (self.result_shape(shapes, known),) * 2

    def result_elements(self) -> Sequence[Attribute]:
        return self.element_type(0), self.element("index_element_type")
