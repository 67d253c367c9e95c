"""Protobuf's text format without a description of the messages: a text -> a tree of fields.

The `.prototxt` of Caffe may have layers and parameters of forks, a `pipeline.config` may have fields of any version:
all fields are kept. The meaning of a field is decided where it is used.

Source: https://protobuf.dev/reference/protobuf/textformat-spec.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeAlias

from moir.errors import ModelFileError
from moir.files.reading import map_content, read_whole

MAXIMUM_TEXT_BYTES = 1 << 23
"""Largest size of a text file, which takes about fifty times as much memory."""
MAXIMUM_DEPTH = 64
"""Largest nesting of messages."""

LONGEST_PIECE = 1 << 14
"""Largest number of characters and escape sequences of a string that protobuf's parser sees as one."""

_STRING = re.compile(
    r"#[^\n]*+"
    r'|"(?P<double>[^"\\\n]*+(?:\\.[^"\\\n]*+)*+)'
    r"|'(?P<single>[^'\\\n]*+(?:\\.[^'\\\n]*+)*+)"
)
"""A pattern for a comment, or for a string without its closing quotation mark."""
_BACKSLASHES = r"(?:\\\\){16}"
_PIECE = re.compile(
    rf"{_BACKSLASHES}|(?:(?!{_BACKSLASHES})"
    r"(?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|[^\\]))"
    rf"{{1,{LONGEST_PIECE}}}+",
    re.DOTALL,
)
"""A pattern for a part of a string that ends after a whole character or escape sequence.

Many backslashes in a row are a part of their own: the time that protobuf's parser takes for them grows with the square
of their number.
"""
_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)$")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)[fF]?$", re.IGNORECASE)
_LONGEST_INTEGER = 24
"""The largest number of characters of an integer of 64 bits, with its sign and a few leading zeros."""
_EXPECTED = re.compile(r"""Expected ("[^"\w]{1,3}"(?: or "[^"\w]{1,3}"| or a message)?|[a-z]+(?: [a-z]+)*)[,.]""")
"""A pattern for the part of an error of protobuf's parser that says what it expected.

The rest quotes the file and is left out of messages.
"""
_BOOLEANS = {"true": True, "false": False, "True": True, "False": False}

Scalar: TypeAlias = "bool | int | float | str"
"""A value of a field that is not a message. The name of a value of an enumeration is a text, as a string is."""


class TextMessage:
    """A message in text format.

    Args:
        line: number of the line in which it begins, from 1 on.

    Attributes:
        fields: the values of each field in order; a field may occur several times.
    """

    __slots__ = ("fields", "line")

    def __init__(self, line: int) -> None:
        self.line = line
        self.fields: dict[str, list[Scalar | TextMessage]] = {}

    def messages(self, name: str) -> list[TextMessage]:
        """The values of a field that are messages."""
        return [value for value in self.fields.get(name, ()) if isinstance(value, TextMessage)]

    def scalars(self, name: str) -> list[Scalar]:
        """The values of a field that are not messages."""
        return [value for value in self.fields.get(name, ()) if not isinstance(value, TextMessage)]

    def text(self, name: str, default: str = "") -> str:
        """The last value of a field, as a text."""
        values = self.scalars(name)
        return str(values[-1]) if values else default

    def texts(self, name: str) -> list[str]:
        """All values of a field, as texts."""
        return [str(value) for value in self.scalars(name)]

    def integers(self, name: str) -> list[int]:
        """The integers among the values of a field; a boolean is an integer, too."""
        return [int(value) for value in self.scalars(name) if isinstance(value, int)]


def read_text(path: Path, model: Path | None = None) -> TextMessage:
    """Read a file in text format.

    Args:
        path: the file.
        model: the file that it was found beside, see `map_content`.

    Raises ModelFileError, with the line, if it is not in that format, larger than 8 MB, or nested too deeply.
    """
    mapped = map_content(path, model)
    if len(mapped) > MAXIMUM_TEXT_BYTES:
        raise ModelFileError(f"more than {MAXIMUM_TEXT_BYTES >> 20} MB of text", location=str(path), hint="is this a file in binary form?")
    # Only comments and names of layers are ever in another encoding than ASCII.
    return parse_text(mapped[:].decode("utf-8-sig", errors="replace"), path)


