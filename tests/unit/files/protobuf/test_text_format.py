"""Long strings in protobuf's text format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format
from onnx import TensorProto

from moir.files.protobuf.text_format import LONGEST_PIECE, in_short_strings, parse_text

CONTENTS = {
    "random bytes": np.random.default_rng(0).bytes(100_000),
    "backslashes": b"\\" * 50_001,
    "quotation marks": b"\"'" * 20_000,
    "letters": "\u00e9\u65e5".encode() * 10_000,
}


@pytest.mark.parametrize("as_utf8", [False, True])
@pytest.mark.parametrize("name", CONTENTS)
def test_a_long_string_in_pieces_means_the_same(name: str, as_utf8: bool) -> None:
    message = TensorProto(raw_data=CONTENTS[name], name="short", doc_string="'" * 20_000)
    text = "# it's a comment\n" + text_format.MessageToString(message, as_utf8=as_utf8)
    short = in_short_strings(text)
    assert short != text
    assert text_format.Parse(short, TensorProto()) == message


def test_a_long_string_in_a_tree_of_fields() -> None:
    tree = parse_text(text_format.MessageToString(TensorProto(name="short", doc_string="'\\" * 20_000)), Path("a.pbtxt"))
    assert (tree.text("name"), tree.text("doc_string")) == ("short", "'\\" * 20_000)


def test_hexadecimal_and_unicode_escapes_stay_whole() -> None:
    for escape, value in ((r"\x41", "A"), (r"\101", "A"), (r"\u0041", "A"), (r"\U0001F600", "\U0001f600"), (r"\n", "\n")):
        # The offsets of the escape sequence meet each boundary of a piece.
        for offset in range(5):
            text = f'name: "{"b" * (LONGEST_PIECE - offset)}{escape}{"c" * LONGEST_PIECE}"'
            message = text_format.Parse(in_short_strings(text), TensorProto())
            assert message.name == "b" * (LONGEST_PIECE - offset) + value + "c" * LONGEST_PIECE


def test_short_strings_and_comments_are_left_alone() -> None:
    text = '# "not a string\n' * 2000 + "name: 'a' \"b\"\n"
    assert in_short_strings(text) == text
    assert in_short_strings(f'#"{"x" * 100_000}"\n') == f'#"{"x" * 100_000}"\n'


def test_an_unclosed_string_stays_an_error() -> None:
    for text in ('name: "' + "x" * 100_000, 'name: "' + "\\" * 100_001):
        with pytest.raises(text_format.ParseError):
            text_format.Parse(in_short_strings(text), TensorProto())
