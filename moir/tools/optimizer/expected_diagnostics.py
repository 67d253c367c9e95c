"""`moir-opt --verify-diagnostics`: errors that a text announces in comments, compared with those that occur.

    // expected-error@+1 {{strides [0, 1] has an entry below 1}}
    %c = opset1.Convolution(%x, %w) {strides = [0, 1], …} : tensor<1x8x4x4xf32>

The text in braces is a part of the message. The place is the line of the comment or, after `@`, a line relative to it
(`+1`, `-2`), the nearest line `above` or `below` without such a comment, or `unknown` for an error without a place. In
`expected-error-re` the text in inner braces is a regular expression: `{{rank {{[0-9]+}} is not}}`. These are the rules
of MLIR. moir has errors only, so an `expected-warning`, `-note` or `-remark` does not occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moir.errors import ModelFileError

_COMMENT = re.compile(
    r"expected-(?P<kind>error|warning|note|remark)(?P<regex>-re)?\s*"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}"
)


@dataclass(frozen=True)
class Expectation:
    """An error that a comment announces.

    Args:
        kind: `error`, or another kind of diagnostic.
        line: line of the file; None for an error without a place.
        text: the comment's text in braces.
        is_regex: whether inner braces enclose regular expressions.
        comment_line: line of the comment.
        comment_column: column of the comment.
    """

    kind: str
    line: int | None
    text: str
    is_regex: bool
    comment_line: int
    comment_column: int

    def matches(self, line: int | None, message: str) -> bool:
        """Whether an error at a line is the announced one; `line` is None for an error without a place."""
        return self.kind == "error" and self.line == line and re.search(self.pattern(), message, re.DOTALL) is not None

    def pattern(self) -> str:
        """The regular expression that is searched in the message."""
        if not self.is_regex:
            return re.escape(self.text)
        parts = re.split(r"\{\{(.*?)\}\}", self.text)
        return "".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))


def expectations_of(text: str, name: str, line_offset: int = 0) -> list[Expectation]:
    """The errors that the comments of a text announce.

    Args:
        text: the text.
        name: the name of the file.
        line_offset: the number of lines of the file before the text.

    Raises ModelFileError for a regular expression with a syntax error.
    """
    lines = text.split("\n")
    matches = [_COMMENT.search(line) for line in lines]
    plain = [index for index, match in enumerate(matches) if match is None]
    expected = [
        Expectation(
            match["kind"],
            None if (line_index := _line(match["place"], index, plain)) is None else line_index + 1 + line_offset,
            match["text"],
            match["regex"] is not None,
            index + 1 + line_offset,
            match.start() + 1,
        )
        for index, match in enumerate(matches)
        if match is not None
    ]
    for each in expected:
        try:
            re.compile(each.pattern())
        except re.error as error:
            location = f"{name}:{each.comment_line}:{each.comment_column}"
            raise ModelFileError(f"{each.text!r} has no regular expression in its braces: {error}", location=location) from error
    return expected


def _line(location: str | None, index: int, plain: Sequence[int]) -> int | None:
    """The line that a comment's `@…` refers to; None for an error without a place.

    Args:
        location: the text after `@`: a number relative to the comment, `above`, `below` or `unknown`; None without `@`.
        index: the line of the comment.
        plain: the lines without expectations, in order.
    """
    match location:
        case None:
            return index
        case "unknown":
            return None
        case "above":
            return max((other for other in plain if other < index), default=index)
        case "below":
            return min((other for other in plain if other > index), default=index)
        case _:
            return index + int(location)


def differences(name: str, expected: Iterable[Expectation], errors: Iterable[tuple[int | None, int | None, str]]) -> list[str]:
    """The unexpected errors and the missing ones, each as a line of text; empty if all is as expected.

    Args:
        name: the name of the file.
        expected: the errors that are announced.
        errors: line, column and message of each error that occurred; line and column are None without a place.
    """
    missing = list(expected)
    lines: list[str] = []
    for line, column, message in errors:
        matching = next((each for each in missing if each.matches(line, message)), None)
        if matching is None:
            position = name if line is None else f"{name}:{line}:{column}"
            lines.append(f"{position}: unexpected error: {message}")
        else:
            missing.remove(matching)
    lines.extend(
        f"{name}:{each.comment_line}:{each.comment_column}: "
        f"expected {each.kind} {each.text!r} did not occur {'without a place' if each.line is None else f'in line {each.line}'}"
        for each in missing
    )
    return lines