def read_configuration(path: Path, what: str) -> TextMessage:
    """Read a configuration in text format that the user named; `what` is its designation in messages.

    Raises ModelFileError, with the line, if it is not in that format, larger than a configuration, or nested too
    deeply.
    """
    return parse_text(read_whole(path, what).decode("utf-8-sig", errors="replace"), path)


def parse_text(text: str, path: Path) -> TextMessage:
    """Parse a text, see `read_text`."""
    from google.protobuf import text_format

    tokens: Any = text_format.Tokenizer(in_short_strings(text).splitlines())
    try:
        return _fields(tokens, TextMessage(1), "", path)
    except text_format.ParseError as error:
        location = location_of(error, path)
        raise ModelFileError(f"this is not protobuf's text format: {reason_of(error)}", location=location) from error


def in_short_strings(text: str) -> str:
    """The text with each long string as several ones, one after the other, which mean the same.

        tensor_content: "…4 MB…"  ->  tensor_content: "…16 KB…" "…16 KB…" …

    The regular expression of protobuf's parser takes 90 bytes of memory for each escape sequence of a string.
    """
    if len(text) <= LONGEST_PIECE:
        return text

    def pieces(match: re.Match[str]) -> str:
        if match.end() - match.start() <= LONGEST_PIECE or match.lastgroup is None:
            return match.group()
        quote = match.group()[0]
        return quote + f"{quote} {quote}".join(_PIECE.findall(match[match.lastgroup]))

    return _STRING.sub(pieces, text)


def location_of(error: Any, path: Path) -> str:
    """The place of an error of protobuf's parser: the file, and the line if it has one."""
    line = error.GetLine()
    return str(path) if line is None else f"{path}, line {line}"


def reason_of(error: Exception) -> str:
    """The reason of an error of protobuf's parser.

    It does not quote the file, which may be secret and not be a model at all.
    """
    expected = _EXPECTED.search(str(error))
    return "a value does not fit its field" if expected is None else f"{expected[1]} is expected"


def _fields(tokens: Any, message: TextMessage, end: str, path: Path, depth: int = 0) -> TextMessage:
    """Parse the fields of a message up to the token `end`, or to the end of the text."""
    if depth > MAXIMUM_DEPTH:
        raise ModelFileError(f"messages are nested more than {MAXIMUM_DEPTH} deep", location=f"{path}, line {message.line}")
    while not (tokens.TryConsume(end) if end else tokens.AtEnd()):
        if tokens.AtEnd():
            raise ModelFileError("the text ends within a message", location=f"{path}, line {message.line}", hint="is the file complete?")
        values = message.fields.setdefault(tokens.ConsumeIdentifier(), [])
        has_colon = tokens.TryConsume(":")
        if tokens.TryConsume("["):
            while not tokens.TryConsume("]"):
                values.append(_value(tokens, path, depth))
                tokens.TryConsume(",")
        else:
            values.append(_value(tokens, path, depth, is_message=not has_colon))
        if not tokens.TryConsume(";"):
            tokens.TryConsume(",")
    return message


def _value(tokens: Any, path: Path, depth: int, is_message: bool = False) -> Scalar | TextMessage:
    """Parse a value of a field; `is_message`: whether it can only be a message."""
    for begin, end in (("{", "}"), ("<", ">")):
        if tokens.LookingAt(begin):
            message = TextMessage(tokens.ParseError("").GetLine())
            tokens.NextToken()
            return _fields(tokens, message, end, path, depth + 1)
    if is_message:
        raise tokens.ParseError('Expected ":" or a message.')
    token: str = tokens.token
    if token.startswith(("'", '"')):
        return tokens.ConsumeString()
    if _INTEGER.match(token):
        if len(token) > _LONGEST_INTEGER:
            raise tokens.ParseError("An integer of more than 64 bits.")
        value = int(token, 0) if "x" in token.lower() else int(token)
    elif _FLOAT.match(token):
        value = float(token.rstrip("fF") if "inf" not in token.lower() else token)
    else:
        tokens.ConsumeIdentifier()
        return _BOOLEANS.get(token, token)
    tokens.NextToken()
    return value
