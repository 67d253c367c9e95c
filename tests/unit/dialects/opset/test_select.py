"""Select: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.dialects.opset.tables import Properties, Row, check_types, check_values, reals, row_names, whole

TYPES: list[Row] = [
    (
        "opset1.Select",
        [{"auto_broadcast": "numpy"}, {"auto_broadcast": "none"}],
        ["b[2,3] b[4,1,1] b[...] j[2,3]", "f[2,3] f[?,3] f[] f[...]", "f[2,3] f[3] x[2,3] i[2,3]"],
        1,
    ),
]


@pytest.mark.parametrize("row", TYPES, ids=row_names(TYPES))
def test_types_are_those_of_the_runtime(row: Row) -> None:
    check_types(row)


VALUES: list[tuple[str, Properties, list[Any]]] = [
    ("opset1.Select", {}, [whole(2, 3) > 0, reals(3), reals(1, 1)]),
]


@pytest.mark.parametrize(("name", "properties", "arrays"), VALUES, ids=[f"{index}-{case[0]}" for index, case in enumerate(VALUES)])
def test_values_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    check_values(name, properties, arrays)
