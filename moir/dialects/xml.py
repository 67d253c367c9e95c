"""The spelling of operations in the IR: type and version of a layer, and the attributes of its `<data>`, for reading
and writing.

`opset1.Relu` is the layer of type `ReLU` and version `opset1`, and `strides = [1, 2]` is `strides="1,2"`. A property is
written in the form that its attribute has (`text_of`), and read in the form that its class declares (`attribute_of`);
`SCALARS` and `LISTS` define the forms for both. Texts here are not escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

from xdsl.ir import Attribute

from moir.dialects import element_types, opset
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import PropertyKind, PropertySpec, property_table
from moir.dialects.properties import value_of
from moir.support.records import Record

RESPELLED = ("opset1.Constant", "opset1.PRelu", "opset1.Relu", "opset1.Softmax", "opset8.Softmax")
"""The operations whose classes have an `XML_TYPE`. A reader finds them here without importing all classes."""

EARLIER_MEMBERS = frozenset(("LogicalXor", "MVN", "ROIPooling", "ReorgYolo"))
"""Operations of `opset2` that layers with the version `opset1` may be, too."""

PORT_MAP_PROPERTIES = {
    "If": frozenset(("then_inputs", "else_inputs")),
    "Loop": frozenset(("inputs", "outputs", "condition")),
    "TensorIterator": frozenset(("inputs", "outputs")),
}
"""Kind of an operation -> its properties that are written as port maps, not to `<data>`."""


def layer_type(operation: type[OpsetOp]) -> str:
    """The type of the layers of an operation."""
    return operation.XML_TYPE or operation.KIND


def respelled_operations() -> list[type[OpsetOp]]:
    """The operations whose layer type is not their kind."""
    return [opset.operation(name) for name in RESPELLED]


@cache
def _kinds() -> dict[str, str]:
    return {operation.XML_TYPE: operation.KIND for operation in respelled_operations()}


def kind_of_layer_type(type_: str) -> str:
    """The kind of the operation that a layer type means, the inverse of `layer_type`: `ReLU` -> `Relu`."""
    return _kinds().get(type_, type_)


@cache
def _kinds_in_lower_case() -> dict[str, str]:
    kinds = dict.fromkeys(name.partition(".")[2] for name in opset.names())
    return {kind.lower(): kind for kind in kinds} | {type_.lower(): kind for type_, kind in _kinds().items()}


@cache
def operation_of_layer(type_: str, version: str) -> type[OpsetOp] | None:
    """The class of the layers of a type in an operation set, `opset8`; None if the set has no such operation.

    A layer may name any operation set that has the operation: the class is the newest up to that set. The case of the
    type does not matter.
    """
    number = re.fullmatch(r"opset(\d{1,4})", version)
    kind = _kinds_in_lower_case().get(type_.lower())
    if number is None or kind is None or version not in opset.OPSETS:
        return None
    newest = max(int(number[1]), 2 if kind in EARLIER_MEMBERS else 0)
    versions_of_type = [name for name in opset.versions(kind) if int(name.partition(".")[0].removeprefix("opset")) <= newest]
    return opset.operation(versions_of_type[-1]) if versions_of_type else None


class Form(Record):
    """The text form of values.

    Args:
        write: the text of a Python value.
        read: the Python value of a text; raises ValueError or KeyError for a text of another form.
    """

    write: Callable[[Any], str]
    read: Callable[[str], Any]


_ALIASES = {"undefined": "dynamic"}
_WORDS_FOR_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


def _boolean(text: str) -> bool:
    return _WORDS_FOR_BOOLEANS[text.strip().lower()]


def _element_text(element: Attribute) -> str:
    return element_types.describe(element).xml


def _element(text: str) -> Attribute:
    return element_types.from_xml(_ALIASES.get(text, text))


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        # An integer attribute with a decimal point is truncated.
        return int(float(text))


SCALARS: Mapping[str, Form] = {
    "bool": Form(_boolean_text, _boolean),
    "int": Form(repr, _integer),
    "float": Form(repr, float),
    "str": Form(str, str),
    "element": Form(_element_text, _element),
}
"""Kind of a property with a single value -> the text form of its value."""

LISTS: Mapping[str, Form] = {"ints": SCALARS["int"], "floats": SCALARS["float"], "strs": Form(str, str.strip)}
"""Kind of a property that is a list -> the text form of its items, which commas separate."""


def text_of(attribute: Attribute) -> str:
    """The text of a property, by the form of its attribute. Raises ValueError for one that the IR cannot represent.

    Booleans are `true` and `false`, floats have the shortest text that reads back, lists are separated by commas.
    """
    if element_types.is_element_type(attribute):
        return SCALARS["element"].write(attribute)
    value = value_of(attribute)
    if isinstance(value, Attribute):
        raise ValueError(f"a property of the form {type(attribute).__name__} has no place in the IR")
    if isinstance(value, tuple):
        return ",".join([_item_text(item) for item in cast("tuple[object, ...]", value)])
    return SCALARS[type(value).__name__].write(value)


def _item_text(item: object) -> str:
    if isinstance(item, tuple | Attribute) or (isinstance(item, str) and "," in item):
        raise ValueError(f"the IR cannot represent a list that contains {item!r}")
    return SCALARS[type(item).__name__].write(item)


def attribute_of(kind: PropertyKind, text: str) -> Attribute:
    """The attribute of a property for its text, the inverse of `text_of`. Raises ValueError if the text has none.

    Words may be in any case. A list may have spaces around its items.
    """
    try:
        if kind.kind in LISTS:
            item = LISTS[kind.kind]
            values = [item.read(each) for each in text.split(",")] if text.strip() else []
            return kind.attribute([_word(kind, each) for each in values])
        return kind.attribute(_word(kind, SCALARS[kind.kind].read(text)))
    except (ValueError, KeyError, OverflowError):
        form = _FORMS.get(kind.kind, kind.kind)
        expected = f"one of {', '.join(kind.allowed)}" if kind.allowed else form
        raise ValueError(f"{text!r} is not {expected}") from None


_FORMS = {
    "bool": "true or false",
    "int": "an integer",
    "float": "a number",
    "element": "an element type",
    "ints": "a list of integers",
    "floats": "a list of numbers",
}


def _word(kind: PropertyKind, value: Any) -> Any:
    """An enumeration value in the spelling of the class, whatever its case; values of other kinds are returned
    unchanged. Raises KeyError for a value that is not allowed.
    """
    if not kind.allowed or value in kind.allowed:
        return value
    return {word.lower(): word for word in kind.allowed}[value.lower()]


_ZEROS: Mapping[str, Any] = {
    "bool": False,
    "int": 0,
    "float": 0.0,
    "str": "",
    "element": element_types.dynamic,
    "ints": (),
    "floats": (),
    "strs": (),
}


class LayerProperties(Record):
    """The attributes of a `<data>`.

    Args:
        properties: attributes that the class declares, with defaults for those that are missing.
        unknown: other attributes, as texts.
    """

    properties: Mapping[str, Attribute]
    unknown: Mapping[str, str]


def properties_of(operation: type[OpsetOp], texts: Mapping[str, str]) -> LayerProperties:
    """The properties of an operation for the attributes of its `<data>`.

    A missing attribute has the value that it stands for: that of `OpsetOp.UNWRITTEN`, else the default of
    the class, else zero. Raises ValueError, with the name of the attribute, for a text that is not a value of it, and
    for a missing word that has no default.
    """
    table = property_table(operation)
    specs, defaults = table.specs, table.defaults
    properties = dict(defaults)
    properties |= {name: specs[name].kind.attribute(value) for name, value in operation.UNWRITTEN.items()}
    unknown: dict[str, str] = {}
    for name, text in texts.items():
        spec = written_properties(operation).get(name)
        if spec is None:
            unknown[name] = text
            continue
        try:
            properties[name] = attribute_of(spec.kind, text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    for name, spec in written_properties(operation).items():
        if name not in properties and not spec.optional:
            if spec.kind.allowed or spec.kind.kind not in _ZEROS:
                raise ValueError(f"its attribute {name} is missing")
            properties[name] = spec.kind.attribute(_ZEROS[spec.kind.kind])
    return LayerProperties(properties, unknown)


@cache
def written_properties(operation: type[OpsetOp]) -> Mapping[str, PropertySpec]:
    """The properties of an operation that are attributes of `<data>`, in the order of the class."""
    ports = PORT_MAP_PROPERTIES.get(operation.KIND, frozenset[str]())
    return {name: spec for name, spec in property_table(operation).specs.items() if name not in ports}
