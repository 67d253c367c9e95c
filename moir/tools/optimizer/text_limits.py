"""Limits of a text of a module, which are checked before xDSL's parser sees the text.

xDSL's parser needs time and memory that a text of a few bytes can make as large as it likes: its recursion follows the
nesting of brackets, and its regular expressions, its lists of dimensions and its integers cost more than the length of
what they match. The limits are far above what a dump of a large model has: this takes about 35 tokens per operation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import IO, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span

from moir.dialects.shapes import MAXIMUM_RANK
from moir.errors import ModelFileError

MOST_BYTES = 32 << 20
"""Upper bound on the length of a text. A text with characters beyond ASCII takes up to four times this in memory."""

MOST_TOKENS = 1_000_000
"""Upper bound on the number of tokens, of which xDSL's parser reads about 300,000 in a second.

The parts of an attribute that an alias stands for count at each use of the alias.
"""

MOST_NESTED = 200
"""Upper bound on the depth of brackets of all kinds, of which regions, types and locations have one each."""

LONGEST_STRING = 1 << 20
"""Upper bound on the length of a string: the lexer keeps up to 90 bytes for each escape sequence."""

LONGEST_NUMBER = 1000
"""Upper bound on the digits of a number. Python converts integers of up to 4300 decimal digits."""

MOST_DENSE_ELEMENTS = 1 << 22
"""Upper bound on the elements of all `dense<…>` of a text together: xDSL makes a Python object of each element.

Constants of moir are `#moir.data`, whose elements are in a side file.
"""

_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\n\v\f]|\\.)*+"?)'
    r"|//[^\n]*+|\s++|->|>=|<=|=="
    r"|(?P<open>[(\[{<])|(?P<close>[)\]}>])"
    r"|(?P<alias>[!#][A-Za-z_$.-][\w$.-]*+)"
    rf"|(?P<rank>(?:(?:\d++|\?)x){{{MAXIMUM_RANK + 1},}}+)"
    rf"|(?P<number>\d[\w.]{{{LONGEST_NUMBER},}}+)"
    r"|(?P<word>[\w$.@%^]++|.)",
    re.DOTALL,
)


def read_text_file(stream: IO[bytes], name: str) -> bytes:
    """The content of a text, of which no more than the limit is read. Raises ModelFileError for a longer text."""
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ModelFileError(f"the text is longer than {MOST_BYTES >> 20} MB; pass the model file that it comes from", location=name)
    return content


def check_text(text: Input[str]) -> Counter[str]:
    """Check the tokens of a text; returns how often each alias, as `!a` or `#a`, occurs in it.

    Raises ParseError at the token that exceeds a limit, or at a string that does not end in its line.
    """
    aliases: Counter[str] = Counter()
    depth = tokens = 0
    for match in _TOKEN.finditer(text.content):
        kind = match.lastgroup
        if kind is None:  # a comment, white space or an arrow
            continue
        tokens += 1
        if tokens > MOST_TOKENS:
            raise _error(text, match, f"the text has more than {MOST_TOKENS:,} tokens; split it, or pass the model file that it comes from")
        if kind == "open":
            depth += 1
            if depth > MOST_NESTED:
                raise _error(text, match, f"the text is nested too deeply: more than {MOST_NESTED} brackets are open")
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind == "alias":
            aliases[match.group()] += 1
        elif kind == "string":
            _check_string(text, match)
        elif kind == "rank":
            raise _error(text, match, f"a type has more than {MAXIMUM_RANK} dimensions")
        elif kind == "number":
            raise _error(text, match, f"a number has more than {LONGEST_NUMBER} digits")
    return aliases


def _check_string(text: Input[str], match: re.Match[str]) -> None:
    begin, end = match.span()
    if end - begin < 2 or text.content[end - 1] != '"':
        raise _error(text, match, "a string does not end in its line; add the quotation mark, and write a line break as \\n")
    if end - begin > LONGEST_STRING:
        raise _error(text, match, f"a string is longer than {LONGEST_STRING:,} characters")


def _error(text: Input[str], match: re.Match[str], reason: str) -> ParseError:
    return ParseError(Span(match.start(), match.start() + 1, text), reason)


class AliasSizes:
    """The sizes of the attributes that aliases stand for, as if each alias were written out.

    Ten lines, each of which uses twice the alias that the line before defines, stand for a thousand attributes. xDSL
    shares them in memory, but compares, hashes and verifies each.

    Args:
        uses: how often each alias occurs in the text, its definition included.
    """

    def __init__(self, uses: Counter[str]) -> None:
        self._uses = uses
        self._sizes: dict[int, tuple[int, int]] = {}
        self._total = 0

    def excess(self, name: str, attribute: Attribute) -> str | None:
        """Why the definition of an alias exceeds the limits; None if it does not.

        Args:
            name: the alias, as `!a`.
            attribute: the attribute that it stands for, which the caller must keep alive.
        """
        size, depth = self._sizes[id(attribute)] = self._measure(attribute)
        self._total += size * self._uses[name]
        if depth > MOST_NESTED:
            return f"the alias {name} is nested too deeply: more than {MOST_NESTED} attributes are inside each other"
        if self._total > MOST_TOKENS:
            return f"the aliases up to {name} stand for more than {MOST_TOKENS:,} attributes"
        return None

    def _measure(self, attribute: Attribute) -> tuple[int, int]:
        """The number of attributes in an attribute, and how deep they are nested. The text limits the recursion."""
        known = self._sizes.get(id(attribute))
        if known is not None:
            return known
        size = deepest = 0
        for part in _parts(attribute):
            more, depth = self._measure(part)
            size, deepest = size + more, max(deepest, depth)
        return size + 1, deepest + 1


def _parts(attribute: Attribute) -> Iterable[Attribute]:
    if isinstance(attribute, ParametrizedAttribute):
        return attribute.parameters
    if isinstance(attribute, ArrayAttr):
        return cast("ArrayAttr[Attribute]", attribute).data
    if isinstance(attribute, DictionaryAttr):
        return attribute.data.values()
    return ()
