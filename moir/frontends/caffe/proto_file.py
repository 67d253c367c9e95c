"""A `.proto` file -> the classes of its messages, for forks of Caffe with parameters of their own.

The reader knows the part of the proto2 language that `caffe.proto` and its descendants use: messages, enumerations,
oneofs and maps. Options, defaults, reserved numbers, extensions and services are skipped, and required fields are
optional ones.

Source: https://protobuf.dev/reference/protobuf/proto2-spec.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError
from moir.files.reading import read_whole
from moir.support.decimals import decimal_of

MAXIMUM_DEPTH = 32
"""Largest nesting of messages."""

_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_.][\w.]*|-?[0-9][\w.+-]*|\s+|.""", re.DOTALL)
_SKIPPED = frozenset(("option", "reserved", "extensions", "extend", "service", "import"))
_TYPES = {
    **{"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8, "string": 9},
    **{"bytes": 12, "uint32": 13, "sfixed32": 15, "sfixed64": 16, "sint32": 17, "sint64": 18},
}
_OPTIONAL, _REPEATED = 1, 3


def message_classes(path: Path) -> Any:
    """The function that gives the class of a message of a `.proto` file by its name, without the package.

    Raises ModelFileError, with the line, for a file that is not in that language.
    """
    content = read_whole(path, "a .proto file")
    if not content:
        raise ModelFileError("the file is empty", location=str(path))
    return _Parser(path, content.decode(errors="replace")).classes()


class _Parser:
    """Parses one file into a descriptor."""

    def __init__(self, path: Path, text: str) -> None:
        from google.protobuf import descriptor_pb2

        self._path = path
        self._tokens = [(token.group(), token.start()) for token in _TOKEN.finditer(text) if not token.group().isspace()]
        self._tokens = [(token, start) for token, start in self._tokens if not token.startswith(("//", "/*"))]
        self._text = text
        self._position = 0
        self._file: Any = descriptor_pb2.FileDescriptorProto(name=path.name, syntax="proto2")

    def classes(self) -> Any:
        """Parse the file; see `message_classes`."""
        from google.protobuf import descriptor_pool, message_factory

        while self._position < len(self._tokens):
            word = self._next()
            if word == "syntax":
                self._skip()
            elif word == "package":
                self._file.package = self._next()
                self._expect(";")
            elif word == "message":
                self._message(self._file.message_type.add(), 0)
            elif word == "enum":
                self._enum(self._file.enum_type.add())
            elif word in _SKIPPED:
                self._skip()
            elif word != ";":
                raise self._error("this is not a declaration")
        pool = descriptor_pool.DescriptorPool()
        try:
            pool.AddSerializedFile(self._file.SerializeToString())
        except (TypeError, ValueError) as error:
            reason = str(error).strip().splitlines()[-1][:200]
            raise ModelFileError(f"its declarations do not fit together: {reason}", location=str(self._path)) from error
        prefix = f"{self._file.package}." if self._file.package else ""

        def message_class(name: str) -> Any:
            try:
                return message_factory.GetMessageClass(pool.FindMessageTypeByName(prefix + name))
            except KeyError:
                raise ModelFileError(f"it has no message {name}", location=str(self._path), hint="is it a caffe.proto?") from None

        return message_class

    def _error(self, reason: str) -> ModelFileError:
        offset = self._tokens[min(self._position, len(self._tokens)) - 1][1] if self._tokens else 0
        line = self._text.count("\n", 0, offset) + 1
        return ModelFileError(f"not a description of messages: {reason}", location=f"{self._path}, line {line}")

    def _next(self) -> str:
        """The next token: a word or a sign."""
        if self._position >= len(self._tokens):
            raise self._error("the file ends within a declaration")
        self._position += 1
        return self._tokens[self._position - 1][0]

    def _expect(self, wanted: str) -> None:
        if self._next() != wanted:
            raise self._error(f"{wanted!r} is expected")

    def _skip(self) -> None:
        """Skip the rest of a declaration: up to its semicolon, or its closing brace."""
        depth = 0
        while True:
            word = self._next()
            depth += (word in ("{", "[", "(")) - (word in ("}", "]", ")"))
            if depth == 0 and word in (";", "}"):
                return

    def _message(self, message: Any, depth: int) -> None:
        message.name = self._next()
        self._expect("{")
        self._body(message, depth, -1)

    def _body(self, message: Any, depth: int, oneof: int) -> None:
        """Read the fields of a message, or of its oneof with the index `oneof`, up to the closing brace."""
        if depth > MAXIMUM_DEPTH:
            raise self._error(f"messages are nested more than {MAXIMUM_DEPTH} deep")
        while (word := self._next()) != "}":
            if word == "message" and oneof < 0:
                self._message(message.nested_type.add(), depth + 1)
            elif word == "enum" and oneof < 0:
                self._enum(message.enum_type.add())
            elif word == "oneof":
                message.oneof_decl.add().name = self._next()
                self._expect("{")
                self._body(message, depth + 1, len(message.oneof_decl) - 1)
            elif word in _SKIPPED:
                self._skip()
            elif word == "map":
                self._map(message)
            elif word != ";":
                self._field(message, word, oneof)

    def _field(self, message: Any, word: str, oneof: int) -> None:
        field = message.field.add()
        field.label = _REPEATED if word == "repeated" else _OPTIONAL
        type_ = self._next() if word in ("optional", "required", "repeated") else word
        if type_ == "group":
            raise self._error("groups are not supported")
        self._set_type(field, type_)
        field.name = self._next()
        self._number(field)
        if oneof >= 0:
            field.oneof_index = oneof

    def _map(self, message: Any) -> None:
        """Read a map, which protobuf encodes as a repeated message with a key and a value, into `message`."""
        self._expect("<")
        key = self._next()
        self._expect(",")
        value = self._next()
        self._expect(">")
        field = message.field.add()
        field.name, field.label = self._next(), _REPEATED
        self._number(field)
        entry = message.nested_type.add()
        entry.name = "".join(part.capitalize() for part in field.name.split("_")) + "Entry"
        entry.options.map_entry = True
        for number, name, type_ in ((1, "key", key), (2, "value", value)):
            part = entry.field.add()
            part.name, part.number, part.label = name, number, _OPTIONAL
            self._set_type(part, type_)
        field.type_name = entry.name

    def _number(self, field: Any) -> None:
        """Read `= number` and the options of a field into its descriptor."""
        self._expect("=")
        word = self._next()
        number = decimal_of(word)
        if number is None or not 0 < number < 1 << 29:
            raise self._error(f"the number {word[:20]!r} of the field {field.name!r}")
        field.number = number
        word = self._next()
        if word == "[":
            self._position -= 1
            self._skip()
        elif word != ";":
            raise self._error(f"{word!r} after the field {field.name!r}")

    @staticmethod
    def _set_type(field: Any, type_: str) -> None:
        if type_ in _TYPES:
            field.type = _TYPES[type_]
        else:
            field.type_name = type_

    def _enum(self, enum: Any) -> None:
        enum.name = self._next()
        self._expect("{")
        while (word := self._next()) != "}":
            if word == "option":
                if self._next() == "allow_alias":
                    enum.options.allow_alias = True
                self._skip()
            elif word == "reserved":
                self._skip()
            elif word != ";":
                value = enum.value.add()
                value.name = word
                self._expect("=")
                number = self._next()
                try:
                    value.number = int(number, 0)
                except ValueError:
                    raise self._error(f"the number {number!r} of the value {word!r}") from None
                if (sign := self._next()) == "[":
                    self._position -= 1
                    self._skip()
                elif sign != ";":
                    raise self._error(f"{sign!r} after the value {word!r}")
