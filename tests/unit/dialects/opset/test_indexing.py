"""Reading at indices: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import pytest

from moir.analysis.known_values import evaluate
from tests.unit.dialects.opset.runtime_reference import moir_operation
from tests.unit.dialects.opset.tables import Properties, Row, check_types, check_values, numbers, reals, row_names

TYPES: list[Row] = [
    ("opset8.Gather", [{"batch_dims": 0}, {"batch_dims": 1}], ["f[2,3,4] f[?,3] f[...]", "i[2] i[2,3] i[?,3] i[...]", "=0 =[1] =5 i[]"], 1),
    ("opset6.GatherElements", [{"axis": 0}, {"axis": -1}], ["f[2,3] f[?,3] f[...]", "i[2,3] i[?,3] i[5,3] i[2] i[...]"], 1),
    ("opset8.GatherND", [{"batch_dims": 0}, {"batch_dims": 1}], ["f[2,3,4] f[?,3] f[...]", "i[2,2] i[2,1] i[2,?] i[2,4] i[...]"], 1),
]


@pytest.mark.parametrize("row", TYPES, ids=row_names(TYPES))
def test_types_are_those_of_the_runtime(row: Row) -> None:
    check_types(row)


VALUES: list[tuple[str, Properties, list[Any]]] = [
    ("opset8.Gather", {}, [reals(4, 5), numbers([3, -1, 0]), numbers(0)]),
    ("opset8.Gather", {"batch_dims": 1}, [reals(2, 3, 4, 5), numbers([[0, 1], [2, -1]]), numbers(2)]),
    ("opset6.GatherElements", {"axis": 0}, [reals(3, 4), numbers([[0, 1, 2, 1], [2, 0, 0, 1]])]),
    ("opset6.GatherElements", {"axis": 1}, [reals(3, 4), numbers([[0, -1], [3, 2], [1, 1]])]),
    ("opset8.GatherND", {}, [reals(3, 4, 5), numbers([[0, 1], [2, -3]])]),
    ("opset8.GatherND", {"batch_dims": 1}, [reals(2, 3, 4), numbers([[[1], [0]], [[2], [2]]])]),
]


@pytest.mark.parametrize(("name", "properties", "arrays"), VALUES, ids=[f"{index}-{case[0]}" for index, case in enumerate(VALUES)])
def test_values_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    check_values(name, properties, arrays)


def test_index_out_of_range_is_not_evaluated() -> None:
    operands = [reals(4, 5), numbers([9]), numbers(0)]
    assert evaluate(moir_operation("opset8.Gather", list(operands), {}), operands) is None
