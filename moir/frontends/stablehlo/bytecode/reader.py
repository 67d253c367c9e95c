"""Bytecode of MLIR -> program.

Sections: strings, dialects with the names of their operations, attributes and types with their offsets, operations,
properties. Their order is free.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from moir.frontends.stablehlo.bytecode.numbers import Cursor
from moir.frontends.stablehlo.bytecode.vhlo import ATTRIBUTES, read_attribute, read_type
from moir.frontends.stablehlo.program import Block, Function, Operation, OtherType, Program, Type, Value, dictionaries

MARK = b"ML\xefR"
STRINGS, DIALECTS, ATTRIBUTE_DATA, OFFSETS, OPERATIONS, PROPERTIES = 0, 1, 2, 3, 4, 8
NEWEST_VERSION = 6
MAXIMUM_DEPTH = 100

_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _USES, _HAS_PROPERTIES = 1, 2, 4, 8, 16, 32, 64
_VERSION = re.compile(r"_v\d+$")


def read_bytecode(data: bytes, location: str) -> Program:
    """The program of an artifact. Raises ModelFileError if it is damaged, or holds other dialects than VHLO."""
    return BytecodeReader(data, location).program()


class BytecodeReader:
    """Reads one program.

    Args:
        data: the bytecode.
        location: the path of the file, for messages.
    """

    def __init__(self, data: bytes, location: str) -> None:
        cursor = Cursor(data, location)
        self._cursor = cursor
        if cursor.bytes(4) != MARK:
            cursor.fail("this is not bytecode of MLIR")
        self.version = cursor.number()
        if not 1 <= self.version <= NEWEST_VERSION:
            cursor.fail(f"bytecode of version {self.version} is not supported; versions 1 to {NEWEST_VERSION} are known")
        cursor.text()
        self._sections: dict[int, Cursor] = {}
        while not cursor.is_at_end:
            self._section(cursor)
        self._strings = self._read_strings()
        self._operations = self._read_dialects()
        self._attributes: list[tuple[str, Cursor, bool]] = []
        self._types: list[tuple[str, Cursor, bool]] = []
        self._read_offsets()
        self._known_attributes: dict[int, Any] = {}
        self._known_types: dict[int, Type] = {}
        self._properties = self._read_properties()
        self._depth = 0
        self._functions: dict[str, Function] = {}

    # Sections

    def _section(self, cursor: Cursor) -> None:
        number = cursor.byte()
        size = cursor.number()
        if number & 0x80:
            alignment = cursor.number()
            if alignment & (alignment - 1) or not alignment:
                cursor.fail("the alignment of a section is not a power of 2")
            while cursor.position % alignment:
                cursor.byte()
        self._sections[number & 0x7F] = cursor.part(size)

    def _of(self, index: int, what: str) -> Cursor:
        if index not in self._sections:
            self._cursor.fail(f"the bytecode has no {what}")
        return self._sections[index]

    def _read_strings(self) -> list[str]:
        cursor = self._of(STRINGS, "strings")
        lengths = [cursor.number() for _ in range(cursor.count("strings"))][::-1]
        return [cursor.bytes(length)[:-1].decode(errors="replace") for length in lengths]

    def _string(self, cursor: Cursor, index: int) -> str:
        if not 0 <= index < len(self._strings):
            cursor.fail(f"there is no string {index}")
        return self._strings[index]

    def _read_dialects(self) -> list[str]:
        """Read the dialects; returns the full names of operations, `DIALECT.NAME`, in the order of their ids."""
        cursor = self._of(DIALECTS, "dialects")
        dialects: list[str] = []
        for _ in range(cursor.count("dialects")):
            number, has_version = cursor.flagged()
            dialects.append(self._string(cursor, number))
            if has_version:
                cursor.part(self._version_size(cursor))
        self._dialects = dialects
        if self.version >= 4:
            cursor.number()
        names: list[str] = []
        while not cursor.is_at_end:
            dialect = cursor.number()
            for _ in range(cursor.count("operations")):
                number = cursor.flagged()[0] if self.version >= 5 else cursor.number()
                names.append(f"{self._dialect(cursor, dialect)}.{self._string(cursor, number)}")
        return names

    @staticmethod
    def _version_size(cursor: Cursor) -> int:
        """The number of bytes of the version of the dialect at a cursor; the version is a section of its own."""
        cursor.byte()
        return cursor.number()

    def _dialect(self, cursor: Cursor, index: int) -> str:
        if index >= len(self._dialects):
            cursor.fail(f"there is no dialect {index}")
        return self._dialects[index]

    def _read_offsets(self) -> None:
        cursor = self._of(OFFSETS, "offsets")
        data = self._of(ATTRIBUTE_DATA, "attributes")
        counts = cursor.number(), cursor.number()
        for objects, count in zip((self._attributes, self._types), counts, strict=True):
            while len(objects) < count:
                dialect = self._dialect(cursor, cursor.number())
                for _ in range(cursor.count("entries")):
                    size, is_custom = cursor.flagged()
                    objects.append((dialect, data.part(size), is_custom))

    def _read_properties(self) -> list[Cursor]:
        if PROPERTIES not in self._sections:
            return []
        cursor = self._sections[PROPERTIES]
        return [cursor.part(cursor.number()) for _ in range(cursor.count("properties"))]

    # Attributes and types

    def attribute(self, index: int) -> Any:
        """The attribute with index `index`; -1 - n stands for string n."""
        if index < 0:
            return self._string(self._cursor, -1 - index)
        return self._entry(index, self._attributes, self._known_attributes, read_attribute, "attribute")

    def type(self, index: int) -> Type:
        """The type with index `index`."""
        return self._entry(index, self._types, self._known_types, read_type, "type")

    def _entry(
        self, index: int, entries: list[tuple[str, Cursor, bool]], known: dict[int, Any], read: Callable[..., Any], what: str
    ) -> Any:
        if index in known:
            return known[index]
        if index >= len(entries):
            self._cursor.fail(f"there is no {what} {index}")
        dialect, data, is_custom = entries[index]
        cursor = Cursor(data.data, data.location, data.position, data.end)
        self._enter()
        if dialect == "vhlo" and is_custom:
            value: Any = read(cursor, self.type, self.attribute)
        elif dialect == "builtin" and is_custom and what == "attribute":
            value = self._builtin(cursor)
        else:
            value = OtherType("unknown") if what == "type" else None
        self._depth -= 1
        known[index] = value
        return value

    def _builtin(self, cursor: Cursor) -> Any:
        """The next builtin attribute: a list, dictionary, string, or the name in a location; None for other kinds."""
        code = cursor.number()
        match code:
            case 0:
                return [self.attribute(cursor.number()) for _ in range(cursor.count("entries"))]
            case 1:
                pairs = [(self.attribute(cursor.number()), self.attribute(cursor.number())) for _ in range(cursor.count("entries"))]
                return {str(name): value for name, value in pairs}
            case 2:
                return self._string(cursor, cursor.number())
            case 11:
                # The name of a call site is that of the callee.
                return self.attribute(cursor.number())
            case 13:
                cursor_count = cursor.count("locations")
                return self.attribute(cursor.number()) if cursor_count else None
            case 14:
                name = self.attribute(cursor.number())
                return Location(str(name))
            case _:
                return None

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAXIMUM_DEPTH:
            self._cursor.fail("the bytecode is nested too deeply")

    # Operations

    def program(self) -> Program:
        """Read the functions of the module."""
        cursor = self._of(OPERATIONS, "operations")
        top = self._block(cursor, Scope())
        name = ""
        for module in top.operations:
            if module.kind == "module":
                name = str(module.attributes.get("sym_name") or "")
                for region in module.regions:
                    for each in region.operations:
                        self._function(each)
        if not self._functions:
            for each in top.operations:
                self._function(each)
        return Program(name, self._functions)

    def _function(self, operation: Operation) -> None:
        if operation.kind != "func":
            return
        attributes = operation.attributes
        if not operation.regions:
            self._cursor.fail("a function has no body")
        name = str(attributes.get("sym_name"))
        self._functions[name] = Function(
            name,
            operation.regions[0],
            dictionaries(attributes.get("arg_attrs")),
            dictionaries(attributes.get("res_attrs")),
            attributes.get("sym_visibility") != "private",
        )

    def _regions_of(self, cursor: Cursor, count: int, scope: Scope) -> list[Block]:
        """Read `count` regions, each of one block, within `scope`; returns the blocks."""
        self._enter()
        regions = [self._region(cursor, scope) for _ in range(count)]
        self._depth -= 1
        return regions

    def _region(self, cursor: Cursor, scope: Scope) -> Block:
        blocks = cursor.number()
        if not blocks:
            return Block([])
        count = cursor.count("values", 0)
        if count > cursor.end:
            cursor.fail(f"a region with {count} values")
        if blocks != 1:
            cursor.fail("several blocks in a region are not supported")
        before = scope.next
        scope.reserve(count)
        block = self._block(cursor, scope)
        scope.release(before)
        return block

    def _block(self, cursor: Cursor, scope: Scope) -> Block:
        count, has_arguments = cursor.flagged()
        block = Block([])
        if has_arguments:
            for _ in range(cursor.count("arguments")):
                number, has_location = cursor.flagged() if self.version >= 4 else (cursor.number(), True)
                value = Value(self.type(number))
                if has_location:
                    value.name = self._location_name(cursor.number())
                scope.define(value)
                block.arguments.append(value)
            if self.version >= 3 and cursor.byte():
                self._use_orders(cursor, len(block.arguments))
        for _ in range(count):
            block.operations.append(self._operation(cursor, scope))
        return block

    def _location_name(self, index: int) -> str:
        """The name in the location with index `index`; empty if it has none."""
        attribute = self.attribute(index)
        return str(attribute) if isinstance(attribute, Location) else ""

    def _operation(self, cursor: Cursor, scope: Scope) -> Operation:
        number, mask = cursor.number(), cursor.byte()
        if number >= len(self._operations):
            cursor.fail(f"there is no operation {number}")
        full = self._operations[number]
        dialect, _, name = full.partition(".")
        if dialect not in ("vhlo", "builtin", "sdy"):
            cursor.fail(
                f"the bytecode holds the dialect {dialect!r} itself, which has no stable encoding; "
                "write a portable artifact: stablehlo-translate --serialize --target=current"
            )
        location = self._location_name(cursor.number())
        attributes: dict[str, Any] = {}
        if mask & _ATTRIBUTES:
            attribute = self.attribute(cursor.number())
            attributes = dict(cast("dict[str, Any]", attribute)) if isinstance(attribute, dict) else {}
        if mask & _HAS_PROPERTIES:
            attributes |= self._named(cursor, full, cursor.number())
        results: list[Value] = []
        if mask & _RESULTS:
            results = [Value(self.type(cursor.number())) for _ in range(cursor.count("results"))]
        operands: list[Value] = []
        if mask & _OPERANDS:
            operands = [scope.value(cursor, cursor.number()) for _ in range(cursor.count("operands"))]
        if mask & _SUCCESSORS:
            cursor.fail("branches between blocks are not supported")
        if mask & _USES:
            self._use_orders(cursor, len(results))
        for each in results:
            scope.define(each)
        kind = f"sdy.{name}" if dialect == "sdy" else _VERSION.sub("", name)
        operation = Operation(kind, operands, attributes, [], results, location)
        if mask & _REGIONS:
            count, is_isolated = cursor.flagged()
            if is_isolated:
                operation.regions = self._isolated(cursor, count)
            else:
                operation.regions = self._regions_of(cursor, count, scope)
        return operation

    def _isolated(self, cursor: Cursor, count: int) -> list[Block]:
        """Read `count` regions in a section of their own, whose values have ids from 0; returns their blocks."""
        number, size = cursor.byte(), cursor.number()
        if number & 0x80:
            alignment = cursor.number()
            if not alignment or alignment & (alignment - 1):
                cursor.fail("the alignment of a section is not a power of 2")
            while cursor.position % alignment:
                cursor.byte()
        return self._regions_of(cursor.part(size), count, Scope())

    def _named(self, cursor: Cursor, full: str, number: int) -> dict[str, Any]:
        """The attributes by name of operation `full`, entry `number` of properties. Raises ModelFileError if absent."""
        if number >= len(self._properties):
            cursor.fail(f"there are no properties {number}")
        data = self._properties[number]
        own = Cursor(data.data, data.location, data.position, data.end)
        if full == "builtin.module":
            properties: dict[str, Any] = {}
            for name in ("sym_name", "sym_visibility"):
                index, is_present = own.flagged()
                if is_present:
                    properties[name] = self.attribute(index)
            return properties
        names = ATTRIBUTES.get(full.removeprefix("vhlo."))
        if names is None:
            return {}
        properties = {}
        for name in names:
            if own.is_at_end:
                break
            properties[name] = self.attribute(own.number())
        return properties

    def _use_orders(self, cursor: Cursor, values: int) -> None:
        """Skip the use-list orders of `values` values; the index of a value is only stored if there are several."""
        count = cursor.count("orders") if values > 1 else 1
        for _ in range(count):
            if values > 1:
                cursor.number()
            entries, is_paired = cursor.flagged()
            if entries > cursor.end - cursor.position:
                cursor.fail("an order of uses does not fit into the file")
            del is_paired
            for _ in range(entries):
                cursor.number()


class Location(str):
    """The name in a location of MLIR."""

    __slots__ = ()


class Scope:
    """The values that are visible in nested regions, by their ids."""

    def __init__(self) -> None:
        self.next = 0
        self._values: dict[int, Value] = {}
        self._ends: list[int] = []
        self._limit = 0

    def reserve(self, count: int) -> None:
        """Begin a region with `count` values, which get the next ids."""
        self._ends.append(self._limit)
        self.next = self._limit
        self._limit += count

    def release(self, before: int) -> None:
        """End a region, so that the next one reuses its ids; `before` is the next id of the region around it."""
        self._limit = self._ends.pop()
        self.next = before

    def define(self, value: Value) -> None:
        """Give the next id to a value."""
        self._values[self.next] = value
        self.next += 1

    def value(self, cursor: Cursor, number: int) -> Value:
        """The value with the id `number`. Raises ModelFileError if it is not defined yet."""
        value = self._values.get(number)
        if value is None:
            cursor.fail(f"there is no value {number}")
        return value
