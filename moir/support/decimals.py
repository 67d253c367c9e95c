"""Decimal numbers in names and texts of files, which may be of any length and in any script."""

from __future__ import annotations

MAXIMUM_DIGITS = 18
"""The largest number of digits of a number that is read: it is within 64 bits; Python refuses to read more than 4,300
digits.
"""


def decimal_of(text: str) -> int | None:
    """The integer that a text of at most 18 digits (0 to 9) stands for; None for any other text."""
    return int(text) if len(text) <= MAXIMUM_DIGITS and text.isascii() and text.isdecimal() else None
