"""Strings of ONNX, by their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node


def test_strings_are_concatenated() -> None:
    a, b = np.array([["a", "bc"], ["", "größe"]], object), np.array(["x", ""], object)
    check([node("StringConcat", ["a", "b"], ["y"])], {"a": a, "b": b}, expected=[a + b], forms=["static", "dynamic"])


@pytest.mark.parametrize("attributes", [{}, {"delimiter": ","}, {"delimiter": ", "}, {"delimiter": ",", "maxsplit": 1}])
def test_strings_are_split(attributes):
    x = np.array([["a,b, c", "größe , x"], ["", ",,"]], object)
    nodes = [node("StringSplit", ["x"], ["y", "n"], **attributes)]
    check(nodes, {"x": x}, reference="onnx", forms=["static", "dynamic"])


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_white_space_separates_a_number_of_times(limit: int) -> None:
    x = np.array(["a b  c", " größe  x y ", "", "one"], object)
    check([node("StringSplit", ["x"], ["y", "n"], maxsplit=limit)], {"x": x}, opset=20, forms=["static", "dynamic"])


WORDS = np.array([["user@host.org", "größe", ""], ["x1", "a\nb", "monday 日本"]], object)


@pytest.mark.parametrize("pattern", [r"[a-z]*", r"(\w+)@\w+\.\w+", r".*\d", r"[^m]*", r"(?:.|\n)+", r"m[a-y]{5} .{2}", r"größ?e|x\d+"])
def test_strings_match_an_expression(pattern: str) -> None:
    nodes = [node("RegexFullMatch", ["x"], ["y"], pattern=pattern)]
    check(nodes, {"x": WORDS}, opset=20, forms=["static", "dynamic"])


@pytest.mark.parametrize("pattern", [r"\bx", r"(?i)x", r"a^b", r"[[:alpha:]]", r"(x", r"x{2,1}", r"\pL", "*"])
def test_an_expression_without_automaton_is_refused(pattern: str) -> None:
    with pytest.raises(ConversionError, match=r"onnx\.RegexFullMatch.*the pattern is not supported"):
        check([node("RegexFullMatch", ["x"], ["y"], pattern=pattern)], {"x": WORDS}, opset=20, expected=[WORDS])


NAMES = np.array(["Monday", "ÄPFEL", "monday", "", "straße", "日本 ǆ"], object)


@pytest.mark.parametrize("as_constant", [False, True])
@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"case_change_action": "LOWER"}, ["monday", "äpfel", "monday", "", "straße", "日本 ǆ"]),
        ({"case_change_action": "UPPER"}, ["MONDAY", "ÄPFEL", "MONDAY", "", "STRASSE".replace("SS", "ß"), "日本 Ǆ"]),
        ({"stopwords": ["monday", "straße"]}, ["ÄPFEL", "", "日本 ǆ"]),
        ({"stopwords": ["monday", "äpfel"], "is_case_sensitive": 1}, ["Monday", "ÄPFEL", "", "straße", "日本 ǆ"]),
        ({"stopwords": ["äpfel"], "case_change_action": "UPPER"}, ["MONDAY", "MONDAY", "", "STRAßE", "日本 Ǆ"]),
        ({"stopwords": [each.lower() for each in NAMES]}, [""]),
    ],
)
def test_strings_are_normalized(attributes: dict[str, Any], expected: list[str], as_constant: bool) -> None:
    nodes = [node("StringNormalizer", ["x"], ["y"], **attributes)]
    for shape in ([-1], [1, -1]):
        given = {"x": NAMES.reshape(shape)}
        constants = {"constants": given} if as_constant else {}
        wanted = [np.array(expected, object).reshape(shape)]
        check(nodes, {} if as_constant else given, expected=wanted, forms=["static", "dynamic"], **constants)


def test_a_locale_with_other_capitals_is_refused() -> None:
    with pytest.raises(ConversionError, match="locale 'tr_TR'"):
        check([node("StringNormalizer", ["x"], ["y"], case_change_action="UPPER", locale="tr_TR")], {"x": NAMES}, expected=[NAMES])
