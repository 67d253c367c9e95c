"""Records: their fields, defaults and comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from moir.support.records import Record


def doubled(value: int) -> int:
    return 2 * value


class Part(Record):
    """A record with defaults, one of them a function."""

    UNIT: ClassVar[str] = "mm"

    name: str
    size: int = 1
    change: Callable[[int], int] = doubled

    def changed(self) -> int:
        return self.change(self.size)


class LargePart(Part):
    """A record with the fields of another, and one more."""

    weight: float = 0.5


class Mark(Record):
    """A record that is compared by one of its fields."""

    key: str
    place: int

    def compared(self) -> tuple[Any, ...]:
        return (self.key,)


def test_values_are_given_by_position_or_name_and_have_defaults() -> None:
    assert (Part("a").name, Part("a").size, Part("a", 2).size, Part("a", size=3).size) == ("a", 1, 2, 3)
    assert Part(name="a", size=4).changed() == 8
    assert (LargePart("a", 2, weight=1.5).weight, LargePart("a").size) == (1.5, 1)


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((), {"size": 1}), (("a", 1, doubled, 4), {}), (("a",), {"name": "b"}), (("a",), {"colour": "red"}), ((), {"nam": "a"})],
)
def test_other_values_are_refused(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="Part takes name, size, change once each, and needs name"):
        Part(*values, **named)


def test_records_do_not_change() -> None:
    part = Part("a")
    with pytest.raises(AttributeError, match="'size' of Part cannot be set"):
        part.size = 2  # a program without type checks
    assert (part.with_fields(size=2), part.size) == (Part("a", 2), 1)


def test_records_of_one_class_with_equal_fields_are_equal() -> None:
    assert Part("a") == Part("a")
    assert hash(Part("a")) == hash(Part("a"))
    assert Part("a") != Part("b")
    assert Part("a") != LargePart("a")
    assert Part("a") != "a"
    assert Mark("k", 1) == Mark("k", 2)


def test_text_shows_the_fields() -> None:
    assert repr(Mark("k", 1)) == "Mark(key='k', place=1)"
