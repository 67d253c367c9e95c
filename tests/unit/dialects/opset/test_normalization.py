"""Normalization: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime
from tests.unit.dialects.opset.variations import (
    Case,
    Impossible,
    Operands,
    check_refused,
    check_types,
    integers,
    operand_text,
    random,
    typed,
)

AXES = (integers(1), integers(-1, 2), integers(), integers(4), np.array(1), ("i64", (2,)))
LRN = {"alpha": 1.0, "beta": 0.5, "bias": 1.0, "size": 3}
MVN = {"eps": 1e-5, "normalize_variance": True, "eps_mode": "INSIDE_SQRT"}

CASES = [
    Case("opset5.BatchNormInference", typed((2, 3, 4, 5), (3,), (3,), (3,), (3,)), {"epsilon": 1e-5}),
    Case("opset5.BatchNormInference", typed((2, 3), (3,), (3,), (3,), (3,), element="dynamic"), {"epsilon": 1e-5}),
    Case("opset12.GroupNormalization", typed((2, 4, 5), (4,), (4,)), {"num_groups": 2, "epsilon": 1e-5}),
    *(Case("opset1.NormalizeL2", typed((2, 3, 4, 5), axes), {"eps": 1e-5, "eps_mode": "add"}) for axes in AXES),
    *(Case("opset1.LRN", typed((2, 3, 4, 5), axes), LRN) for axes in AXES),
    *(Case("opset6.MVN", typed((2, 3, 4, 5), axes), MVN) for axes in AXES if operand_text(axes) != "=[4]"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    check_types(case)


CHANNELS = tuple(random(4, low=0.5) + index for index in range(4))

# The CPU plugin takes the whole part of the bias of LRN, so others cannot be compared.
VALUES: list[tuple[str, tuple[np.ndarray, ...], dict[str, Any]]] = [
    ("opset5.BatchNormInference", (random(2, 4, 5), *CHANNELS), {"epsilon": 0.01}),
    ("opset12.GroupNormalization", (random(2, 4, 5, 3), *CHANNELS[:2]), {"num_groups": 2, "epsilon": 0.01}),
    ("opset12.GroupNormalization", (random(2, 4), *CHANNELS[:2]), {"num_groups": 2, "epsilon": 0.01}),
    *(
        ("opset1.NormalizeL2", (random(2, 3, 4, 5) * 0.1, axes), {"eps": 0.3, "eps_mode": mode})
        for mode in ("add", "max")
        for axes in (integers(1), integers(1, 2, 3))
    ),
    *(
        ("opset6.MVN", (random(2, 3, 4, 5), axes), {"eps": 0.1, "eps_mode": mode, "normalize_variance": variance})
        for mode in ("INSIDE_SQRT", "OUTSIDE_SQRT")
        for variance in (True, False)
        for axes in (integers(2, 3), integers(1, -2, -1))
    ),
    *(
        ("opset1.LRN", (random(2, 7, 4, 5), axes), {"alpha": 0.8, "beta": 0.75, "bias": 2.0, "size": size})
        for size in (1, 3, 5)
        for axes in (integers(1), integers(2, 3))
    ),
]


@pytest.mark.parametrize(("name", "operands", "properties"), VALUES, ids=lambda item: item if isinstance(item, str) else None)
def test_values_are_those_of_the_runtime(name: str, operands: tuple[np.ndarray, ...], properties: dict[str, Any]) -> None:
    (ours,), (theirs,) = (evaluate(name, operands, properties) for evaluate in (evaluate_with_moir, evaluate_with_runtime))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


IMPOSSIBLE: list[Impossible] = [
    ("opset12.GroupNormalization", typed((2, 4), (4,), (4,)), {"num_groups": 0, "epsilon": 0.0}, "not a multiple of 0"),
]


@pytest.mark.parametrize(("name", "operands", "properties", "reason"), IMPOSSIBLE, ids=lambda item: item if isinstance(item, str) else None)
def test_impossible_properties_are_inference_errors(name: str, operands: Operands, properties: dict[str, Any], reason: str) -> None:
    check_refused(name, operands, properties, reason)
