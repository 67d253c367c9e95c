"""The comments of `--verify-diagnostics` and their comparison with errors."""

from __future__ import annotations

import pytest

from moir.errors import ModelFileError
from moir.tools.optimizer.expected_diagnostics import differences, expectations_of


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["", "op // expected-error {{bad}}"], 2),
        (["", "// expected-error@+1 {{bad}}", "op"], 3),
        (["op", "// expected-error@-1 {{bad}}"], 1),
        (["// expected-error@below {{bad}}", "// expected-error @below {{worse}}", "op"], 3),
        (["op", "// expected-error@above {{bad}}"], 1),
        (["op", "// expected-error@unknown {{bad}}"], None),
    ],
)
def test_places(lines: list[str], expected: int | None) -> None:
    actual = expectations_of("\n".join(lines), "a.mlir")
    assert {each.line for each in actual} == {expected}
    actual = expectations_of("\n".join(lines), "a.mlir", 10)
    assert {each.line for each in actual} == {None if expected is None else expected + 10}


def test_several_comments_with_relative_places() -> None:
    text = "op\n// expected-error@above {{one}}\n// expected-error@above {{two}}\n// expected-error@below {{three}}\nop"
    assert [(each.line, each.text) for each in expectations_of(text, "a.mlir")] == [(1, "one"), (1, "two"), (5, "three")]


@pytest.mark.parametrize(
    ("comment", "message", "matches"),
    [
        ("expected-error {{b [1] c}}", "a b [1] c d", True),
        ("expected-error {{b . c}}", "b x c", False),
        ("expected-error {{has {braces} inside}}", "it has {braces} inside", True),
        ("expected-error-re {{rank {{[0-9]+}} (is) bad}}", "rank 17 (is) bad", True),
        ("expected-error-re {{rank {{[0-9]+}} is}}", "rank x is", False),
        ("expected-error-re {{{{^}}start}}", "not a start", False),
        ("expected-warning {{b}}", "b", False),
    ],
)
def test_messages(comment: str, message: str, matches: bool) -> None:
    (expectation,) = expectations_of(comment, "a.mlir")
    assert expectation.matches(1, message) == matches
    assert not expectation.matches(2, message)
    assert not expectation.matches(None, message)


def test_each_comment_is_for_one_error() -> None:
    expected = expectations_of("// expected-error {{bad}}", "a.mlir")
    assert differences("a.mlir", expected, [(1, 4, "very bad")]) == []
    assert differences("a.mlir", expected, [(1, 4, "very bad"), (1, 4, "bad, too")]) == ["a.mlir:1:4: unexpected error: bad, too"]
    assert differences("a.mlir", expected, []) == ["a.mlir:1:4: expected error 'bad' did not occur in line 1"]
    assert differences("a.mlir", [], [(None, None, "bad")]) == ["a.mlir: unexpected error: bad"]


def test_a_regular_expression_with_a_syntax_error() -> None:
    with pytest.raises(ModelFileError, match="no regular expression") as raised:
        expectations_of("\n// expected-error-re {{a {{(}} b}}", "a.mlir")
    assert raised.value.location == "a.mlir:2:4"
