"""Protobuf messages that a table describes: no generated code, and no import of the framework that defines them.

Messages in the binary format are read by the classes of `MessageTable.reader`. Protobuf's own classes, which also read
the text format, are built at the first use in a descriptor pool of their own, so they do not conflict with those of an
installed framework. Both skip fields that are not in the table, and have the same attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from moir.files.protobuf.messages import ENUM, SCALAR_TYPES, Field, Message

_TYPE_NUMBERS = {
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
_ANY = "Any: 1 type_url string, 2 value bytes"


def _parsed(fields: str) -> Iterator[tuple[int, str, str, str, str]]:
    """Number, name, mark (`*`, `{` or none), type and oneof of each field of a message in the notation of a table."""
    for field in fields.split(","):
        number, name, written = field.split()
        type_, _, group = written.partition("|")
        mark = type_[0] if type_[0] in "*{" else ""
        yield int(number), name, mark, type_.strip("*{}"), group


class MessageTable:
    """The messages of a framework.

    Args:
        package: name of the protobuf package, which is part of the names of messages.
        rows: a message per row: number, name and type of each field. `*` before the type marks a repeated field,
            `|` stands before the name of the field's oneof, and braces around the type of values mark a map from
            strings. A row may go on in lines that begin with blanks.
        enums: the names of the values of each enumeration, by number.
        strict: whether a string that is not in UTF-8 is an error, as the syntax `proto3` demands; else it is bytes.
    """

    def __init__(self, package: str, rows: str, enums: Mapping[str, Mapping[int, str]], *, strict: bool = True) -> None:
        self.package = package
        self._rows = rows
        self._enums = enums
        self._strict = strict
        self._classes: dict[str, Any] = {}
        self._readers: dict[str, type[Message]] = {}

    @cached_property
    def _fields(self) -> dict[str, str]:
        """The fields of each message, in the notation of the table."""
        rows: list[str] = []
        for line in (*self._rows.strip().splitlines(), _ANY):
            if line.startswith(" "):
                rows[-1] += line
            else:
                rows.append(line)
        return {name: fields for name, _, fields in (row.partition(":") for row in rows)}

    def reader(self, name: str) -> type[Message]:
        """The class that reads messages of this name in the table from the binary format."""
        if name not in self._readers:
            fields: dict[int, Field] = {}
            for number, each, mark, type_, group in _parsed(self._fields[name]):
                if mark == "{":
                    fields[number] = Field(each, message=partial(self._pair, type_), repeated=True, is_map=True)
                else:
                    fields[number] = self._field(each, type_, repeated=bool(mark), oneof=group)
            self._readers[name] = Message.of(name, fields, strict=self._strict)
        return self._readers[name]

    def _pair(self, type_: str) -> type[Message]:
        """The class of the key-value pairs of which a map from strings to `type_` consists in the encoding."""
        name = f"{{{type_}}}"
        if name not in self._readers:
            fields = {1: self._field("key", "string"), 2: self._field("value", type_)}
            self._readers[name] = Message.of(name, fields, strict=self._strict)
        return self._readers[name]

    def _field(self, name: str, type_: str, *, repeated: bool = False, oneof: str = "") -> Field:
        if type_ in ("string", "bytes"):
            return Field(name, text=type_ == "string", repeated=repeated, oneof=oneof)
        scalar = ENUM if type_ in self._enums else SCALAR_TYPES.get(type_)
        return Field(name, scalar, None if scalar is not None else partial(self.reader, type_), repeated=repeated, oneof=oneof)

    @cached_property
    def pool(self) -> Any:
        """The descriptor pool with all messages."""
        from google.protobuf import descriptor_pb2, descriptor_pool

        # The text format expands google.protobuf.Any, so the message needs its real name.
        any_file = descriptor_pb2.FileDescriptorProto(name="google/protobuf/any.proto", package="google.protobuf", syntax="proto3")
        any_name = _ANY.partition(":")[0]
        self._add_message(any_file, any_name, self._fields[any_name])
        file = descriptor_pb2.FileDescriptorProto(name=f"moir/{self.package}.proto", package=self.package, syntax="proto3")
        file.dependency.append(any_file.name)
        for name, values in self._enums.items():
            enum: Any = file.enum_type.add()
            enum.name = name
            for number, value in values.items():
                enum.value.add(name=value, number=number)
        for name, fields in self._fields.items():
            if name != any_name:
                self._add_message(file, name, fields)
        pool = descriptor_pool.DescriptorPool()
        pool.AddSerializedFile(any_file.SerializeToString())
        pool.AddSerializedFile(file.SerializeToString())
        return pool

    def message_class(self, name: str) -> Any:
        """Protobuf's class of the messages of this name in the table."""
        if name not in self._classes:
            from google.protobuf import message_factory

            self._classes[name] = message_factory.GetMessageClass(self.pool.FindMessageTypeByName(f"{self.package}.{name}"))
        return self._classes[name]

    def _add_message(self, file: Any, name: str, fields: str) -> None:
        """Add the message that a row of the table describes."""
        message = file.message_type.add()
        message.name = name
        for number, name, mark, type_, oneof in _parsed(fields):
            field = message.field.add()
            field.name, field.number, field.label = name, number, _REPEATED if mark else _OPTIONAL
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
        if type_ in _TYPE_NUMBERS:
            field.type = _TYPE_NUMBERS[type_]
        else:
            field.type = _ENUM_TYPE if type_ in self._enums else _MESSAGE_TYPE
            field.type_name = f".{'google.protobuf' if type_ == 'Any' else self.package}.{type_}"
