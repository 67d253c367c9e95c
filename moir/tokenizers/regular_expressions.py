r"""Regular expressions of Oniguruma, as `tokenizer.json` has them, in the syntax of PCRE2.

Both are read alike for the most part. The differences that are translated:

    \h \H                 a hexadecimal digit, white space within a line for PCRE2
    \w \W                 Unicode's words: letters, marks, decimal digits, connectors; PCRE2 counts all numbers
    ^ $                   at each line, which PCRE2 does under (?m)
    (?m:…)                the dot matches ends of lines, (?s:…) for PCRE2
    [a&&[^b]] [a[b]]      intersections and unions of sets, which become look-aheads and alternatives
    \u1234                a character

Source: doc/RE of Oniguruma 6.9, syntax ONIG_SYNTAX_ONIGURUMA; pcre2pattern(3).
"""

from __future__ import annotations

from moir.support import tables

WORD_CHARACTERS = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
"""The inside of a set of the characters that words consist of (UTS #18, Annex C)."""

CATEGORIES = frozenset(
    tables.words("""C Cc Cf Cn Co L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
    Any Alphabetic Lowercase Uppercase White_Space Emoji Extended_Pictographic Ideographic""")
)
"""General categories and properties that both libraries know."""

SCRIPTS = frozenset(
    tables.words("""Arabic Armenian Bengali Bopomofo Braille Cherokee Common Cyrillic Devanagari Ethiopic Georgian Greek
    Gujarati Gurmukhi Han Hangul Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Oriya
    Sinhala Tamil Telugu Thaana Thai Tibetan""")
)
"""Scripts that both libraries know."""

POSIX = frozenset(tables.words("alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit"))

_QUOTED = frozenset("dDsSbBAzZGRXKtnrfvae0123456789kgQE.\\/|()[]{}^$*+?-=!<>:;,'\"#&~@%_` ")
"""The characters that may follow a backslash and have the same meaning in both syntaxes."""

_NESTING = 100


class UnknownExpression(ValueError):
    """A regular expression uses a construct that PCRE2 lacks or that this module does not translate; the text says
    which.
    """


def translated(expression: str) -> str:
    """A regular expression of Oniguruma in the syntax of PCRE2. Raises UnknownExpression."""
    reader = _Reader(expression)
    pattern = reader.alternatives()
    return f"(?m){pattern}" if reader.has_anchors else pattern


