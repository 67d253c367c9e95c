"""Operations on bits: values against OpenVINO Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.dialects.opset.cases import (
    BOOLEANS,
    DIVISORS,
    INTEGERS,
    ROW,
    Case,
    check_values,
    operations,
)

VALUES: list[Case] = [
    *[(f"opset13.Bitwise{kind}", [INTEGERS, DIVISORS], {}) for kind in ("And", "Or", "Xor")],
    *[(f"opset13.Bitwise{kind}", [BOOLEANS, ROW], {}) for kind in ("And", "Or", "Xor")],
    *[("opset13.BitwiseNot", [data], {}) for data in (INTEGERS, BOOLEANS, INTEGERS.astype(np.uint8))],
    *[(f"opset15.Bitwise{side}Shift", [INTEGERS, np.array([0, 1, 2, 3, 30], np.int32)], {}) for side in ("Left", "Right")],
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)
