"""Sorting, searching and counting: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dialects.opset.tables import Properties, Row, check_refused, check_types, check_values, numbers, reals, row_names, whole

TOP = {"mode": "max", "sort": "value", "index_element_type": "i64"}
TOPS = [{"mode": mode, "sort": sort, "index_element_type": "i64"} for mode in ("max", "min") for sort in ("value", "index")]

TYPES: list[Row] = [
    ("opset11.TopK", [TOP | {"axis": axis} for axis in (0, -1, 4)], ["f[3,5] f[?,5] f[...]", "=2 =[2] i[] i[...]"], 2),
    ("opset11.TopK", [TOP | {"axis": 0}], ["f[0,5]", "=0 i[]"], 2),
    ("opset3.NonZero", [{"output_type": "i32"}], ["f[3,5] f[?,5] f[0,?] f[] f[...]"], 1),
    ("opset15.SearchSorted", [{"output_type": "i32"}], ["f[3,5] f[5] f[?,5] f[] f[...]", "f[3,2] f[4] f[2,2] i[3,2] f[...]"], 1),
    ("opset10.Unique", [{"index_element_type": "i32"}], ["f[3,5] f[1,5] f[?,5] f[] f[...]", "- =0 =[1] =7 i[]"], 4),
]


@pytest.mark.parametrize("row", TYPES, ids=row_names(TYPES))
def test_types_are_those_of_the_runtime(row: Row) -> None:
    check_types(row)


# What the runtime lets pass when it infers, and fails at or computes nonsense for when it executes; operands that would eat memory.
REFUSED: list[Row] = [
    ("opset11.TopK", [TOP | {"axis": 0}], ["f[3,5]", "=9"], 2),
]


@pytest.mark.parametrize("row", REFUSED, ids=row_names(REFUSED))
def test_impossible_operands_are_refused(row: Row) -> None:
    check_refused(row)


VALUES: list[tuple[str, Properties, list[Any]]] = [
    ("opset3.NonZero", {"output_type": "i32"}, [whole(3, 4, below=2)]),
    *(
        ("opset15.SearchSorted", {"right_mode": right}, [np.sort(whole(*rows, below=3)), whole(2, 3, below=3)])
        for right in (True, False)
        for rows in ((6,), (2, 6))
    ),
]


@pytest.mark.parametrize(("name", "properties", "arrays"), VALUES, ids=[f"{index}-{case[0]}" for index, case in enumerate(VALUES)])
def test_values_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    check_values(name, properties, arrays)


SEVERAL_RESULTS: list[tuple[str, Properties, list[Any], int]] = [
    *(("opset11.TopK", top | {"axis": axis}, [reals(3, 7), numbers(3)], 2) for top in TOPS for axis in (0, -1)),
    *(("opset11.TopK", top | {"axis": 1, "stable": True}, [whole(3, 7, below=2), numbers(4)], 2) for top in TOPS),
    *(
        ("opset10.Unique", {"sorted": ordered}, [whole(3, 4, below=3), *axis], 4)
        for ordered in (True, False)
        for axis in ([], [numbers(0)])
    ),
]


@pytest.mark.parametrize(("name", "properties", "arrays", "results"), SEVERAL_RESULTS)
def test_several_results_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any], results: int) -> None:
    check_values(name, properties, arrays, results)
