"""Sizes of files and memory as a user writes them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
"""Unit of a size, in capitals -> its number of bytes."""


def size_of(text: str) -> int | None:
    """The number of bytes that a text stands for, with or without a unit: 8GB, 512 MiB; None for another text, and for
    less than a byte.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-zA-Z]*)", text.strip())
    if match is None or match[2].upper() not in _UNITS:
        return None
    return int(float(match[1]) * _UNITS[match[2].upper()]) or None
