"""The difference of two constants: how many elements, and by how much.

Weights are read part by part, never as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha1

import numpy as np

from moir.dialects.data import Array, DataAttr, sample
from moir.dialects.element_types import describe
from moir.dialects.large_arrays import pieces
from moir.difference.records import ChangedConstant


def changed_constant(node: str, before: DataAttr, after: DataAttr) -> ChangedConstant | None:
    """The difference of two constants; None if they have the same type and the same bits.

    Args:
        node: the name of the node, for the result.
        before: the constant of the first model.
        after: the constant of the second model.
    """
    if before == after or _are_left_out(before, after):
        return None
    elements, maximum, relative = _sizes(before, after)
    return ChangedConstant(node, type_of(before), type_of(after), elements, maximum, relative)


def type_of(data: DataAttr) -> str:
    """The type of a constant as `f32[3,4]`."""
    return f"{describe(data.element).xml}[{','.join(map(str, data.shape))}]"


def _are_left_out(before: DataAttr, after: DataAttr) -> bool:
    """Whether texts of modules leave out the elements of at least one of the constants, and both have the same
    digest.
    """
    if before.shape != after.shape or before.element != after.element:
        return False
    return (before.data.values is None or after.data.values is None) and _key(before) == _key(after)


def _key(data: DataAttr) -> str:
    """A digest that represents the value of a constant: the one that a text of moir records, else one of a sample of
    its bytes.
    """
    return data.data.key if data.data.values is None else sha1(sample(data.data)).hexdigest()[:12]


def _sizes(before: DataAttr, after: DataAttr) -> tuple[int | None, float | None, float | None]:
    rows = describe(before.element), describe(after.element)
    if before.shape != after.shape or before.data.values is None or after.data.values is None or any(row.is_packed for row in rows):
        return None, None, None
    if any(row.bits == 0 for row in rows):
        return (int(np.sum(before.array != after.array)) if rows[0] == rows[1] else None), None, None
    count, largest, scale = 0, 0.0, 0.0
    with np.errstate(all="ignore"):
        for a, b in _aligned(before, after):
            x, y = a.astype(np.float64), b.astype(np.float64)
            different = (a != b) if a.dtype == b.dtype else (x != y)
            different &= ~(np.isnan(x) & np.isnan(y))
            count += int(np.count_nonzero(different))
            scale = max(scale, float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x))))
            if different.any():
                change = np.abs(x - y)[different]
                largest = max(largest, float(np.inf if np.isnan(change).any() else change.max()))
    return count, largest, largest / scale if scale else (np.inf if largest else 0.0)


def _aligned(before: DataAttr, after: DataAttr) -> Iterator[tuple[Array, Array]]:
    """Pairs of arrays with the elements of both constants at the same positions in C order, part by part."""
    sources = pieces(before.values), pieces(after.values)
    a, b = (next(each, None) for each in sources)
    while a is not None and b is not None:
        length = min(a.size, b.size)
        yield a[:length], b[:length]
        a = a[length:] if a.size > length else next(sources[0], None)
        b = b[length:] if b.size > length else next(sources[1], None)
