"""The limit for constants that lowerings build from sizes in attributes: a small file can request a constant of any
size.
"""

from __future__ import annotations

from moir.errors import UnsupportedOperationError

MAXIMUM_ELEMENTS = 1 << 26
"""The largest number of elements of a constant that is built from sizes alone: half a gigabyte of 64-bit numbers."""


def check_constant_size(*sizes: int) -> None:
    """Raise UnsupportedOperationError if a constant of these sizes would have too many elements. Call this before the
    constant is built.

    Sizes of an empty constant are limited, too, since its elements may be computed from numbers along each axis.
    """
    count = 1
    for size in sizes:
        count *= max(size, 1)
    if count > MAXIMUM_ELEMENTS:
        text = count if count < 10**18 else "more than 10^18"
        raise UnsupportedOperationError(f"it needs a constant of {text} elements; up to {MAXIMUM_ELEMENTS} are supported")
