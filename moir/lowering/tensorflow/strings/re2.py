"""Translates regular expressions of RE2 to PCRE2.

TensorFlow's operations have RE2's syntax, those of OpenVINO Tokenizers PCRE2's. Both search from left to right and
prefer the alternatives that are written first. They differ in classes of characters, at the ends of lines and in the
context of words, so a pattern is rewritten with all of these spelled out. Patterns that PCRE2 might match
differently, or search without end, are not rewritten.

Source: https://github.com/google/re2/wiki/Syntax and https://www.pcre.org/current/doc/html/pcre2pattern.html
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from moir.errors import ConversionError

# Python's own parser of expressions, for which there are no types.
codes: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

LAST_CODE_POINT = 0x10FFFF
_PRIVATE = 0xF0000
"""The first of the private code points that stand for classes while a pattern is parsed."""
_MAXIMUM_LENGTH = 1000
_MAXIMUM_REPETITIONS = 1000

Ranges = tuple[tuple[int, int], ...]

_DIGITS: Ranges = ((0x30, 0x39),)
_SPACES: Ranges = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_WORDS: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_CLASSES: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGITS,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": _WORDS,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
"""The named classes of characters, which contain ASCII characters only, as ranges of code points."""
_PROPERTY = re.compile(r"\\(p)(?:(L|M|N|P|S|Z)|\{(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|Cc|Cf)\})")
_NAMED = re.compile(r"\[:(\^?)(\w+):\]")


class UnknownPattern(ConversionError):
    """A pattern that cannot be rewritten, with the reason."""


@dataclass
class Expression:
    """A pattern of PCRE2.

    Args:
        text: the pattern.
        least: the minimum number of characters in a match.
        groups: the number of groups.
        unset: the groups that a match may leave out.
        matches_empty: whether the empty text matches.
    """

    text: str
    least: int
    groups: int
    unset: set[int] = field(default_factory=set[int])
    matches_empty: bool = False


def written_anew(pattern: str) -> Expression:
    """Translates a pattern of RE2 to PCRE2. Raises UnknownPattern if no equivalent pattern is known."""
    if len(pattern) > _MAXIMUM_LENGTH or any(ord(each) >= _PRIVATE for each in pattern):
        raise UnknownPattern(f"it is longer than {_MAXIMUM_LENGTH} characters, or has private ones")
    if re.search(r"\{,|\\[QEC]|\\x\{|\(\?[^:P]|\\[Zz]|\\[0-9]", pattern):
        raise UnknownPattern("it has flags, octal numbers, or marks of the end of a text")
    classes: list[str] = []

    def private(text: str) -> str:
        classes.append(text)
        return chr(_PRIVATE + len(classes) - 1)

    marked = _PROPERTY.sub(lambda match: private(rf"\p{{{match[2] or match[3]}}}"), pattern)
    marked = _NAMED.sub(lambda match: private(_named(match[2], bool(match[1]))), marked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            tree = parser.parse(marked, re.ASCII)
        except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as error:
            raise UnknownPattern(f"it is not a known expression: {error}") from None
    if tree.state.flags & ~(re.ASCII | re.UNICODE):
        raise UnknownPattern("it has flags")
    writer = _Writer(classes)
    text = writer.sequence(tree, is_optional=False, in_loop=False)
    empty = writer.matches_empty(tree)
    return Expression(text, tree.getwidth()[0], tree.state.groups - 1, writer.unset, empty)


def _named(name: str, negated: bool) -> str:
    if name not in _CLASSES:
        raise UnknownPattern(f"there is no class {name!r}")
    return _ranges(_complement(_CLASSES[name]) if negated else _CLASSES[name])


def _symbol(code: int) -> str:
    return rf"\x{{{code:x}}}"


def _ranges(ranges: Iterable[tuple[int, int]]) -> str:
    """Ranges of code points as the members of a set in brackets."""
    return "".join(_symbol(first) if first == last else f"{_symbol(first)}-{_symbol(last)}" for first, last in ranges)


def _complement(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for first, last in ranges:
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    return (*gaps, (start, LAST_CODE_POINT))


_CATEGORIES: dict[Any, Ranges] = {
    codes.CATEGORY_DIGIT: _DIGITS,
    codes.CATEGORY_NOT_DIGIT: _complement(_DIGITS),
    codes.CATEGORY_SPACE: _SPACES,
    codes.CATEGORY_NOT_SPACE: _complement(_SPACES),
    codes.CATEGORY_WORD: _WORDS,
    codes.CATEGORY_NOT_WORD: _complement(_WORDS),
}
_WORD = f"[{_ranges(_WORDS)}]"
_BOUNDARY = f"(?:(?<!{_WORD})(?={_WORD})|(?<={_WORD})(?!{_WORD}))"
_PLACES: dict[Any, str] = {
    codes.AT_BEGINNING: r"\A",
    codes.AT_BEGINNING_STRING: r"\A",
    codes.AT_END: r"\z",
    codes.AT_BOUNDARY: _BOUNDARY,
    codes.AT_NON_BOUNDARY: f"(?!{_BOUNDARY})",
}
_REPEATS = {codes.MAX_REPEAT: "", codes.MIN_REPEAT: "?"}


class _Writer:
    """Writes the syntax tree of Python's parser of regular expressions as a pattern of PCRE2.

    Args:
        classes: the sets of characters that private code points stand for.
    """

    def __init__(self, classes: list[str]) -> None:
        self.classes = classes
        self.unset: set[int] = set()

    def sequence(self, parts: Any, *, is_optional: bool, in_loop: bool) -> str:
        """The pattern of PCRE2 for parts that follow each other.

        Args:
            parts: the parts as Python's parser returns them.
            is_optional: whether a match may leave the parts out.
            in_loop: whether the parts are repeated without a limit.
        """
        return "".join(self._part(code, value, is_optional, in_loop) for code, value in parts)

    def _part(self, code: Any, value: Any, is_optional: bool, in_loop: bool) -> str:
        if code is codes.LITERAL:
            return self._literal(value) if value < _PRIVATE else f"[{self._literal(value)}]"
        if code is codes.NOT_LITERAL:
            return f"[^{self._literal(value)}]"
        if code is codes.ANY:
            return r"[^\x{a}]"
        if code is codes.IN:
            return self._set(value)
        if code is codes.AT and value in _PLACES:
            return _PLACES[value]
        if code is codes.BRANCH:
            branches = (self.sequence(branch, is_optional=True, in_loop=in_loop) for branch in value[1])
            return f"(?:{'|'.join(branches)})"
        if code is codes.SUBPATTERN:
            group, added, removed, parts = value
            if added or removed:
                raise UnknownPattern("it has flags")
            if group is not None and is_optional:
                self.unset.add(group)
            return f"({'?:' if group is None else ''}{self.sequence(parts, is_optional=is_optional, in_loop=in_loop)})"
        if code in _REPEATS:
            least, most, parts = value
            return self._repeat(code, least, most, parts, is_optional=is_optional, in_loop=in_loop)
        raise UnknownPattern(f"it has a part that RE2 does not have: {str(code).lower()}")

    def _repeat(self, code: Any, least: int, most: Any, parts: Any, *, is_optional: bool, in_loop: bool) -> str:
        endless = most is codes.MAXREPEAT
        if not endless and most > _MAXIMUM_REPETITIONS:
            raise UnknownPattern("it has more repetitions than RE2 admits")
        if parts.getwidth()[0] == 0 and most != 1:
            raise UnknownPattern("it repeats what may be empty")
        if endless and in_loop:
            raise UnknownPattern("it repeats what is repeated, which may take for ever")
        inner = self.sequence(parts, is_optional=is_optional or least == 0, in_loop=in_loop or endless)
        count = f"{{{least},}}" if endless else f"{{{least},{most}}}"
        return f"(?:{inner}){count}{_REPEATS[code]}"

    def _literal(self, code: int) -> str:
        return self.classes[code - _PRIVATE] if code >= _PRIVATE else _symbol(code)

    def _set(self, members: Any) -> str:
        parts: list[str] = []
        for code, value in members:
            if code is codes.NEGATE:
                parts.append("^")
            elif code is codes.LITERAL:
                parts.append(self._literal(value))
            elif code is codes.RANGE and value[1] < _PRIVATE:
                parts.append(_ranges([value]))
            elif code is codes.CATEGORY and value in _CATEGORIES:
                parts.append(_ranges(_CATEGORIES[value]))
            else:
                raise UnknownPattern("it has a set that is not known")
        return f"[{''.join(parts)}]"

    def matches_empty(self, parts: Any) -> bool:
        """Whether an expression's parts match the empty text, at which no word boundary (`\\b`) holds."""
        return all(self._empty(code, value) for code, value in parts)

    def _empty(self, code: Any, value: Any) -> bool:
        if code is codes.AT:
            return value is not codes.AT_BOUNDARY
        if code is codes.BRANCH:
            return any(map(self.matches_empty, value[1]))
        if code is codes.SUBPATTERN:
            return self.matches_empty(value[3])
        return code in _REPEATS and (value[0] == 0 or self.matches_empty(value[2]))


def rewritten(rewrite: str, expression: Expression) -> tuple[str, int, int]:
    """A replacement of RE2 in PCRE2's syntax, the number of its literal bytes, and the number of its references to
    groups.

    Raises UnknownPattern if it is malformed, or refers to a group that a match may leave out.
    """
    text, size, references = "", 0, 0
    for match in re.finditer(r"\\(\d|\\)|(\\)|([^\\])", rewrite, re.DOTALL):
        if match[2] is not None:
            raise UnknownPattern("its replacement ends with, or has a backslash that means nothing")
        if match[1] is not None and match[1] != "\\":
            group = int(match[1])
            if group > expression.groups or group in expression.unset:
                raise UnknownPattern(f"its replacement refers to part {group}, which a match may lack")
            text += f"${{{group}}}"
            references += 1
        else:
            symbol = match[1] or match[3]
            text += "$$" if symbol == "$" else symbol
            size += len(symbol.encode())
    return text, size, references
