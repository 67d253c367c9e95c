"""Tables whose keys or values are several words."""

from __future__ import annotations

from moir.dialects.element_types import boolean, of_xml_names, si8
from moir.support import tables


def test_groups() -> None:
    assert tables.words("Add Mul") == {"Add", "Mul"}
    assert tables.by_word({"Add AddV2": 1, "Mul": 2}) == {"Add": 1, "AddV2": 1, "Mul": 2}
    assert tables.by_member({"Add": "plus sum", "Multiply": "mul"}) == {"plus": "Add", "sum": "Add", "mul": "Multiply"}


def test_element_types() -> None:
    assert of_xml_names({"BOOL": "boolean", 9: "i8"}) == {"BOOL": boolean, 9: si8}
