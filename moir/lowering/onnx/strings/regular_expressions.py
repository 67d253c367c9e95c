"""Regular expressions as automata over the bytes of UTF-8: a table of the state after each state and byte.

    automaton("a[bc]*")  ->  table [states, 256], accepting [states]; state 0 is the first

The syntax is that of RE2 without flags, named classes, word boundaries, and anchors inside of the expression. Classes
like \\d and \\w are of ASCII, and a dot is any character except the end of a line, as in RE2. Construction of
Thompson, and of subsets: Aho, Sethi, Ullman, "Compilers", chapter 3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from moir.dialects.data import Array
from moir.support.decimals import decimal_of

LAST = 0x10FFFF
Ranges = list[tuple[int, int]]
"""Ranges of code points, both ends included."""

CLASSES: dict[str, Ranges] = {
    "d": [(48, 57)],
    "w": [(48, 57), (65, 90), (95, 95), (97, 122)],
    "s": [(9, 10), (12, 13), (32, 32)],
}
CONTROLS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7}
MOST_STATES = 4096
MOST_REPEATS = 1000
MOST_MEMBERS = 1 << 22
"""The maximum total size of the sets of nondeterministic states while the automaton is made deterministic; it bounds
the time.
"""


class UnsupportedExpression(ValueError):
    """An expression for which no automaton can be built; the message gives the reason."""


class Automaton(NamedTuple):
    """A deterministic automaton: the state after each state and byte [states, 256], and whether each state accepts."""

    table: Array
    accepting: Array


class Fragment(NamedTuple):
    """A part of a nondeterministic automaton: the indices of its first and its last state."""

    first: int
    last: int


def complement(ranges: Ranges) -> Ranges:
    """The code points that are in none of the given ranges, as ranges."""
    gaps: Ranges = []
    begin = 0
    for low, high in sorted(ranges):
        if low > begin:
            gaps.append((begin, low - 1))
        begin = max(begin, high + 1)
    return [*gaps, (begin, LAST)] if begin <= LAST else gaps


def byte_sequences(low: int, high: int) -> Iterator[list[tuple[int, int]]]:
    """Sequences of byte ranges that together encode the code points from `low` to `high` in UTF-8: ranges of the first
    byte, the second, ….
    """
    for limit in (0x7F, 0x7FF, 0xD7FF, 0xDFFF, 0xFFFF):
        if low <= limit < high:
            yield from byte_sequences(low, limit)
            yield from byte_sequences(limit + 1, high)
            return
    if 0xD800 <= low <= 0xDFFF:
        return
    for count in (1, 2, 3):
        mask = (1 << 6 * count) - 1
        if low & ~mask != high & ~mask and high > 0x7F:
            if low & mask:
                yield from byte_sequences(low, low | mask)
                yield from byte_sequences((low | mask) + 1, high)
                return
            if high & mask != mask:
                yield from byte_sequences(low, (high & ~mask) - 1)
                yield from byte_sequences(high & ~mask, high)
                return
    yield list(zip(chr(low).encode(), chr(high).encode(), strict=True))


class Builder:
    """Reads an expression into a nondeterministic automaton.

    Args:
        pattern: the expression.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.silent: list[list[int]] = []
        self.bytes: list[list[tuple[int, int, int]]] = []

    def state(self) -> int:
        """Add a state to the automaton; returns its index."""
        self.silent.append([])
        self.bytes.append([])
        if len(self.silent) > 50 * MOST_STATES:
            raise UnsupportedExpression("the expression is too long")
        return len(self.silent) - 1

    def peek(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def take(self) -> str:
        if self.place >= len(self.pattern):
            raise UnsupportedExpression("the expression is incomplete")
        self.place += 1
        return self.pattern[self.place - 1]

    def whole(self) -> Fragment:
        """Read the whole expression. Raises UnsupportedExpression for one that is malformed or not supported."""
        fragment = self.alternatives()
        if self.place < len(self.pattern):
            raise UnsupportedExpression(f"{self.pattern[self.place]!r} at character {self.place} closes nothing")
        return fragment

    def alternatives(self) -> Fragment:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.take()
            branches.append(self.sequence())
        if len(branches) == 1:
            return branches[0]
        fragment = Fragment(self.state(), self.state())
        for branch in branches:
            self.silent[fragment.first].append(branch.first)
            self.silent[branch.last].append(fragment.last)
        return fragment

    def sequence(self) -> Fragment:
        first = last = self.state()
        while self.peek() and self.peek() not in "|)":
            part = self.repeated()
            self.silent[last].append(part.first)
            last = part.last
        return Fragment(first, last)

    def repeated(self) -> Fragment:
        begin = self.place
        part = self.atom()
        end = self.place
        while (bounds := self.bounds()) is not None:
            if self.peek() == "?":
                # Texts are matched as a whole, so that lazy repetitions match the same as greedy ones.
                self.take()
            part = self.times(part, partial(self.again, begin, end), *bounds)
            end = self.place
        return part

    def again(self, begin: int, end: int) -> Fragment:
        """Read the part of the expression between two indices again; returns a new copy of its fragment."""
        position, self.place = self.place, begin
        fragment = self.atom()
        while self.place < end:
            bounds = self.bounds()
            if bounds is None:
                raise UnsupportedExpression("repetitions of repetitions")
            if self.peek() == "?":
                self.take()
            inner_end = self.place
            fragment = self.times(fragment, partial(self.again, begin, inner_end), *bounds)
        self.place = position
        return fragment

    def bounds(self) -> tuple[int, int | None] | None:
        """Read a repetition, if there is one at the current index.

        Returns its minimum and its maximum (None for no limit), or None if there is no repetition.
        """
        sign = self.peek()
        if sign in ("*", "+", "?"):
            self.take()
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        if sign != "{":
            return None
        text, _, _ = self.pattern[self.place + 1 :].partition("}")
        least, comma, most = text.partition(",")
        low, high = decimal_of(least), decimal_of(most)
        if low is None or (most and high is None):
            raise UnsupportedExpression(f"{{{text}}} is not a number of repetitions")
        self.place += len(text) + 2
        bounds = low, high if comma else low
        if max(bounds[0], bounds[1] or 0) > MOST_REPEATS or (bounds[1] is not None and bounds[1] < bounds[0]):
            raise UnsupportedExpression(f"{{{text}}} is not a number of repetitions")
        return bounds

    def times(self, part: Fragment, another: Callable[[], Fragment], least: int, most: int | None) -> Fragment:
        """The fragment of `part` repeated `least` to `most` times (None for no limit); `another` makes a copy of it."""
        first = last = self.state()
        count = max(least, 1) if most is None else most
        copies = [part, *(another() for _ in range(count - 1))] if count else []
        ends: list[int] = []
        for index, copy in enumerate(copies):
            if index >= least:
                ends.append(last)
            self.silent[last].append(copy.first)
            last = copy.last
        if most is None:
            self.silent[last].append(copies[-1].first)
        final = self.state()
        for end in [*ends, last]:
            self.silent[end].append(final)
        return Fragment(first, final)

    def atom(self) -> Fragment:
        match sign := self.take():
            case "(":
                return self.group()
            case "[":
                return self.characters(self.bracket())
            case ".":
                return self.characters(complement([(10, 10)]))
            case "^" if self.place == 1:
                return self.nothing()
            case "$" if self.place == len(self.pattern):
                return self.nothing()
            case "^" | "$" | "*" | "+" | "?" | "{":
                raise UnsupportedExpression(f"{sign!r} at character {self.place - 1}")
            case "\\":
                return self.characters(self.escaped())
            case _:
                return self.characters([(ord(sign), ord(sign))])

    def nothing(self) -> Fragment:
        state = self.state()
        return Fragment(state, state)

    def group(self) -> Fragment:
        if self.peek() == "?":
            self.take()
            if self.peek() in ("P", "<"):
                _, closing, rest = self.pattern[self.place :].partition(">")
                if not closing:
                    raise UnsupportedExpression("a name is incomplete")
                self.place = len(self.pattern) - len(rest)
            elif self.take() != ":":
                raise UnsupportedExpression("flags")
        fragment = self.alternatives()
        if self.take() != ")":
            raise UnsupportedExpression("a group is incomplete")
        return fragment

    def escaped(self) -> Ranges:
        """Read the class or character after a backslash; returns its code points."""
        sign = self.take()
        if sign.lower() in CLASSES:
            ranges = CLASSES[sign.lower()]
            return ranges if sign.islower() else complement(ranges)
        if sign in CONTROLS:
            return [(CONTROLS[sign], CONTROLS[sign])]
        if sign == "x" and len(digits := self.pattern[self.place : self.place + 2]) == 2 and "{" not in digits:
            self.place += 2
            return [(int(digits, 16), int(digits, 16))]
        if sign.isalnum():
            raise UnsupportedExpression(f"\\{sign}")
        return [(ord(sign), ord(sign))]

    def bracket(self) -> Ranges:
        """Read a class in brackets; returns its code points."""
        ranges: Ranges = []
        is_negated = self.peek() == "^"
        if is_negated:
            self.take()
        is_first = True
        while is_first or self.peek() != "]":
            sign = self.take()
            if sign == "[" and self.peek() == ":":
                raise UnsupportedExpression("named classes")
            low = self.escaped() if sign == "\\" else [(ord(sign), ord(sign))]
            if self.peek() == "-" and self.pattern[self.place + 1 : self.place + 2] not in ("]", ""):
                self.take()
                sign = self.take()
                high = self.escaped() if sign == "\\" else [(ord(sign), ord(sign))]
                if len(low) > 1 or len(high) > 1 or low[0][0] > high[0][0]:
                    raise UnsupportedExpression("a range of classes")
                low = [(low[0][0], high[0][0])]
            ranges += low
            is_first = False
        self.take()
        return complement(ranges) if is_negated else ranges

    def characters(self, ranges: Ranges) -> Fragment:
        """Add states that match one character of the given ranges, as UTF-8; returns their fragment."""
        fragment = Fragment(self.state(), self.state())
        for low, high in ranges:
            for sequence in byte_sequences(low, high):
                current = fragment.first
                for index, (begin, end) in enumerate(sequence):
                    following = fragment.last if index + 1 == len(sequence) else self.state()
                    self.bytes[current].append((begin, end, following))
                    current = following
        return fragment


def automaton(pattern: str) -> Automaton:
    """The finite automaton that accepts the whole texts an expression matches. Raises UnsupportedExpression for
    expressions that have no finite automaton of acceptable size.
    """
    builder = Builder(pattern)
    whole = builder.whole()
    start = _closure(builder, [whole.first])
    ids: dict[frozenset[int], int] = {start: 0}
    rows: list[Array] = []
    closures: dict[frozenset[int], frozenset[int]] = {}
    pending = deque([start])
    members = 0
    while pending:
        states = pending.popleft()
        targets: dict[tuple[int, int], list[int]] = {}
        for state in states:
            for low, high, target in builder.bytes[state]:
                targets.setdefault((low, high), []).append(target)
        marks = sorted({mark for low, high in targets for mark in (low, high + 1)} | {0, 256})
        row = np.zeros(256, np.int32)
        for begin, end in pairwise(marks):
            reached = frozenset(each for (low, high), successors in targets.items() if low <= begin <= high for each in successors)
            members += len(reached)
            following = closures.get(reached)
            if following is None:
                following = closures[reached] = _closure(builder, reached)
                members += len(following)
            if members > MOST_MEMBERS:
                raise UnsupportedExpression("too many parts of it may match at one position")
            if following not in ids:
                if len(ids) >= MOST_STATES:
                    raise UnsupportedExpression(f"the automaton has more than {MOST_STATES} states")
                ids[following] = len(ids)
                pending.append(following)
            row[begin:end] = ids[following]
        rows.append(row)
    return Automaton(np.stack(rows), np.array([whole.last in states for states in ids]))


def _closure(builder: Builder, states: Iterable[int]) -> frozenset[int]:
    """The states that are reachable from the given states without reading a byte, these included."""
    closure = set(states)
    pending = list(states)
    while pending:
        for following in builder.silent[pending.pop()]:
            if following not in closure:
                closure.add(following)
                pending.append(following)
    return frozenset(closure)
