"""Writing at indices: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.dialects.opset.tables import Properties, Row, check_types, check_values, numbers, reals, row_names, whole

REPEATED = numbers([[0, 1, 1], [0, 0, 3]])

TYPES: list[Row] = [
    ("opset3.ScatterUpdate", [{}], ["f[2,3] f[?,3] f[...]", "i[2] i[...]", "f[2,3] f[2,2] f[2] f[...]", "=0 =[1] =4 i[]"], 1),
    (
        "opset12.ScatterElementsUpdate",
        [{"reduction": "sum"}],
        ["f[2,3] f[?,3] f[...]", "i[2,3] i[1,3]", "f[2,3] i[2,3] f[...]", "=0 =4 i[]"],
        1,
    ),
    ("opset15.ScatterNDUpdate", [{}], ["f[2,3] f[?,3] f[...]", "i[2,1] i[2,2] i[2,?] i[...]", "f[...]"], 1),
    ("opset15.ScatterNDUpdate", [{"reduction": "sum"}], ["f[2,3]", "i[4,1]", "f[4,3] f[4,2] f[3,3] i[4,3]"], 1),
]


@pytest.mark.parametrize("row", TYPES, ids=row_names(TYPES))
def test_types_are_those_of_the_runtime(row: Row) -> None:
    check_types(row)


VALUES: list[tuple[str, Properties, list[Any]]] = [
    ("opset3.ScatterUpdate", {}, [reals(4, 5), numbers([3, 0]), reals(2, 5), numbers(0)]),
    ("opset3.ScatterUpdate", {}, [reals(4, 5), numbers([[3], [0]]), reals(4, 2, 1), numbers(1)]),
    ("opset12.ScatterElementsUpdate", {}, [reals(4, 3), numbers([[0, 1, 2], [3, -1, 1]]), reals(2, 3), numbers(0)]),
    *(
        ("opset12.ScatterElementsUpdate", {"reduction": reduction, "use_init_val": initial}, [make(4, 3), REPEATED, make(2, 3), numbers(0)])
        for reduction in ("sum", "prod", "min", "max", "mean")
        for initial in (True, False)
        for make in (reals, whole)
    ),
    ("opset15.ScatterNDUpdate", {}, [reals(4, 3), numbers([[0, 1], [-1, -1]]), reals(2)]),
    *(
        ("opset15.ScatterNDUpdate", {"reduction": reduction}, [reals(4, 3), numbers([[0], [2], [0]]), reals(3, 3)])
        for reduction in ("sum", "sub", "prod", "min", "max")
    ),
]


@pytest.mark.parametrize(("name", "properties", "arrays"), VALUES, ids=[f"{index}-{case[0]}" for index, case in enumerate(VALUES)])
def test_values_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    check_values(name, properties, arrays)
