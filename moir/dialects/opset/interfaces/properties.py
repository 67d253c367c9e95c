"""Properties of operations: their kinds, their definitions in IRDL classes, and their values in Python."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from threading import RLock
from typing import Any, Self, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrConstraint, IRDLOperation, OpDef, OptPropertyDef, VarOperand, irdl_op_definition, prop_def, var_operand_def
from xdsl.irdl.constraints import AnyAttr, AtMost, RangeOf, VerificationContext
from xdsl.utils.exceptions import VerifyException

from moir.dialects.element_types import is_element_type
from moir.dialects.operand_list import OPERANDS
from moir.dialects.operation_class import OperationClass
from moir.dialects.properties import (
    FALSE,
    TRUE,
    attribute_of,
    boolean_attribute,
    float_attribute,
    floats_attribute,
    floats_of,
    integer_attribute,
    integers_attribute,
    integers_of,
    is_float,
    is_floats,
    is_integer,
    is_integers,
    string_attribute,
    strings_attribute,
    value_of,
)
from moir.support.records import Record

OperationT = TypeVar("OperationT", bound=IRDLOperation)
_DEFINING = RLock()
_PLAIN_TYPES = frozenset((bool, int, float, str, tuple, list))


class PropertyKind(AttrConstraint[Attribute]):
    """The form of a property: `int`, `bool`, `float`, `str`, `element` (an element type), `ints`, `floats` or `strs`.

    `allowed` lists the permitted values of a string, or of each string of a list.
    """

    def __init__(self, kind: str, allowed: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.allowed = allowed

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((self.kind, self.allowed))

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.accepts(attr):
            raise VerifyException(f"{attr} is not a property of kind {self.kind}")
        if self.allowed:
            value = value_of(attr)
            for text in (value,) if isinstance(value, str) else cast("tuple[str, ...]", value):
                if text not in self.allowed:
                    raise VerifyException(f"{text!r} is not one of {', '.join(self.allowed)}")

    def accepts(self, attr: Attribute) -> bool:
        """Whether an attribute has this form, regardless of the permitted values."""
        match self.kind:
            case "int":
                return is_integer(attr)
            case "bool":
                return attr in (TRUE, FALSE)
            case "float":
                return is_float(attr)
            case "str":
                return isinstance(attr, StringAttr)
            case "element":
                return is_element_type(attr)
            case "ints":
                return is_integers(attr)
            case "floats":
                return is_floats(attr)
            case _:
                return isinstance(attr, ArrayAttr) and all(isinstance(item, StringAttr) for item in cast("ArrayAttr[Attribute]", attr))

    def attribute(self, value: Any) -> Attribute:
        """The attribute of this form for a Python value, or for an attribute of another form; one of this form is
        unchanged.
        """
        # isinstance(x, Attribute) is slow.
        if type(value) not in _PLAIN_TYPES and isinstance(value, Attribute):
            return value if self.accepts(value) or self.kind == "element" else self.attribute(value_of(value))
        match self.kind:
            case "int":
                return integer_attribute(int(value))
            case "bool":
                return boolean_attribute(bool(value))
            case "float":
                return float_attribute(float(value))
            case "str":
                return string_attribute(str(value))
            case "ints":
                return integers_attribute(tuple(int(item) for item in value))
            case "floats":
                return floats_attribute(tuple(float(item) for item in value))
            case "strs":
                return strings_attribute([str(item) for item in value])
            case _:
                return attribute_of(value)

    def from_text(self, attr: Attribute) -> Attribute:
        """The attribute in this form for an attribute that was parsed; for a float, an integer is accepted.

        Raises ValueError if it has no such form.
        """
        if self.kind in ("attribute", "element") or self.accepts(attr):
            return attr
        try:
            converted = self.attribute(attr)
            if _plain(converted) == _plain(attr):
                return converted
        except (TypeError, ValueError, OverflowError):
            pass
        raise ValueError(f"{attr} is not a property of kind {self.kind}")

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> Self:
        return self


def _plain(attr: Attribute) -> object:
    value = value_of(attr)
    return list(cast("Any", value)) if isinstance(value, list | tuple) else value


def integer_property(default: int | None = None, *, xml: str | None = None) -> Attribute:
    """Define a property that is an integer.

    As in all functions like this one, `default` is its default value (None: the property is required), and `xml` its
    name in the XML, by default that of the class attribute.
    """
    return prop_def(PropertyKind("int"), None if default is None else integer_attribute(default), prop_name=xml)


def boolean_property(default: bool | None = None, *, xml: str | None = None) -> Attribute:
    """Define a property that is a boolean."""
    return prop_def(PropertyKind("bool"), None if default is None else boolean_attribute(default), prop_name=xml)


def float_property(default: float | None = None, *, xml: str | None = None) -> Attribute:
    """Define a property that is a float."""
    return prop_def(PropertyKind("float"), None if default is None else float_attribute(default), prop_name=xml)


def string_property(default: str | None = None, *allowed: str, xml: str | None = None) -> Attribute:
    """Define a property that is a string, one of `allowed` if any are given."""
    return prop_def(PropertyKind("str", allowed), None if default is None else string_attribute(default), prop_name=xml)


def element_property(default: Attribute | None = None, *, xml: str | None = None) -> Attribute:
    """Define a property that is an element type."""
    return prop_def(PropertyKind("element"), default, prop_name=xml)


def integers_property(default: tuple[int, ...] | None = None, *, xml: str | None = None) -> Attribute:
    """Define a property that is a list of integers."""
    return prop_def(PropertyKind("ints"), None if default is None else integers_attribute(default), prop_name=xml)


def floats_property(default: tuple[float, ...] | None = None, *, xml: str | None = None) -> Attribute:
    """Define a property that is a list of floats."""
    return prop_def(PropertyKind("floats"), None if default is None else floats_attribute(default), prop_name=xml)


def strings_property(default: tuple[str, ...] | None = None, *allowed: str, xml: str | None = None) -> Attribute:
    """Define a property that is a list of strings, each one of `allowed` if any are given."""
    return prop_def(PropertyKind("strs", allowed), None if default is None else strings_attribute(default), prop_name=xml)


def optional_operands(count: int) -> VarOperand:
    """Up to `count` trailing operands, each of which may be absent (`moir.none` if a later one is present)."""
    return var_operand_def(RangeOf(AnyAttr()).of_length(AtMost(count)))


class PropertySpec(Record):
    """A property of an operation, by its XML name: its form, and its default (None if the property is required)."""

    kind: PropertyKind
    default: Attribute | None
    optional: bool = False


class PropertyTable(Record):
    """The properties of an operation class by XML name, and the defaults of those that have one."""

    specs: Mapping[str, PropertySpec]
    defaults: Mapping[str, Attribute]


@cache
def property_table(operation: type[IRDLOperation]) -> PropertyTable:
    """The properties of an IRDL class, in the order of their definition."""
    specs = {
        name: PropertySpec(
            definition.constr if isinstance(definition.constr, PropertyKind) else PropertyKind("attribute"),
            definition.default_value,
            isinstance(definition, OptPropertyDef),
        )
        for name, definition in operation.get_irdl_definition().properties.items()
    }
    return PropertyTable(specs, {name: spec.default for name, spec in specs.items() if spec.default is not None})


def deferred_definition(operation: type[OperationT]) -> type[OperationT]:
    """`irdl_op_definition` at the time when a first operation of the class is created, or its definition asked for.

    A family has many operations of which a model has few, and a definition takes longer than all else of a class.
    """

    def define() -> None:
        # Other threads that convert models wait until the class is complete.
        with _DEFINING:
            if "create" in vars(operation):
                irdl_op_definition(operation)
                del operation.create

    def create(cls: type[OperationT], **parts: Any) -> OperationT:
        define()
        return cls.create(**parts)

    def get_irdl_definition(cls: type[OperationT]) -> OpDef:
        define()
        return cls.get_irdl_definition()

    for first_use in (create, get_irdl_definition):
        setattr(operation, first_use.__name__, classmethod(first_use))
    return operation


class PropertyAccess(Operation, metaclass=OperationClass):
    """Access to properties of an operation as Python values, whatever its dialect."""

    operands = OPERANDS  # pyright: ignore

    def integer(self, name: str) -> int:
        """The value of an integer property."""
        return cast("IntegerAttr[Any]", self.properties[name]).value.data

    def integers(self, name: str) -> tuple[int, ...]:
        """The elements of a property that is a list of integers."""
        return integers_of(self.properties[name])

    def number(self, name: str) -> float:
        """The value of a float property."""
        return cast("FloatAttr[Any]", self.properties[name]).value.data

    def numbers(self, name: str) -> tuple[float, ...]:
        """The elements of a property that is a list of floats."""
        return floats_of(self.properties[name])

    def flag(self, name: str) -> bool:
        """The value of a boolean property."""
        value: Any = self.properties[name]
        return bool(value.value.data)

    def text(self, name: str) -> str:
        """The value of a string property."""
        return cast(StringAttr, self.properties[name]).data

    def texts(self, name: str) -> tuple[str, ...]:
        """A property that is a list of strings."""
        return tuple(item.data for item in cast("ArrayAttr[StringAttr]", self.properties[name]))

    def element(self, name: str) -> Attribute:
        """A property that is an element type."""
        return self.properties[name]
