"""Shapes: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.dialects.opset.tables import Properties, Row, check_refused, check_types, check_values, numbers, reals, row_names

TYPES: list[Row] = [
    (
        "opset1.Reshape",
        [{"special_zero": False}, {"special_zero": True}],
        [
            "f[2,3,4] f[?,3,4] f[2,?,4] f[?,?,4] f[0,3,4] f[1,?] f[] f[...]",
            "=[] =[0,-1] =[2,-1] =[-1] =[0,0,-1] =[3,0,-1] =[6,4] =[5,-1] =[-1,-1] =[-2,3] i[2] i[?] i[0] i[...] i[]",
        ],
        1,
    ),
    ("opset1.Squeeze opset15.Squeeze", [{}], ["f[1,3,1] f[1,?,3] f[?,?] f[] f[...]", "- =[0] =1 =[0,-1] =[5] =[]"], 1),
    ("opset15.Squeeze", [{"allow_axis_skip": True}], ["f[1,3,1] f[1,?,3] f[?,?] f[] f[...]", "- =[0] =1 =[0,-1] =[5] =[] i[1]"], 1),
    ("opset1.Squeeze", [{}], ["f[1,3,1] f[1] f[...]", "i[1] i[2] i[] i[?]"], 1),
    ("opset15.Squeeze", [{}], ["f[1,3,1]", "i[1] i[?]"], 1),
    ("opset1.Unsqueeze", [{}], ["f[2,3] f[?] f[] f[...]", "=[0] =[1,0] =[0,0] =[-1] =0 =[-4] =[0,-2] i[1] i[]"], 1),
    ("opset3.ShapeOf", [{"output_type": "i32"}, {"output_type": "i64"}, {"output_type": "f32"}], ["f[2,3] f[?] f[] f[...]"], 1),
]


@pytest.mark.parametrize("row", TYPES, ids=row_names(TYPES))
def test_types_are_those_of_the_runtime(row: Row) -> None:
    check_types(row)


# What the runtime lets pass when it infers, and fails at or computes nonsense for when it executes; operands that would eat memory.
REFUSED: list[Row] = [
    ("opset1.Reshape", [{"special_zero": True}], ["f[2,3,4]", "=[0,4]"], 1),
]


@pytest.mark.parametrize("row", REFUSED, ids=row_names(REFUSED))
def test_impossible_operands_are_refused(row: Row) -> None:
    check_refused(row)


VALUES: list[tuple[str, Properties, list[Any]]] = [
    ("opset1.Reshape", {"special_zero": True}, [reals(2, 3, 4), numbers([0, -1])]),
    ("opset1.Squeeze", {}, [reals(1, 3, 1), numbers([-1])]),
    ("opset15.Squeeze", {}, [reals(1, 3, 1)]),
    ("opset1.Unsqueeze", {}, [reals(2, 3), numbers([0, -1])]),
    ("opset3.ShapeOf", {"output_type": "i32"}, [reals(2, 3)]),
]


@pytest.mark.parametrize(("name", "properties", "arrays"), VALUES, ids=[f"{index}-{case[0]}" for index, case in enumerate(VALUES)])
def test_values_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    check_values(name, properties, arrays)