class _Reader:
    """Reads an expression once, and writes it in PCRE2's syntax."""

    def __init__(self, expression: str) -> None:
        self._text = expression
        self._position = 0
        self.has_anchors = False

    def alternatives(self) -> str:
        parts: list[str] = []
        while self._position < len(self._text):
            character = self._take()
            if character == "\\":
                parts.append(self._escape(in_set=False))
            elif character == "[":
                parts.append(self._set(0))
            elif self._text.startswith("(?", self._position - 1):
                parts.append(self._group())
            else:
                self.has_anchors = self.has_anchors or character in "^$"
                parts.append(character)
        return "".join(parts)

    def _take(self) -> str:
        if self._position == len(self._text):
            raise UnknownExpression("it ends in the middle")
        self._position += 1
        return self._text[self._position - 1]

    def _group(self) -> str:
        """Read the options after an opening parenthesis, and write them for PCRE2, in which `m` has another meaning.

        Raises UnknownExpression for the option `s`.
        """
        start = self._position + 1
        end = start
        while end < len(self._text) and self._text[end] in "imsx-":
            end += 1
        options = self._text[start:end]
        if not options or end == len(self._text) or self._text[end] not in ":)":
            return "("
        if "s" in options:
            raise UnknownExpression("the option s, which Oniguruma does not have")
        self._position = end + 1
        return f"(?{options.replace('m', 's')}{self._text[end]}"

    def _escape(self, *, in_set: bool) -> str:
        character = self._take()
        if character in "pP":
            return f"\\{character}{self._property()}"
        if character in "hH":
            inside = "0-9a-fA-F"
            return inside if in_set and character == "h" else self._complement(inside, character == "H", in_set)
        if character in "wW":
            return WORD_CHARACTERS if in_set and character == "w" else self._complement(WORD_CHARACTERS, character == "W", in_set)
        if character == "u":
            return f"\\x{{{self._digits(4)}}}"
        if character == "x":
            if self._text.startswith("{", self._position):
                end = self._text.find("}", self._position)
                self._position += 1
                digits = self._digits(end - self._position)
                self._take()
                return f"\\x{{{digits}}}"
            return f"\\x{{{self._digits(2)}}}"
        if character in _QUOTED or not character.isascii():
            return f"\\{character}" if character.isascii() else character
        raise UnknownExpression(f"\\{character}")

    def _complement(self, inside: str, inverted: bool, in_set: bool) -> str:
        if in_set:
            raise UnknownExpression("\\W or \\H within a set")
        return f"[{'^' if inverted else ''}{inside}]"

    def _digits(self, count: int) -> str:
        digits = self._text[self._position : self._position + count]
        try:
            valid = len(digits) == count and 0 <= int(digits, 16) < 0x110000 and digits.isalnum()
        except ValueError:
            valid = False
        if not valid:
            raise UnknownExpression("the number of a character")
        self._position += count
        return digits

    def _property(self) -> str:
        if not self._text.startswith("{", self._position):
            name = self._take()
            if name not in CATEGORIES:
                raise UnknownExpression(f"\\p{name}")
            return f"{{{name}}}"
        end = self._text.find("}", self._position)
        name = self._text[self._position + 1 : end] if end > 0 else ""
        bare = name.removeprefix("^").removeprefix("Script=").removeprefix("sc=")
        by_lower = {each.lower(): each for each in (*CATEGORIES, *SCRIPTS)}
        if bare.lower() not in by_lower:
            raise UnknownExpression(f"the property \\p{{{name}}}")
        self._position = end + 1
        return f"{{{'^' if name.startswith('^') else ''}{by_lower[bare.lower()]}}}"

    def _set(self, depth: int) -> str:
        """Read a set, whose opening bracket was read, and write it as a pattern that matches one character.

        `depth` is the number of sets around it. Raises UnknownExpression for sets that are nested too deeply.
        """
        if depth == _NESTING:
            raise UnknownExpression("sets nested too deeply")
        inverted = self._text.startswith("^", self._position)
        self._position += inverted
        operands: list[list[str]] = [[""]]  # Operands of intersections: unions of the items of a set and of other sets.
        first = True
        while True:
            character = self._take()
            if character == "]" and not first:
                break
            if character == "[" and (posix := self._posix()) is not None:
                operands[-1][0] += posix
            elif character == "[":
                operands[-1].append(self._set(depth + 1))
            elif character == "&" and self._text.startswith("&", self._position):
                self._position += 1
                operands.append([""])
            elif character == "\\":
                operands[-1][0] += self._escape(in_set=True)
            else:
                operands[-1][0] += f"\\{character}" if character in "[]&" else character
            first = False
        if len(operands) == 1 and len(operands[0]) == 1:
            return f"[{'^' if inverted else ''}{operands[0][0]}]"
        unions = [_union(items) for items in operands]
        every = "".join([f"(?={union})" for union in unions])
        return f"(?:(?!{every})[\\s\\S])" if inverted else f"(?:{every}[\\s\\S])"

    def _posix(self) -> str | None:
        """Read a POSIX class such as `[:alpha:]` within a set, if there is one; otherwise None, with nothing read."""
        if not self._text.startswith(":", self._position):
            return None
        end = self._text.find(":]", self._position)
        name = self._text[self._position + 1 : end] if end > 0 else ""
        if name.removeprefix("^") not in POSIX:
            return None
        self._position = end + 2
        return f"[:{name}:]"


def _union(items: list[str]) -> str:
    sets = [*([f"[{items[0]}]"] if items[0] else []), *items[1:]]
    return sets[0] if len(sets) == 1 else f"(?:{'|'.join(sets)})"
