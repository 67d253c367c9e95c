"""Conversion of the colour planes of images: NV12, I420, RGB and BGR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.element_types import dynamic, f32, ui8
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import require_element
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, optional_operands
from moir.dialects.opset.interfaces.spatial import agrees, expanded
from moir.dialects.shapes import Shapes, SymbolicShape, is_fixed, merge_dimensions, product
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


def halved(size: Dimension, what: str) -> Dimension:
    """Half of a size, -1 if it is dynamic. Raises InferenceError for an odd size."""
    if not is_fixed(size):
        return -1
    if size % 2:
        raise InferenceError(f"{what} {size} is odd")
    return size // 2


class FromPlanesOp(OpsetOp):
    """Base of the conversions of planes to colours [N, H, W, 3].

    In one operand the planes are stacked, [N, 3/2 H, W, 1]; in several the first is the brightness [N, H, W, 1] and the
    others are the colour planes [N, H/2, W/2, channels].
    """

    arg = operand_def()

    CHANNELS: ClassVar[int]
    """The number of channels of a colour plane."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        batch, height, width, channels = expanded(shapes[0], 4, "the first plane")
        if is_fixed(channels) and channels != 1:
            raise InferenceError(f"the first plane has {channels} channels, not 1")
        if len(shapes) == 1:
            if is_fixed(height) and height % 3:
                raise InferenceError(f"height {height} of the stacked planes is not a multiple of 3")
            halved(width, "width")
            return (batch, height * 2 // 3 if is_fixed(height) else -1, width, 3)
        rows, columns = halved(height, "height"), halved(width, "width")
        for index, shape in enumerate(shapes[1:], start=1):
            plane = expanded(shape, 4, f"plane {index}")
            agrees(f"plane {index}", plane, (batch, rows, columns, self.CHANNELS))
            batch = merge_dimensions(batch, plane[0])
            height, width = merge_dimensions(height, product(plane[1], 2)), merge_dimensions(width, product(plane[2], 2))
        return (batch, height, width, 3)

    def result_element(self) -> Attribute:
        element = self.common_element()
        if element not in (ui8, dynamic, f32):
            require_element(element, frozenset((ui8, f32)))
        return element

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.CHANNELS == 1 and len(self.operands) == 2:
            raise VerifyException("there are two planes, not one or three")


@deferred_definition
class NV12toBGR(FromPlanesOp):
    """Planes of NV12 to blue, green and red."""

    name = "opset8.NV12toBGR"
    CHANNELS: ClassVar[int] = 2
    planes = optional_operands(1)
    result = result_def()


@deferred_definition
class NV12toRGB(FromPlanesOp):
    """Planes of NV12 to red, green and blue."""

    name = "opset8.NV12toRGB"
    CHANNELS: ClassVar[int] = 2
    planes = optional_operands(1)
    result = result_def()


@deferred_definition
class I420toBGR(FromPlanesOp):
    """Planes of I420 to blue, green and red."""

    name = "opset8.I420toBGR"
    CHANNELS: ClassVar[int] = 1
    planes = optional_operands(2)
    result = result_def()


@deferred_definition
class I420toRGB(FromPlanesOp):
    """Planes of I420 to red, green and blue."""

    name = "opset8.I420toRGB"
    CHANNELS: ClassVar[int] = 1
    planes = optional_operands(2)
    result = result_def()


class ToPlanesOp(OpsetOp):
    """Base of the conversions of colours [N, H, W, 3] to NV12.

    With `single_plane` the result is [N, 3/2 H, W, 1], else there are two: [N, H, W, 1] and [N, H/2, W/2, 2].
    """

    data = operand_def()
    single_plane = boolean_property(True)
    outputs = var_result_def()

    def result_count(self) -> int:
        return 1 if self.flag("single_plane") else 2

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        batch, height, width, channels = expanded(shapes[0], 4, "data")
        if is_fixed(channels) and channels != 3:
            raise InferenceError(f"data has {channels} channels, not 3")
        rows, columns = halved(height, "height"), halved(width, "width")
        if self.flag("single_plane"):
            return ((batch, product(rows, 3), width, 1),)
        return (batch, height, width, 1), (batch, rows, columns, 2)

    def result_elements(self) -> Sequence[Attribute]:
        return (self.element_type(0),) * self.result_count()

    def check_invariants(self) -> None:
        super().check_invariants()
        if len(self.results) != self.result_count():
            raise VerifyException(f"there are {len(self.results)} results, not {self.result_count()}")


@deferred_definition
class BGRtoNV12(ToPlanesOp):
    """Blue, green and red to planes of NV12."""

    name = "opset17.BGRtoNV12"


@deferred_definition
class RGBtoNV12(ToPlanesOp):
    """Red, green and blue to planes of NV12."""

    name = "opset17.RGBtoNV12"
