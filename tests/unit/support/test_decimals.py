"""Decimal numbers in texts of files."""

from __future__ import annotations

import pytest

from moir.dialects.opset.infrastructure import parse_shape
from moir.errors import InferenceError
from moir.lowering.onnx.strings.regular_expressions import UnsupportedExpression, automaton
from moir.support.decimals import decimal_of


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_a_number(text: str, number: int) -> None:
    assert decimal_of(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1_0", "9" * 19, "1" * 5000, "²", "٣"])
def test_no_number(text: str) -> None:
    assert decimal_of(text) is None


def test_a_shape_with_a_number_of_5000_digits_is_refused() -> None:
    with pytest.raises(InferenceError, match="is not a shape"):
        parse_shape(f"2,{'1' * 5000}")


def test_a_repetition_of_5000_digits_is_refused() -> None:
    with pytest.raises(UnsupportedExpression, match="not a number of repetitions"):
        automaton(f"a{{{'1' * 5000}}}")
