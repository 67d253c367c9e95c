"""Conversions of the element type, and the types that arithmetic promotes its operands to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, boolean, describe, dynamic, f16, f32, interned, string, ui64
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.infrastructure import converted
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds, integer_limits
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, element_property
from moir.dialects.shapes import Shapes, SymbolicShape
from moir.errors import InferenceError


class ConversionOp(OpsetOp):
    """Base of the conversions of the first operand; floats are truncated towards zero, anything but zero is true."""

    PASSES_ERRORS_ON: ClassVar[bool] = True
    POINTWISE: ClassVar[bool] = True
    SYMBOLIC: ClassVar[bool] = True

    data = operand_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        return self.element_type(0) is not dynamic

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        return converted(operands[0], self.element_type(0), self.result_element())


@deferred_definition
class Convert(ConversionOp):
    """Conversion to the element type `destination_type`."""

    name = "opset1.Convert"
    destination_type = element_property()
    result = result_def()

    def result_element(self) -> Attribute:
        return self.element("destination_type")

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        element = self.element_type(0)
        if element == boolean:
            return 0.0, 1.0
        return None if integer_limits(element) is None else of(0)


@deferred_definition
class ConvertLike(ConversionOp):
    """Conversion to the element type of the second operand."""

    name = "opset1.ConvertLike"
    like = operand_def()
    result = result_def()

    def result_element(self) -> Attribute:
        return self.element_type(1)


_DOUBLED_REALS = {8: f16, 16: f32}
"""Width in bits -> the type to which two different floating-point types of this width are promoted."""


def _is_signed(element: Attribute) -> bool:
    return describe(element).xml.startswith("i")


def _category(element: Attribute) -> int:
    """The rank of a type in the order of promotion: 0 for booleans, 1 for integers, 2 for floats."""
    return 0 if element == boolean else 2 if element in REAL_TYPES else 1


def promoted(a: Attribute, b: Attribute, of_ui64: Attribute) -> Attribute:
    """The element type to which opset14.ConvertPromoteTypes converts its two operands.

    Args:
        a, b: the element types of the operands.
        of_ui64: the result for ui64 together with a signed integer type of any width.
    """
    if dynamic in (a, b):
        return dynamic
    if a == b or _category(a) != _category(b):
        return a if _category(a) >= _category(b) else b
    width, other = describe(a).bits, describe(b).bits
    if _category(a) == 2:
        return _DOUBLED_REALS[width] if width == other else a if width > other else b
    if _is_signed(a) == _is_signed(b):
        return a if width > other else b
    signed, unsigned = (a, b) if _is_signed(a) else (b, a)
    if describe(signed).bits > describe(unsigned).bits:
        return signed
    if unsigned == ui64:
        return of_ui64
    return interned(IntegerType(2 * describe(unsigned).bits, Signedness.SIGNED))


def _holds(wide: Attribute, narrow: Attribute) -> bool:
    """Whether conversion to the type `wide` keeps the values of `narrow` as far as promotion requires.

    `wide` is in the same category as `narrow` or a later one, in the order booleans, integers, floats.
    """
    if _category(wide) == 2 and _category(narrow) == 1:
        return describe(wide).bits >= 2 * describe(narrow).bits
    if _category(wide) == 1 and _category(narrow) == 1 and _is_signed(narrow) and not _is_signed(wide):
        return False
    return _category(narrow) == 0 or describe(wide).bits >= describe(narrow).bits


def _holds_scalar(wide: Attribute, narrow: Attribute) -> bool:
    """Whether conversion of a scalar of type `narrow` to the type `wide` of a tensor keeps its value as far as
    promotion requires, which is less strict than for tensors.
    """
    if _is_signed(wide) and _category(narrow) == 1 and not _is_signed(narrow):
        return 2 * describe(wide).bits >= describe(narrow).bits
    return _holds(wide, narrow)


@deferred_definition
class ConvertPromoteTypes(OpsetOp):
    """Both operands, converted to a common element type.

    With `pytorch_scalar_promotion` a scalar takes the type of the tensor, unless its category comes later in booleans,
    integers, floats. Without `promote_unsafe` the common type has to hold all values of both.
    """

    name = "opset14.ConvertPromoteTypes"
    a = operand_def()
    b = operand_def()
    promote_unsafe = boolean_property(False)
    pytorch_scalar_promotion = boolean_property(False)
    u64_integer_promotion_target = element_property(f32)
    first = result_def()
    second = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        return shapes

    def result_elements(self) -> Sequence[Attribute]:
        return (self.common(),) * 2

    def common(self) -> Attribute:
        """The common element type. Raises InferenceError if there is none."""
        elements = [self.element_type(index) for index in (0, 1)]
        if string in elements:
            raise InferenceError("strings are not promoted")
        if dynamic in elements:
            return dynamic
        first, second = elements
        common, holds = promoted(first, second, self.element("u64_integer_promotion_target")), _holds
        ranks = [self.rank(0), self.rank(1)]
        if self.flag("pytorch_scalar_promotion"):
            if None in ranks and first != second and _category(first) == _category(second):
                return dynamic
            if None not in ranks and ranks.count(0) == 1:
                scalar, tensor = (first, second) if ranks[0] == 0 else (second, first)
                if _category(tensor) >= _category(scalar):
                    common, holds = tensor, _holds_scalar
        if self.flag("promote_unsafe") or (common in elements and all(each == common or holds(common, each) for each in elements)):
            return common
        raise InferenceError(f"no element type holds {' and '.join(describe(each).xml for each in elements)}")

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        results = [converted(data, self.element_type(index), self.common()) for index, data in enumerate(operands)]
        return [each[0] for each in results if each is not None] if None not in results else None
