"""Logic: values against OpenVINO Runtime."""

from __future__ import annotations

import re

import pytest

from moir.dialects.opset import FAMILIES
from tests.unit.dialects.opset.cases import (
    BOOLEANS,
    ROW,
    Case,
    check_values,
    operations,
)

VALUES: list[Case] = [
    *[(name, [BOOLEANS, ROW], {}) for name in FAMILIES["comparison"].split() if re.search("Logical(And|Or|Xor)|Xor", name)],
    ("opset1.LogicalNot", [BOOLEANS], {}),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)
