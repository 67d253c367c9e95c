"""Words of texts of StableHLO that are damaged, or very long."""

from __future__ import annotations

import tracemalloc

import pytest

from moir.errors import ModelFileError
from moir.frontends.stablehlo.text.attributes import attribute_of
from moir.frontends.stablehlo.text.scanner import Scanner


@pytest.mark.parametrize("content", ["x" * 100_000, r"\n" * 100_000, "\\" * 99_999, ""])
def test_an_unclosed_string_is_an_error(content: str) -> None:
    words = Scanner(f'a\nb = "{content}', "a.mlir")
    words.advance()
    words.advance()
    with pytest.raises(ModelFileError, match=r"line 2, column 5: a string is not closed"):
        words.expect("=")


def test_a_long_string_takes_little_memory() -> None:
    text = '"' + r"\0A" * 1_000_000 + '"'
    tracemalloc.start()
    words = Scanner(text, "a.mlir")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert words.word == text
    assert peak < 3 * len(text)


def test_a_name_in_a_location_may_have_escapes() -> None:
    words = Scanner('loc(#loc2)\n#loc1 = loc("a \\"b\\" \\5C")\n#loc2 = loc(callsite(#loc1 at #loc1))\n', "a.mlir")
    assert words.location_name() == 'a "b" \\'


def test_bits_beyond_the_width_of_a_float_are_an_error() -> None:
    assert attribute_of(Scanner("0x3F800000 : f32", "a.mlir")) == 1
    with pytest.raises(ModelFileError, match="has more bits than float32"):
        attribute_of(Scanner("0x1FFFFFFFF : f32", "a.mlir"))
