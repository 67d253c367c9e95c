"""A JSON parser that keeps the place of every value in the file, for error messages."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from moir.errors import ConversionError

MAXIMUM_DEPTH = 64
"""The largest number of lists and objects around a value."""

_TOKEN = re.compile(
    r'[ \t\r\n]*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<scalar>-?\d[\d.eE+-]*|true|false|null)|(?P<mark>[\[\]{}:,])|(?P<wrong>\S))', re.DOTALL
)


@dataclass(frozen=True)
class JsonValue:
    """A value in a file.

    Args:
        value: the value, nested values included, as Python objects.
        place: file, line and column.
        items: the values in a list, by index, or in an object, by key.
    """

    value: Any
    place: str
    items: Mapping[Any, JsonValue] = field(default_factory=dict["str | int", "JsonValue"])

    def at(self, *path: str | int) -> JsonValue:
        """The value at a path of keys and indices, or at the longest part of it that exists."""
        value = self
        for key in path:
            if key not in value.items:
                break
            value = value.items[key]
        return value

    def fail(self, reason: str, hint: str | None = None) -> ConversionError:
        """An error that points to the value."""
        return ConversionError(reason, location=self.place, hint=hint)


class _Parser:
    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.end = len(text.rstrip())
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.tokens: Iterator[re.Match[str]] = _TOKEN.finditer(text)
        self.token: re.Match[str] | None = None
        self.advance()

    def advance(self) -> None:
        self.token = next(self.tokens, None)

    def place(self) -> str:
        """Where the present token begins."""
        position = self.end if self.token is None else self.token.end() - len(self.lexeme())
        line = bisect_right(self.line_starts, position)
        return f"{self.file}:{line}:{position - self.line_starts[line - 1] + 1}"

    def lexeme(self) -> str:
        if self.token is None or self.token.lastgroup is None:
            return ""
        return self.token.group(self.token.lastgroup)

    def expected(self, what: str) -> ConversionError:
        actual = repr(self.lexeme()) if self.token is not None else "the end of the file"
        return ConversionError(f"this is not valid JSON: {what} is expected, not {actual}", location=self.place())

    def take(self, mark: str) -> bool:
        """Consume the next token if it is `mark`; returns whether it is."""
        if self.token is None or self.token.group("mark") != mark:
            return False
        self.advance()
        return True

    def require(self, mark: str) -> None:
        if not self.take(mark):
            raise self.expected(repr(mark))

    def scalar(self) -> Any:
        try:
            value = json.loads(self.lexeme())
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise ConversionError(f"this is not valid JSON: {reason} in {self.lexeme()[:80]}", location=self.place()) from None
        self.advance()
        return value

    def parse(self, depth: int = 0) -> JsonValue:
        place = self.place()
        if depth > MAXIMUM_DEPTH:
            raise ConversionError(f"lists and objects are nested deeper than {MAXIMUM_DEPTH}", location=place)
        if self.take("["):
            listed = self.list_items(depth)
            return JsonValue([item.value for item in listed], place, dict(enumerate(listed)))
        if self.take("{"):
            members = self.members(depth)
            return JsonValue({key: member.value for key, member in members.items()}, place, members)
        if self.token is None or self.token.lastgroup in ("mark", "wrong"):
            raise self.expected("a value")
        return JsonValue(self.scalar(), place)

    def list_items(self, depth: int) -> list[JsonValue]:
        items: list[JsonValue] = []
        if self.take("]"):
            return items
        while True:
            items.append(self.parse(depth + 1))
            if self.take("]"):
                return items
            self.require(",")

    def members(self, depth: int) -> dict[str, JsonValue]:
        members: dict[str, JsonValue] = {}
        if self.take("}"):
            return members
        while True:
            if self.token is None or self.token.group("string") is None:
                raise self.expected("a key in double quotes")
            place, key = self.place(), self.scalar()
            if key in members:
                raise ConversionError(f"the key {key!r} is there twice", location=place)
            self.require(":")
            members[key] = self.parse(depth + 1)
            if self.take("}"):
                return members
            self.require(",")


def parse_json(text: str, file: str) -> JsonValue:
    """The value of a JSON text. Raises ConversionError with file, line and column for invalid JSON."""
    parser = _Parser(text, file)
    value = parser.parse()
    if parser.token is not None:
        raise parser.expected("the end of the file")
    return value
