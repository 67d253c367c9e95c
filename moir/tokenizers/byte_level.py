"""The characters that stand for bytes in byte-level vocabularies, so that each token is a readable text.

Printable characters of Latin-1 stand for themselves, the other bytes for the characters from U+0100 on.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019; bytes_to_unicode of its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of GPT-2, whose matches are the pieces of a text."""

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))


@cache
def characters() -> tuple[str, ...]:
    """The character of each byte."""
    others = iter(range(0x100, 0x200))
    return tuple([chr(byte if byte in _PRINTABLE else next(others)) for byte in range(256)])


@cache
def bytes_of_characters() -> Mapping[int, int]:
    """For the code point of each of these characters, the byte that it stands for."""
    return {ord(character): byte for byte, character in enumerate(characters())}


def bytes_of(token: str) -> bytes | None:
    """The bytes that the characters of a byte-level token encode; None if a character encodes no byte."""
    table = bytes_of_characters()
    try:
        return bytes([table[ord(character)] for character in token])
    except KeyError:
        return None


def characters_of(text: str) -> str:
    """The characters that stand for the bytes of a text."""
    table = characters()
    return "".join([table[byte] for byte in text.encode()])
