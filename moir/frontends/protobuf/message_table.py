"""Protobuf messages that a table describes: no generated code, and no import of the framework that they are of.

The classes are built at the first use in a descriptor pool of their own, so they do not conflict with those of an
installed framework. The parser skips fields that are not in the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

_SCALAR_TYPES = {
    "double": 1,
    "float": 2,
    "int64": 3,
    "uint64": 4,
    "int32": 5,
    "fixed32": 7,
    "bool": 8,
    "string": 9,
    "bytes": 12,
    "uint32": 13,
}
_MESSAGE_TYPE, _ENUM_TYPE = 11, 14
_OPTIONAL, _REPEATED = 1, 3
_FIELD = re.compile(r"(\d+) (\w+) ([*{]?)(\w+)}?(?:\|(\w+))?")
_ANY = "Any: 1 type_url string, 2 value bytes"


class MessageTable:
    """The messages of a framework.

    Args:
        package: name of the protobuf package, which is part of the names of messages.
        rows: a message per row: number, name and type of each field. `*` in front of the type marks a repeated field,
            `|` stands in front of the name of the field's oneof, and braces around the type of values mark a map from
            strings. A row may go on in lines that begin with blanks.
        enums: the names of the values of each enumeration, by number.
    """

    def __init__(self, package: str, rows: str, enums: Mapping[str, Mapping[int, str]]) -> None:
        self.package = package
        self._rows = rows
        self._enums = enums
        self._classes: dict[str, Any] = {}

    @cached_property
    def pool(self) -> Any:
        """The descriptor pool with all messages."""
        from google.protobuf import descriptor_pb2, descriptor_pool

        # The text format expands google.protobuf.Any, so the message needs its real name.
        any_file = descriptor_pb2.FileDescriptorProto(name="google/protobuf/any.proto", package="google.protobuf", syntax="proto3")
        self._add_message(any_file, _ANY)
        file = descriptor_pb2.FileDescriptorProto(name=f"moir/{self.package}.proto", package=self.package, syntax="proto3")
        file.dependency.append(any_file.name)
        for name, values in self._enums.items():
            enum: Any = file.enum_type.add()
            enum.name = name
            for number, value in values.items():
                enum.value.add(name=value, number=number)
        for row in re.sub(r"\n +", " ", self._rows.strip()).splitlines():
            self._add_message(file, row)
        pool = descriptor_pool.DescriptorPool()
        pool.AddSerializedFile(any_file.SerializeToString())
        pool.AddSerializedFile(file.SerializeToString())
        return pool

    def message_class(self, name: str) -> Any:
        """The class of the message that has this name in the table."""
        if name not in self._classes:
            from google.protobuf import message_factory

            self._classes[name] = message_factory.GetMessageClass(self.pool.FindMessageTypeByName(f"{self.package}.{name}"))
        return self._classes[name]

    def _add_message(self, file: Any, row: str) -> None:
        """Add the message that a row of the table describes."""
        message = file.message_type.add()
        message.name, _, fields = row.partition(":")
        for number, name, mark, type_, oneof in _FIELD.findall(fields):
            field = message.field.add()
            field.name, field.number, field.label = name, int(number), _REPEATED if mark else _OPTIONAL
            if mark == "{":
                self._add_map_entry(message, field, type_)
                continue
            self._set_type(field, type_)
            if oneof:
                names = [declared.name for declared in message.oneof_decl]
                if oneof not in names:
                    message.oneof_decl.add().name = oneof
                    names.append(oneof)
                field.oneof_index = names.index(oneof)

    def _add_map_entry(self, message: Any, field: Any, type_: str) -> None:
        """Make a field a map from strings, which protobuf encodes as a repeated message with a key and a value."""
        entry = message.nested_type.add()
        entry.name = "".join(part.capitalize() for part in field.name.split("_")) + "Entry"
        entry.options.map_entry = True
        for number, name, of in ((1, "key", "string"), (2, "value", type_)):
            part = entry.field.add()
            part.name, part.number, part.label = name, number, _OPTIONAL
            self._set_type(part, of)
        field.type = _MESSAGE_TYPE
        field.type_name = f".{self.package}.{message.name}.{entry.name}"

    def _set_type(self, field: Any, type_: str) -> None:
        """Set the type of a field descriptor, from its notation in the table."""
        if type_ in _SCALAR_TYPES:
            field.type = _SCALAR_TYPES[type_]
        else:
            field.type = _ENUM_TYPE if type_ in self._enums else _MESSAGE_TYPE
            field.type_name = f".{'google.protobuf' if type_ == 'Any' else self.package}.{type_}"
