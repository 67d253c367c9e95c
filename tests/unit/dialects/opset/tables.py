"""Types and values of operations against OpenVINO Runtime, from tables of alternatives for each operand.

Operands are written `f[2,?]`, a value of type f32 (`i` i64, `j` i32, `b` boolean, `x` of unknown element type), `f[...]` with unknown
rank; `=[1,2]`, a constant; `-`, an absent operand. A row lists alternatives for each operand; all combinations are tried.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime, infer_with_moir, infer_with_runtime

Properties = dict[str, Any]

LETTERS = {"f": "f32", "i": "i64", "j": "i32", "b": "boolean", "x": "dynamic"}

Row = tuple[str, list[Properties], list[str], int]
"""Names, sets of properties, alternatives for each operand, number of results."""

CONSTANT_OPERANDS: dict[str, tuple[int, ...]] = {
    "opset1.Concat": (),
    "opset1.Select": (),
    "opset15.STFT": (2, 3),
    "opset15.SearchSorted": (),
    "opset16.ISTFT": (2, 3, 4),
}
"""Operands that are constants, where these are not all but the first."""


def operand(text: str) -> Any:
    """The operand a text stands for, as `runtime_reference` takes it."""
    if text == "-":
        return None
    if text[0] == "=":
        values = np.array(json.loads(text[1:]))
        return values if values.dtype == bool else values.astype(np.int64)
    dimensions = text[2:-1]
    if dimensions == "...":
        return (LETTERS[text[0]], None)
    return (LETTERS[text[0]], tuple(-1 if d == "?" else int(d) for d in dimensions.split(",") if d))


def cases(row: Row) -> list[tuple[str, list[Any], dict[str, Any], int]]:
    """All combinations of a row."""
    names, properties, alternatives, results = row
    choices = list(itertools.product(*(text.split() for text in alternatives)))
    return [(name, list(map(operand, choice)), some, results) for name in names.split() for some in properties for choice in choices]


def reals(*shape: int) -> np.ndarray[Any, Any]:
    """Random numbers of type f32, the same ones in every run."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def whole(*shape: int, below: int = 50) -> np.ndarray[Any, Any]:
    """Random integers of type i64 around 0."""
    return np.random.default_rng(sum(shape)).integers(-below, below, shape)


def numbers(values: Any) -> np.ndarray[Any, Any]:
    """Integers of type i64."""
    return np.array(values, dtype=np.int64)


def row_names(rows: list[Row]) -> list[str]:
    """A name of each row of a table."""
    return [f"{index}-{row[0].replace(' ', '+')}" for index, row in enumerate(rows)]


def check_types(row: Row) -> None:
    """Assert that moir and the runtime infer the same types for all combinations of a row, or both refuse."""
    for case in cases(row):
        try:
            expected: Any = infer_with_runtime(*case)
        except RuntimeError:
            with pytest.raises(InferenceError):
                infer_with_moir(*case)
        else:
            assert infer_with_moir(*case) == expected, case


def check_refused(row: Row) -> None:
    """Assert that moir refuses all combinations of a row."""
    for case in cases(row):
        with pytest.raises(InferenceError):
            infer_with_moir(*case)


def check_values(name: str, properties: Properties, arrays: list[Any], results: int = 1) -> None:
    """Assert that moir and the runtime compute the same."""
    expected = evaluate_with_runtime(name, arrays, properties, results, CONSTANT_OPERANDS.get(name))
    actual = evaluate_with_moir(name, arrays, properties, results)
    for a, b in zip(actual, expected, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
