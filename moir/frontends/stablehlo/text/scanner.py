"""The words of a text of MLIR."""

from __future__ import annotations

import re
from typing import NoReturn

from moir.errors import ModelFileError

_SPACE = re.compile(r"(?:\s+|//[^\n]*)+")
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+'
"""The pattern of a string without the closing quotation mark.

It never backtracks, because a constant may be a string of many MB.
"""

_WORD = re.compile(
    r"->|::|==|[-+]?\d+\.\d*(?:[eE][-+]?\d+)?|0x[0-9a-fA-F]+|[-+]?\d+(?:[eE][-+]?\d+)?"
    rf'|%[\w$.-]+(?:#\d+)?|[@#!^][\w$.-]+|@"[^"]*"|{_STRING}"|[A-Za-z_][\w$.]*|\{{-#|#-\}}|.',
    re.DOTALL,
)
_LOCATION = re.compile(rf'^#(loc\d*) = loc\((?:({_STRING})"|callsite\(#(loc\d*)|#(loc\d*)|fused(?:<[^>]*>)?\[#(loc\d*))', re.MULTILINE)
MAXIMUM_NESTING = 200
"""How deep brackets and regions may be nested."""


class Scanner:
    """The words of a text, one after the other.

    Args:
        text: the text.
        location: the path of the file, for messages.
    """

    def __init__(self, text: str, location: str) -> None:
        self.text = text
        self.location = location
        self.position = 0
        self.word: str = ""
        self.start: int = 0
        self.depth = 0
        self._locations = {name: (text_, *others) for name, text_, *others in _LOCATION.findall(text)}
        self.advance()

    def advance(self) -> str:
        """Move to the next word; returns the word that was current before."""
        before = self.word
        if (space := _SPACE.match(self.text, self.position)) is not None:
            self.position = space.end()
        match = _WORD.match(self.text, self.position)
        self.start = self.position
        self.word = "" if match is None else match.group()
        self.position += len(self.word)
        if self.word == '"':
            self.fail("a string is not closed")
        return before

    def at(self, word: str) -> bool:
        """Whether the current word is `word`."""
        return self.word == word

    def fail(self, reason: str) -> NoReturn:
        """Raises ModelFileError with a reason and the current line and column."""
        line = self.text.count("\n", 0, self.start) + 1
        column = self.start - self.text.rfind("\n", 0, self.start)
        raise ModelFileError(reason, location=f"{self.location}, line {line}, column {column}")

    def enter(self) -> None:
        """Begin brackets or a region. Raises ModelFileError if these are nested too deeply."""
        self.depth += 1
        if self.depth > MAXIMUM_NESTING:
            self.fail("the text is nested too deeply")

    def leave(self) -> None:
        """End the brackets or the region that `enter` began."""
        self.depth -= 1

    def takes(self, word: str) -> bool:
        """Move past the current word if it is the given one; returns whether it is."""
        if self.word == word:
            self.advance()
            return True
        return False

    def expect(self, word: str) -> None:
        """Move past the given word. Raises ModelFileError if the current word is another one."""
        if not self.takes(word):
            self.fail(f"{word!r} is missing before {self.word[:40]!r}" if self.word else f"the text ends where {word!r} is missing")

    def string(self) -> str:
        """Read a string literal; returns its value. Raises ModelFileError if the current word is not a string."""
        word = self.word
        if not word.startswith('"'):
            self.fail(f"{word[:40]!r} is not a string")
        self.advance()
        return unescaped(word)

    def integer(self) -> int:
        """Read an integer. Raises ModelFileError if the current word is another one."""
        sign = -1 if self.takes("-") else 1
        try:
            value = sign * int(self.word, 0)
        except ValueError:
            self.fail(f"{self.word[:40]!r} is not an integer")
        self.advance()
        return value

    def rest_until(self, end: str) -> str:
        """The text from the current word up to `end`; the scanner goes on after that. Raises ModelFileError if `end` is
        missing.
        """
        position = self.text.find(end, self.start)
        if position < 0:
            self.fail(f"{end!r} is missing")
        text = self.text[self.start : position]
        self.position = position + len(end)
        self.advance()
        return text

    def skip_balanced(self) -> None:
        """Move past the bracket that closes the current one."""
        pairs = {"(": ")", "[": "]", "{": "}", "<": ">"}
        pending = [pairs[self.advance()]]
        while pending:
            word = self.advance()
            if not word:
                self.fail("a bracket is not closed")
            if word in pairs:
                pending.append(pairs[word])
            elif word == pending[-1]:
                pending.pop()

    def location_name(self) -> str:
        """The name in a location `loc(…)`, empty if there is none; the scanner goes on after the location."""
        if self.word != "loc":
            return ""
        self.advance()
        if not self.at("("):
            self.fail("a location has no brackets")
        begin = self.position
        self.skip_balanced()
        inner = self.text[begin : begin + 400].lstrip()
        if match := re.match(rf'{_STRING}"', inner):
            return unescaped(match.group())
        match = re.match(r"(?:callsite\(|fused(?:<[^>]*>)?\[)?#(loc\d*)", inner)
        return "" if match is None else self._named(match.group(1))

    def _named(self, alias: str) -> str:
        for _ in range(MAXIMUM_NESTING):
            location = self._locations.get(alias)
            if location is None:
                return ""
            text, *others = location
            following = next((each for each in others if each), "")
            if not following:
                return unescaped(f'{text}"')
            alias = following
        return ""


_ESCAPE = re.compile(r'\\([0-9a-fA-F]{2}|n|t|"|\\)')


def unescaped(word: str) -> str:
    """The value of a string literal, given with its quotation marks."""
    if "\\" not in word:
        return word[1:-1]
    escapes = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
    return _ESCAPE.sub(lambda match: escapes.get(match[1]) or chr(int(match[1], 16)), word[1:-1])
