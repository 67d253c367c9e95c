"""Nodes that random testing found to be wrong: classical machine learning."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.node_case import COMPLETE, STATIC, NodeCase

LETTERS = np.array(["a", "b", "c"] * 50, object).reshape(5, 30)

CASES: dict[str, NodeCase] = {
    "LabelEncoder of many constants": NodeCase(
        "LabelEncoder",
        {},
        {"x": LETTERS},
        attributes={"keys_strings": ["a", "c"], "values_strings": ["x", "yy"], "default_string": "none", "domain": "ai.onnx.ml"},
        options=COMPLETE | STATIC | {"domain_version": 4},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
