"""Decimal numbers in names and texts of files, which may be of any length and in any script."""

from __future__ import annotations

MAXIMUM_DIGITS = 18
"""Numbers up to this length are within 64 bits; Python refuses to read those of more than 4,300 digits."""


def decimal_of(text: str) -> int | None:
    """The number of a text of up to 18 digits, 0 to 9; None for any other text."""
    return int(text) if len(text) <= MAXIMUM_DIGITS and text.isascii() and text.isdecimal() else None
