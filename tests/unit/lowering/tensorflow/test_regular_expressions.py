"""Patterns of RE2 written anew for PCRE2."""

from __future__ import annotations

import pytest

from moir.lowering.tensorflow.strings.re2 import UnknownPattern, rewritten, written_anew


@pytest.mark.parametrize(
    ("pattern", "expected", "least", "empty"),
    [
        ("ab", r"\x{61}\x{62}", 2, False),
        ("a|bc", r"(?:\x{61}|\x{62}\x{63})", 1, False),
        ("^.$", r"\A[^\x{a}]\z", 1, False),
        (r"\d*?", r"(?:[\x{30}-\x{39}]){0,}?", 0, True),
        (r"[^\s,]", r"[^\x{9}-\x{a}\x{c}-\x{d}\x{20}\x{2c}]", 1, False),
        (r"\p{Lu}[\pN-]", r"[\p{Lu}][\p{N}\x{2d}]", 2, False),
        ("[[:digit:][:^ascii:]]", r"[\x{30}-\x{39}\x{80}-\x{10ffff}]", 1, False),
        ("(a)?(?:b)", r"(?:(\x{61})){0,1}\x{62}", 1, False),
        ("$|a", r"(?:\z|\x{61})", 0, True),
    ],
)
def test_patterns(pattern: str, expected: str, least: int, empty: bool) -> None:
    actual = written_anew(pattern)
    assert (actual.text, actual.least, actual.matches_empty) == (expected, least, empty)


def test_boundaries_are_not_in_an_empty_text() -> None:
    assert not written_anew(r"\b").matches_empty
    assert written_anew(r"\B").matches_empty


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?i)a", "flags"),
        ("(?i:a)", "flags"),
        (r"a\z", "flags"),
        (r"a\01", "flags"),
        ("a{,2}", "flags"),
        ("[[:letters:]]", "no class 'letters'"),
        ("a**", "not a known expression"),
        (r"\p{Greek}", "not a known expression"),
        ("[[a]]", "not a known expression"),
        ("(a", "not a known expression"),
        ("(a*)*", "repeats what may be empty"),
        ("(a+b)*", "may take for ever"),
        ("a{1001}", "more repetitions"),
        ("a++", "a part that RE2 does not have"),
        ("\U000f0000", "private ones"),
        ("a" * 2000, "longer than 1000"),
    ],
)
def test_what_is_left(pattern: str, reason: str) -> None:
    with pytest.raises(UnknownPattern, match=reason):
        written_anew(pattern)


def test_rewrites() -> None:
    expression = written_anew("(a)(b)?(c|(d))")
    assert expression.groups == 4
    assert expression.unset == {2, 4}
    assert rewritten(r"<\0\\\3$\u00e9".replace(r"\u00e9", "\u00e9"), expression) == ("<${0}\\${3}$$\u00e9", 5, 2)
    for rewrite, reason in ((r"\2", "part 2"), (r"\5", "part 5"), ("\\", "backslash"), (r"\a", "backslash")):
        with pytest.raises(UnknownPattern, match=reason):
            rewritten(rewrite, expression)
