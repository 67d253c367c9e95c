"""Strings of ONNX, by their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, NodeCase


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


TEXTS = np.array([["a", ""], ["Ä", "bc"], ["", "d"]], dtype=object)

LETTERS = np.array(["a", "b", "c"] * 50, object).reshape(5, 30)

NODES: dict[str, NodeCase] = {
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
    "Slice of strings at computed indices": NodeCase(
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


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


def test_reductions_of_strings_are_refused() -> None:
    inputs = {"x": np.array(["a", "b"], object), "i": np.array([[0]]), "u": np.array(["c"], object)}
    with pytest.raises(ConversionError, match="the operation sets order and add no strings"):
        check([node("ScatterND", ["x", "i", "u"], ["y"], reduction="min")], inputs, opset=18, forms=["static"], expected=[])
