"""The notation of numbers for channels."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ArgumentError
from moir.parameters.channel_values import ChannelValues, channel_values, divisors, notation_of
from moir.parameters.notation import NotationError


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("(1,2.5,-3)", [("", (1, 2.5, -3))]),
        ("[ 1, 2.5, -3 ]", [("", (1, 2.5, -3))]),
        ("1,2.5,-3", [("", (1, 2.5, -3))]),
        ("1e-3", [("", (0.001,))]),
        ("+.5", [("", (0.5,))]),
        ("(255,1,2),(1,2,3)", [("", (255, 1, 2)), ("", (1, 2, 3))]),
        ("(1,2),()", [("", (1, 2)), ("", ())]),
        ("image(1,2),scope/depth:0[3]", [("image", (1, 2)), ("scope/depth:0", (3,))]),
        ("'a,b'[1]", [("a,b", (1,))]),
        ("0:conv(1),12[2]", [("0:conv", (1,)), ("12", (2,))]),
        (7, [("", (7,))]),
        ([1, 2], [("", (1, 2))]),
        ([[255, 1], 3, []], [("", (255, 1)), ("", (3,)), ("", ())]),
        (np.array([1, 2], np.float32), [("", (1, 2))]),
        ([np.float32(0.5), np.int64(2)], [("", (0.5, 2))]),
        (np.array([[1, 2], [3, 4]]), [("", (1, 2)), ("", (3, 4))]),
        ({"b": (1, 2), "a": 3}, [("b", (1, 2)), ("a", (3,))]),
        ((), []),
        ({}, []),
    ],
)
def test_forms(value: object, expected: list[tuple[str, tuple[float, ...]]]) -> None:
    actual = channel_values(value)
    assert actual == tuple(ChannelValues(*each) for each in expected)
    assert not actual or channel_values(notation_of(actual)) == actual


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'(' or '[' is missing at the end"),
        ("image", "'(' or '[' is missing at character 1"),
        ("image(1,x)", "a number is missing at character 9"),
        ("image(1,2", "',' or ')' is missing at the end"),
        ("image(1,2]", "',' or ')' is missing at character 10"),
        ("image(1)(2)", "'(' is unexpected at character 9"),
        ("(1),a(2)", "some values have the name of an input and some do not"),
        ("a(1),a(2)", "'a' is there twice"),
        ("a()", "'a' has no values"),
        ("()", "there are no values"),
        ("1e999", "inf is not a number to compute with"),
    ],
)
def test_mistakes_are_located(text: str, reason: str) -> None:
    with pytest.raises(NotationError) as caught:
        channel_values(text)
    assert reason in str(caught.value)


@pytest.mark.parametrize("value", [None, True, ["a"], [[[1]]], {"a": None}, {"a": [[1]]}])
def test_objects_that_are_no_numbers(value: object) -> None:
    with pytest.raises(ArgumentError):
        channel_values(value)


def test_nothing_is_divided_by_zero() -> None:
    assert divisors("(1,-2)") == channel_values("(1,-2)")
    with pytest.raises(NotationError, match="division by 0"):
        divisors("(1,0)")
