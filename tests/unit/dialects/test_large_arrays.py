"""Pieces of large arrays, and pages given back."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from moir.dialects.large_arrays import pieces
from moir.dialects.memory_map import release

ARRAYS = [
    np.arange(24).reshape(2, 3, 4),
    np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
    np.arange(24)[::-2],
    np.arange(24).reshape(1, 24)[:, ::3],
    np.array(5),
    np.zeros((0, 4)),
    np.broadcast_to(np.arange(3), (1, 5, 3)),
]


@pytest.mark.parametrize("limit", [1, 8, 40, 1 << 20])
@pytest.mark.parametrize("array", ARRAYS)
def test_pieces_are_the_array_in_c_order(array: np.ndarray, limit: int) -> None:
    found = list(pieces(array, limit))
    assert b"".join(piece.tobytes() for piece in found) == array.tobytes()
    assert all(piece.ndim == 1 and piece.flags.c_contiguous for piece in found)
    assert all(piece.nbytes <= max(limit, array.itemsize) for piece in found)


@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_COPY, mmap.ACCESS_WRITE])
def test_released_values_are_still_there(tmp_path: Path, access: int) -> None:
    values = np.arange(100_000, dtype=np.int32)
    (tmp_path / "f").write_bytes(values.tobytes())
    with (tmp_path / "f").open("r+b") as file:
        array = np.frombuffer(mmap.mmap(file.fileno(), 0, access=access), np.int32)
    expected = values.copy()
    if access != mmap.ACCESS_READ:
        array[5] = expected[5] = -1
    for view in (array, array[1000:5000], array[::-7], array[:0], array.view(np.uint8)[1:2]):
        release(view)
        np.testing.assert_array_equal(array, expected)


def test_arrays_without_a_memory_map_are_left_alone() -> None:
    for array in (np.ones(5), np.frombuffer(bytes(8), np.int8), np.frombuffer(mmap.mmap(-1, 8192), np.int8)):
        before = array.copy()
        release(array)
        np.testing.assert_array_equal(array, before)
