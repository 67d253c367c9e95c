"""Quantization: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime
from tests.unit.dialects.opset.variations import (
    Case,
    check_types,
    random,
    reals,
    typed,
)

RANGE = {"levels": 255}

CASES = [
    Case("opset1.FakeQuantize", typed((2, 3, 4), (1, 3, 1), (3, 1), (), (1,)), RANGE),
    Case("opset1.FakeQuantize", typed((4,), (1, 1, 1), (1, 1), (), (4,)), RANGE),
    Case("opset1.FakeQuantize", typed((2, 3), (2, 3), (2, 3), (2, 3), (2, 3)), {**RANGE, "auto_broadcast": "none"}),
    Case("opset1.FakeQuantize", (("dynamic", (2, 3)), *typed((), (), (), ())), RANGE),
    Case("opset13.FakeConvert", typed((2, 3), (3,), (3,))),
    Case("opset13.FakeConvert", typed((2, 3), (1,)), {"destination_type": "f8e5m2"}),
    Case("opset13.FakeConvert", typed((2, 3), (1,)), {"destination_type": "f16"}),
]


STRICTER = {
    "FakeQuantize": "limits that broadcast with the data to a larger shape, or only because of its dimensions of 1, are an error",
}
"""What moir refuses and the runtime accepts, by kind."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    check_types(case, STRICTER)


LIMITS = (
    random(1, 4, 1, low=-1, high=-0.5),
    random(1, 4, 1, low=0.5, high=1),
    random(1, 4, 1, low=-3, high=-2),
    random(1, 4, 1, low=2, high=3),
)

# The CPU plugin computes wrong values (2026.4.1) if the limits of one side have different shapes, so these cannot be compared.
VALUES: list[tuple[str, tuple[np.ndarray, ...], dict[str, Any]]] = [
    *(("opset1.FakeQuantize", (random(3, 4, 50), *LIMITS), {"levels": levels}) for levels in (2, 16, 256)),
    ("opset1.FakeQuantize", (random(3, 4, 50), reals(-1), reals(1), reals(2), reals(-2)), {"levels": 16}),
]


@pytest.mark.parametrize(("name", "operands", "properties"), VALUES, ids=lambda item: item if isinstance(item, str) else None)
def test_values_are_those_of_the_runtime(name: str, operands: tuple[np.ndarray, ...], properties: dict[str, Any]) -> None:
    (ours,), (theirs,) = (evaluate(name, operands, properties) for evaluate in (evaluate_with_moir, evaluate_with_runtime))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
