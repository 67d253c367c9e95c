"""Arrays that wait on the disk."""

from __future__ import annotations

import numpy as np

from moir.dialects.memory_map import release
from moir.dialects.scratch_file import ScratchFile


def test_arrays_are_read_from_the_file() -> None:
    scratch = ScratchFile(1 << 20)
    arrays = [np.arange(1000, dtype=np.float16).reshape(10, 100), np.arange(30, dtype=np.uint8), np.zeros((0, 3), np.float32)]
    kept = [scratch.keep(array) for array in arrays]
    assert kept[2] is arrays[2]
    assert not kept[0].flags.writeable
    release(kept[0])
    del scratch
    for each, array in zip(kept, arrays, strict=True):
        np.testing.assert_array_equal(each, array)
        assert each.dtype == array.dtype


def test_an_array_without_room_stays_in_memory() -> None:
    scratch, array = ScratchFile(100), np.zeros(101, np.uint8)
    assert scratch.keep(array) is array
