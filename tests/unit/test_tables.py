"""The notation of tables of names."""

from __future__ import annotations

from moir import tables
from moir.dialects.element_types import boolean, f32, named, numbered, si8


def test_pairs() -> None:
    assert tables.pairs("LT Less, GE GreaterEqual") == {"LT": "Less", "GE": "GreaterEqual"}
    assert tables.numbers("FLOAT 1, none -1") == {"FLOAT": 1, "none": -1}
    assert tables.numbered("1 name, 4 type") == {1: "name", 4: "type"}


def test_groups() -> None:
    assert tables.words("Add Mul") == {"Add", "Mul"}
    assert tables.by_word({"Add AddV2": 1, "Mul": 2}) == {"Add": 1, "AddV2": 1, "Mul": 2}
    assert tables.by_member({"Add": "plus sum", "Multiply": "mul"}) == {"plus": "Add", "sum": "Add", "mul": "Multiply"}


def test_lists_after_a_name() -> None:
    assert tables.listed("\nsum: Add\n  AddV2\nmax.of: Max\n") == {"Add": "sum", "AddV2": "sum", "Max": "max.of"}


def test_element_types() -> None:
    assert named("BOOL boolean, I8 i8") == {"BOOL": boolean, "I8": si8}
    assert numbered("0 f32, 9 i8") == {0: f32, 9: si8}
