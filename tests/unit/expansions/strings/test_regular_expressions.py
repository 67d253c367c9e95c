"""Automata of regular expressions, compared with the expressions of Python."""

from __future__ import annotations

import re

import pytest

from moir.lowering.onnx.strings.regular_expressions import MOST_STATES, UnsupportedExpression, automaton, byte_sequences

TEXTS = ["", "a", "ab", "abc", "abd", "cdd", "ddd", "abab", "user@host.org", "x1", "Ä", "ÄÄ", "öx", "äx", "zx", "A", "aabb", "1.2-3"]
TEXTS += ["aac", "]", "\n", "a\nb", "😀", "日本", "aaa", "aaaa", "aab", "a-c", "\t"]


def accepts(pattern: str, text: str) -> bool:
    result, state = automaton(pattern), 0
    for byte in text.encode():
        state = result.table[state, byte]
    return bool(result.accepting[state])


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "abc", "[a-z]*", r"(\w+)@\w+\.\w+", "a.*", r".*\d", "(ab|c)?d{2,3}", "[^a-c]+", "Ä+|x", "^abc$", "a{0}", "(a*)*"),
        *("a+?b", "(?:ab){2}", r"[\d.-]+", "(?P<x>a|b)+", "[]a]", "[ä-ö]x", r"\x41", "(a|b){2,}c*", r"[^\n]", "(a?){3}", r"\W\D|\t"),
    ],
)
def test_it_accepts_what_the_expression_matches(pattern: str) -> None:
    wrong = [text for text in TEXTS if accepts(pattern, text) != bool(re.fullmatch(pattern, text, re.ASCII))]
    assert not wrong


@pytest.mark.parametrize("pattern", ["(", "a)", "[a", "a{2,1}", "*a", r"\b", "(?i)a", "[[:digit:]]", "a$b", "(?P<x", "\\", "[b-a]"])
def test_what_has_no_automaton_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedExpression):
        automaton(pattern)


def test_the_number_of_states_is_limited() -> None:
    with pytest.raises(UnsupportedExpression, match=f"more than {MOST_STATES} states"):
        automaton("(a|b)*a(a|b){16}")


def test_the_parts_that_all_states_stand_for_are_limited() -> None:
    with pytest.raises(UnsupportedExpression, match="too many parts"):
        automaton("((a?){60}){60}")


@pytest.mark.parametrize(("low", "high"), [(0, 0x10FFFF), (65, 65), (0x7F, 0x80), (0x7FE, 0x803), (0xFFFE, 0x10001), (0xC0, 0x3BF)])
def test_the_bytes_of_a_range_are_those_of_its_characters(low: int, high: int) -> None:
    def contains(text: bytes) -> int:
        return sum(
            len(parts) == len(text) and all(first <= byte <= last for (first, last), byte in zip(parts, text, strict=True))
            for parts in byte_sequences(low, high)
        )

    for code in {*range(max(low - 2, 0), min(low + 70, 0xD7FF)), *range(max(high - 70, 0), min(high + 3, 0x10FFFF + 1))}:
        if not 0xD800 <= code <= 0xDFFF:
            assert contains(chr(code).encode()) == (low <= code <= high)
