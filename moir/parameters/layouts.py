"""Layouts: the meaning of the dimensions of a tensor.

    nhwc                          a letter or digit for each dimension, upper and lower case alike
    [n,h,w,c]  [batch,time,mel]   a name for each dimension
    n?hw  [n,?,h,w]               a dimension of which nothing is said
    n...c  [n,...,c]              any number of them
    [n*c,h,w]                     one dimension into which two are fused

The names `batch` and `b`, `channel` and `channels`, `depth`, `height` and `width` are those of `n`, `c`, `d`, `h` and
`w`, as for OpenVINO Runtime.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from moir.errors import UsageError
from moir.parameters.notation import Notation

UNNAMED, ANY_NUMBER, FUSED = "?", "...", "*"

CHANNELS = "C"

_SYNONYMS = {"B": "N", "BATCH": "N", "CHANNEL": "C", "CHANNELS": "C", "DEPTH": "D", "HEIGHT": "H", "WIDTH": "W"}

_ANY_NUMBER = r"\.\.\."
_SHORT = rf"\?|{_ANY_NUMBER}|[A-Za-z0-9]"
_LONG = rf"\?|{_ANY_NUMBER}|_*[A-Za-z0-9][A-Za-z0-9_]*"
_SHORT_IN_BRACKETS = rf"\[\s*(?=(?:[ncdhwNCDHW?]|{_ANY_NUMBER}){{2,}}\s*\])"


@dataclass(frozen=True)
class Layout:
    """The meaning of the dimensions of a tensor.

    Args:
        dimensions: for each dimension its name, in capitals; `?` for a dimension without a name, `...` for any number
            of dimensions without names, and `N*C` for a dimension into which several are fused.
    """

    dimensions: tuple[str, ...]

    @staticmethod
    def of_text(text: str) -> Layout:
        """The layout that a text describes. Raises NotationError for an invalid text."""
        notation = Notation(text)
        layout = read_layout(notation)
        notation.end()
        return layout

    def __str__(self) -> str:
        """The notation: short where each dimension has one letter."""
        names = [each.lower() for each in self.dimensions]
        if all(len(each) == 1 or each == ANY_NUMBER for each in names):
            return "".join(names)
        return f"[{','.join(names)}]"

    @property
    def for_runtime(self) -> str:
        """The layout in the notation of the IR's runtime information: `[N,?,H,W]`.

        It has no names for fused dimensions.
        """
        return f"[{','.join(UNNAMED if FUSED in each else each for each in self.dimensions)}]"

    def of_rank(self, rank: int) -> Layout:
        """The layout of a tensor of a rank, without `...`. Raises UsageError if the rank does not fit."""
        least = len(self.dimensions) - self.dimensions.count(ANY_NUMBER)
        if rank < least or (rank > least and ANY_NUMBER not in self.dimensions):
            number = least if ANY_NUMBER not in self.dimensions else f"{least} or more"
            raise UsageError(f"the layout {self} has {number} dimensions, not {rank}")
        unnamed = (UNNAMED,) * (rank - least)
        return Layout(tuple(name for each in self.dimensions for name in (unnamed if each == ANY_NUMBER else (each,))))

    def index(self, name: str) -> int | None:
        """The index of a dimension, counted from the end if it is after `...`; None if no dimension has only this
        name.
        """
        if name not in self.dimensions:
            return None
        index = self.dimensions.index(name)
        return index - len(self.dimensions) if ANY_NUMBER in self.dimensions[:index] else index


def read_layout(notation: Notation) -> Layout:
    """Read a layout, such as `NCHW` or `[n,c,...]`. Raises NotationError for any other text."""
    if notation.matched(_SHORT_IN_BRACKETS) is not None:
        layout = _read_short(notation)
        notation.expect(r"\]", "']'")
        return layout
    return _read_long(notation) if notation.matched(r"\[") is not None else _read_short(notation)


def starts_layout(notation: Notation) -> bool:
    """Whether a layout may begin at the next character: it is a bracket, or the name of a dimension."""
    return _starts(notation, rf"\[|{_SHORT}")


def _read_short(notation: Notation) -> Layout:
    names: list[str] = []
    while _starts(notation, _SHORT):
        names.append(_read_name(notation, _SHORT, names))
    if not names:
        raise notation.fault("a layout is missing", hint="such as nchw, or [n,c,h,w]")
    return Layout(tuple(names))


def _read_long(notation: Notation) -> Layout:
    names: list[str] = []
    dimensions: list[str] = []
    while not dimensions or notation.matched(",") is not None:
        start, first = notation.position, len(names)
        names.append(_read_name(notation, _LONG, names))
        while notation.matched(r"\*") is not None:
            names.append(_read_name(notation, _LONG, names))
        fused = names[first:]
        if len(fused) > 1 and not {UNNAMED, ANY_NUMBER}.isdisjoint(fused):
            raise notation.fault("only dimensions with names can be fused", at=start)
        dimensions.append(FUSED.join(fused))
    notation.expect(r"\]", "',' or ']'")
    return Layout(tuple(dimensions))


def _starts(notation: Notation, pattern: str) -> bool:
    return re.match(pattern, notation.rest) is not None


def _read_name(notation: Notation, pattern: str, others: Sequence[str]) -> str:
    """Read the name of a dimension, in capitals and without synonyms.

    Args:
        notation: the text.
        pattern: the regular expression of the name.
        others: the names that were read before.

    Raises NotationError if there is no name, or it is among `others`.
    """
    start = notation.position
    written = notation.expect(pattern, "the name of a dimension")
    name = _SYNONYMS.get(written.upper(), written.upper())
    if name in others and name != UNNAMED:
        raise notation.fault(f"{written!r} is there twice", at=start)
    return name
