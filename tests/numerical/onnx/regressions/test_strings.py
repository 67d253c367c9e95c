"""Nodes that random testing found to be wrong: strings."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, NodeCase

TEXTS = np.array([["a", ""], ["Ä", "bc"], ["", "d"]], dtype=object)

LETTERS = np.array(["a", "b", "c"] * 50, object).reshape(5, 30)

CASES: dict[str, NodeCase] = {
    "StringConcat with nothing": NodeCase(
        "StringConcat", {"a": np.array(["a"], object)}, {"b": np.zeros((3, 0), object)}, options=STATIC | EVALUATED
    ),
    "Upsample of strings": NodeCase(
        "Upsample",
        {"x": np.array(["a", "b"], object).reshape(1, 1, 1, 2)},
        {"scales": np.array([1, 1, 2, 1], np.float32)},
        options=STATIC | EVALUATED | {"opset": 9},
    ),
    "StringConcat with a constant without elements": NodeCase(
        "StringConcat", {"b": np.zeros((0, 0), object)}, {"a": np.zeros((0, 1), object)}, operands="a b", options=DYNAMIC
    ),
    **{
        f"TfIdfVectorizer of strings, {mode}": NodeCase(
            "TfIdfVectorizer",
            {"x": np.array([["b", "a", "c", "", "b"], ["b", "Ä", "a", "b", "a"]], object)},
            attributes={
                "mode": mode,
                "min_gram_length": 1,
                "max_gram_length": 2,
                "max_skip_count": 1,
                "ngram_counts": [0, 3],
                "ngram_indexes": [1, 0, 2, 4, 3],
                "pool_strings": ["a", "b", "Ä", "b", "a", "a", "b"],
                "weights": [0.5, 1.0, 2.0, 1.5, 3.0],
            },
            options=WITH_RANK,
        )
        for mode in ("TF", "TFIDF")
    },
    "Reshape of constant strings to a computed shape": NodeCase(
        "Reshape", {"shape": np.array([2, -1])}, {"x": TEXTS}, operands="x shape", options=STATIC
    ),
    "Unsqueeze of constant strings along computed axes": NodeCase(
        "Unsqueeze", {"a": np.array([1])}, {"x": LETTERS}, operands="x a", options=COMPLETE | STATIC
    ),
    "Slice of constant strings along computed axes": NodeCase(
        "Slice", {"a": np.array([0])}, {"x": LETTERS, "b": np.array([1]), "e": np.array([3])}, operands="x b e a", options=COMPLETE | STATIC
    ),
    "Slice of strings along computed axes": NodeCase(
        "Slice", {"x": LETTERS, "a": np.array([0])}, {"b": np.array([1]), "e": np.array([3])}, operands="x b e a", options=COMPLETE | STATIC
    ),
    "TfIdfVectorizer of lists that are too short": NodeCase(
        "TfIdfVectorizer",
        {"x": np.array([[2], [7]])},
        attributes={
            "mode": "TF",
            "min_gram_length": 1,
            "max_gram_length": 2,
            "max_skip_count": 0,
            "ngram_counts": [0, 2],
            "ngram_indexes": [0, 1, 2],
            "pool_int64s": [2, 3, 2, 3],
        },
        options=COMPLETE | STATIC,
    ),
    "Slice of strings at computed places": NodeCase(
        "Slice",
        {"x": LETTERS, "b": np.array([3]), "s": np.array([-1])},
        {"e": np.array([0]), "a": np.array([0])},
        operands="x b e a s",
        options=COMPLETE | DYNAMIC,
    ),
    "Upsample of constant strings": NodeCase(
        "Upsample",
        {},
        {"x": np.array([[["a", "b"]]], object), "s": np.array([1, 3, 2], np.float32)},
        options=COMPLETE | STATIC | EVALUATED | {"opset": 9},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


def test_reductions_of_strings_are_refused() -> None:
    inputs = {"x": np.array(["a", "b"], object), "i": np.array([[0]]), "u": np.array(["c"], object)}
    with pytest.raises(ConversionError, match="orders and adds no strings"):
        check([node("ScatterND", ["x", "i", "u"], ["y"], reduction="min")], inputs, opset=18, forms=["static"], expected=[])
