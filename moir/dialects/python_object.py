"""`#moir.python`: attributes of a node without a form of their own in the IR, set by an extension: functions, arrays, …

    mo.InceptionBlock(%0) {node_attributes = #moir.python<"{'axis': 1, 'type': 'InceptionBlock'}", "infer">}
    : tensor<*x!moir.dynamic>

The text contains the entries whose values are Python literals, and only the names of all other entries; parsing
restores the former. The emitter ignores the attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Data, Operation
from xdsl.irdl import irdl_attr_definition

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

NODE_ATTRIBUTES = "node_attributes"
"""The discardable attribute of an operation that holds its Python attributes."""


class PythonEntries(Mapping[str, Any]):
    """An immutable dictionary, shared by clones of an operation until one of them gets another dictionary."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    # Values can be arrays, whose comparison has no truth value: entries are equal only if they are the same object.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def is_literal(value: object) -> bool:
    """Whether a value is printed and parsed as a Python literal."""
    if isinstance(value, list | tuple):
        return all(is_literal(item) for item in cast("list[object]", value))
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        return all(is_literal(item) for pair in entries.items() for item in pair)
    # A float that is not finite has no literal.
    return value is None or type(value) in (bool, int, str, bytes) or (type(value) is float and value - value == 0)


@irdl_attr_definition
class PythonAttr(Data[PythonEntries]):
    """A dictionary of Python objects as an attribute, which is equal only to itself."""

    name = "moir.python"

    @staticmethod
    def of(entries: Mapping[str, Any]) -> PythonAttr:
        """An attribute with a shallow copy of the entries."""
        return PythonAttr(PythonEntries(entries))

    def print_parameter(self, printer: Printer) -> None:
        literals = {key: value for key, value in self.data.items() if is_literal(value)}
        with printer.in_angle_brackets():
            printer.print_string_literal(repr(literals))
            for key in self.data:
                if key not in literals:
                    printer.print_string(", ")
                    printer.print_string_literal(key)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> PythonEntries:
        with parser.in_angle_brackets():
            position = parser.pos
            text = parser.parse_str_literal()
            try:
                entries: object = ast.literal_eval(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                entries = None
            if not isinstance(entries, dict):
                parser.raise_error("the text of a Python dictionary is expected", position)
            while parser.parse_optional_punctuation(","):
                parser.parse_str_literal()
        return PythonEntries(cast("dict[str, Any]", entries))


def python_entries(op: Operation) -> Mapping[str, Any]:
    """The Python attributes of an operation."""
    attribute = op.attributes.get(NODE_ATTRIBUTES)
    return attribute.data if isinstance(attribute, PythonAttr) else {}


def set_python_entries(op: Operation, entries: Mapping[str, Any]) -> None:
    """Replace the Python attributes of an operation; the attribute is removed if there are no entries."""
    if entries:
        op.attributes[NODE_ATTRIBUTES] = PythonAttr.of(entries)
    else:
        op.attributes.pop(NODE_ATTRIBUTES, None)
