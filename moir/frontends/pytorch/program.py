"""The JSON of a program, with checked access: a field that is missing or of another type is an error with its place.

Fields(content, "models/model.json").fields("graph_module").fields("graph").list("nodes")
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from moir.errors import ModelFileError
from moir.frontends.pytorch.archive import Archive

T = TypeVar("T")

LARGEST_PROGRAM = 1 << 30
"""Largest size of the JSON of a program in bytes."""

KNOWN_MAJORS = frozenset((7, 8))
"""The major versions of the schema that moir reads: files of torch 2.5 to 2.15."""


class Fields:
    """An object of JSON.

    Args:
        content: the object.
        place: where it is, for messages.
        location: the file, for messages.
    """

    __slots__ = ("content", "location", "place")

    def __init__(self, content: Mapping[str, Any], place: str, location: str) -> None:
        self.content = content
        self.place = place
        self.location = location

    def error(self, reason: str) -> ModelFileError:
        """The error about this object."""
        return ModelFileError(f"{self.place}: {reason}", location=self.location, hint="the program is damaged, or of an unknown version")

    def _of(self, key: str, type_: type[T] | tuple[type, ...], default: Any = ...) -> Any:
        found = self.content.get(key, default)
        if found is None and default is not ...:
            return default
        if found is default or isinstance(found, type_):
            if found is not ...:
                return found
            raise self.error(f"{key!r} is missing")
        raise self.error(f"{key!r} is {type(found).__name__}")

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        return self._of(key, str, ... if default is None else default)

    def integer(self, key: str, default: int | None = None) -> int:
        """An integer of 64 bits."""
        found = self._of(key, int, ... if default is None else default)
        if isinstance(found, bool) or not -(1 << 63) <= found < 1 << 63:
            raise self.error(f"{key!r} is not an integer of 64 bits")
        return found

    def fields(self, key: str, default: Mapping[str, Any] | None = None) -> Fields:
        """An object."""
        found = self._of(key, dict, ... if default is None else default)
        return Fields(found, f"{self.place}.{key}", self.location)

    def list(self, key: str) -> Sequence[Any]:
        """A list; empty if it is absent."""
        return self._of(key, list, [])

    def objects(self, key: str) -> Iterator[Fields]:
        """The objects of a list."""
        for index, each in enumerate(self.list(key)):
            yield self.object(each, f"{key}[{index}]")

    def object(self, content: Any, place: str) -> Fields:
        """An object within this one; its place is part of error messages."""
        if not isinstance(content, dict):
            raise self.error(f"{place} is not an object")
        return Fields(cast("dict[str, Any]", content), f"{self.place}.{place}", self.location)

    def only(self) -> tuple[str, Any]:
        """The only key of an object, which says its kind, and its value."""
        if len(self.content) != 1:
            raise self.error(f"one of several kinds, but it has the keys {', '.join(self.content) or 'of none'}")
        return next(iter(self.content.items()))


def read_json(archive: Archive, name: str) -> Fields:
    """The JSON object in a record. Raises ModelFileError if the record contains something else."""
    record = archive.record(name)
    if len(record) > LARGEST_PROGRAM:
        raise archive.error(f"{name}: more than {LARGEST_PROGRAM >> 20} MB of text")
    try:
        content = json.loads(bytes(record))
    except RecursionError:
        raise archive.error(f"{name}: its lists are nested too deeply") from None
    except ValueError as error:
        raise archive.error(f"{name}: no JSON: {error}") from None
    if not isinstance(content, dict):
        raise archive.error(f"{name}: no object of JSON")
    return Fields(cast("dict[str, Any]", content), name, str(archive.path))


def check_version(program: Fields) -> None:
    """Raises ModelFileError for a program of a schema that moir does not know."""
    version = program.fields("schema_version")
    major, minor = version.integer("major"), version.integer("minor", 0)
    if major not in KNOWN_MAJORS:
        reason = f"a program of schema {major}.{minor}; moir reads {' and '.join(f'{each}.x' for each in sorted(KNOWN_MAJORS))}"
        hint = "export it again with torch 2.5 or newer, whose schema moir knows"
        raise ModelFileError(reason, location=program.location, hint=hint)
