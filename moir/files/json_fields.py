"""Objects of JSON with checked access: a field that is missing or of another type is an error with its place.

Fields(content, "models/model.json").fields("graph_module").fields("graph").list("nodes")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from moir.errors import ModelFileError

T = TypeVar("T")


class Fields:
    """An object of JSON.

    Args:
        content: the object.
        place: where it is, for messages.
        location: the file, for messages.
        hint: what the user can do about an error.
    """

    __slots__ = ("content", "hint", "location", "place")

    def __init__(
        self, content: Mapping[str, Any], place: str, location: str, hint: str = "the program is damaged, or of an unknown version"
    ) -> None:
        self.content = content
        self.place = place
        self.location = location
        self.hint = hint

    def error(self, reason: str) -> ModelFileError:
        """The error about this object."""
        return ModelFileError(f"{self.place}: {reason}", location=self.location, hint=self.hint)

    def _of(self, key: str, type_: type[T] | tuple[type, ...], default: Any = ...) -> Any:
        field = self.content.get(key, default)
        if field is None and default is not ...:
            return default
        if field is default or isinstance(field, type_):
            if field is not ...:
                return field
            raise self.error(f"{key!r} is missing")
        raise self.error(f"{key!r} is {type(field).__name__}")

    def text(self, key: str, default: str | None = None) -> str:
        """The string under a key. Raises ModelFileError for another type, or a missing key without a default."""
        return self._of(key, str, ... if default is None else default)

    def integer(self, key: str, default: int | None = None) -> int:
        """The integer of 64 bits under a key; raises as `text`."""
        number = self._of(key, int, ... if default is None else default)
        if isinstance(number, bool) or not -(1 << 63) <= number < 1 << 63:
            raise self.error(f"{key!r} is not an integer of 64 bits")
        return number

    def fields(self, key: str, default: Mapping[str, Any] | None = None) -> Fields:
        """The object under a key as `Fields`; raises as `text`."""
        fields = self._of(key, dict, ... if default is None else default)
        return Fields(fields, f"{self.place}.{key}", self.location, self.hint)

    def list(self, key: str) -> Sequence[Any]:
        """The list under a key; empty if the key is missing. Raises ModelFileError for another type."""
        return self._of(key, list, [])

    def objects(self, key: str) -> Iterator[Fields]:
        """The elements of the list under a key, which have to be objects."""
        for index, each in enumerate(self.list(key)):
            yield self.object(each, f"{key}[{index}]")

    def object(self, content: Any, place: str) -> Fields:
        """Content that has to be an object within this one; `place` says in error messages where it is."""
        if not isinstance(content, dict):
            raise self.error(f"{place} is not an object")
        return Fields(cast("dict[str, Any]", content), f"{self.place}.{place}", self.location, self.hint)

    def only(self) -> tuple[str, Any]:
        """The name and the value of the single key of an object, where the key says what kind of object it is.

        Raises ModelFileError for several keys.
        """
        if len(self.content) != 1:
            raise self.error(f"one of several kinds, but it has the keys {', '.join(self.content) or 'of none'}")
        return next(iter(self.content.items()))
