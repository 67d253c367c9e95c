"""Fourier transforms: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dialects.opset.tables import Properties, Row, check_refused, check_types, check_values, numbers, reals, row_names

COMPLEX_AXES = "=[1,2] =[-1] =[1,1] =1 i[2]"
WINDOW = np.hanning(18)[1:-1].astype(np.float32)

TYPES: list[Row] = [
    ("opset7.DFT opset7.IDFT", [{}], ["f[1,8,5,2] f[?,8,?,2] f[2] f[...]", COMPLEX_AXES, "- i[2] =[6,7] =[-1,6]"], 1),
    ("opset9.RDFT", [{}], ["f[1,8,5] f[?,8,?] f[] f[...]", "=[1,2] =[-1,0] =[1,1] i[2]", "- =[6,7] =[-1,6]"], 1),
    ("opset9.IRDFT", [{}], ["f[1,8,5,2] f[?,8,?,2] f[2] f[...]", "=[1,2] =[-1,0] =[1,1] i[2]", "- =[6,7] =[-1,6] =[6,-1]"], 1),
    (
        "opset15.STFT",
        [{"transpose_frames": False}, {"transpose_frames": True}],
        ["f[2,48] f[48] f[?,?] f[...]", "f[16] f[...]", "=16 =[16] i[]", "=7 i[]"],
        1,
    ),
    ("opset15.STFT", [{"transpose_frames": False}], ["f[2,10] f[48]", "f[16] f[20]", "=16", "=7"], 1),
    (
        "opset16.ISTFT",
        [{"center": center, "normalized": False} for center in (False, True)],
        ["f[2,9,5,2] f[9,?,2] f[2,8,5,2] f[...]", "f[16] f[...]", "=16 i[]", "=7 i[]", "- =40 i[]"],
        1,
    ),
]


@pytest.mark.parametrize("row", TYPES, ids=row_names(TYPES))
def test_types_are_those_of_the_runtime(row: Row) -> None:
    check_types(row)


# What the runtime lets pass when it infers, and fails at or computes nonsense for when it executes; operands that would eat memory.
REFUSED: list[Row] = [
    ("opset7.DFT opset7.IDFT", [{}], ["f[1,8,2]", "=[1]", "=[-2]"], 1),
    ("opset9.RDFT opset9.IRDFT", [{}], ["f[8,2]", "=[]"], 1),
    ("opset15.STFT", [{"transpose_frames": False}], ["f[10] f[48]", "f[20]", "=16", "i[]"], 1),
]


@pytest.mark.parametrize("row", REFUSED, ids=row_names(REFUSED))
def test_impossible_operands_are_refused(row: Row) -> None:
    check_refused(row)


VALUES: list[tuple[str, Properties, list[Any]]] = [
    ("opset7.DFT", {}, [reals(2, 8, 5, 2), numbers([-1, 0]), numbers([7, -1])]),
    ("opset7.IDFT", {}, [reals(2, 8, 5, 2), numbers([1, 2]), numbers([4, 9])]),
    ("opset9.RDFT", {}, [reals(2, 8, 5), numbers([1, -1])]),
    ("opset9.RDFT", {}, [reals(2, 8, 5), numbers([2, 1]), numbers([3, 6])]),
    ("opset9.IRDFT", {}, [reals(2, 8, 5, 2), numbers([1, 2])]),
    ("opset9.IRDFT", {}, [reals(2, 8, 5, 2), numbers([1, 2]), numbers([8, 7])]),
    *(
        ("opset15.STFT", {"transpose_frames": transposed}, [reals(2, 48), reals(11), numbers(16), numbers(7)])
        for transposed in (True, False)
    ),
    *(
        ("opset16.ISTFT", {"center": center, "normalized": normalized}, [reals(2, 9, 5, 2), WINDOW, numbers(16), numbers(4), *length])
        for center in (True, False)
        for normalized in (True, False)
        for length in ([], [numbers(40)], [numbers(20)])
    ),
]


@pytest.mark.parametrize(("name", "properties", "arrays"), VALUES, ids=[f"{index}-{case[0]}" for index, case in enumerate(VALUES)])
def test_values_are_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    check_values(name, properties, arrays)
