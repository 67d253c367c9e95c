"""Files of arrays that commands read: their memory follows their size."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.tools.arrays import EXPANSION_FACTOR, LARGEST_EXPANSION, read_arrays


def _npy(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    """An `.npy` whose header says a shape, with eight bytes after it."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(8)


def _write(path: Path, content: bytes) -> str:
    if path.suffix == ".npy":
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.npy", content)
    return str(path)


def test_arrays_are_read(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"a/b": np.arange(6, dtype=np.int16).reshape(2, 3), "s": np.array(["x", "yz"]), "e": np.zeros((0, 3))}
    arrays["f"] = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for name, save in (("stored", np.savez), ("compressed", np.savez_compressed)):
        path = tmp_path / f"{name}.npz"
        save(path, **arrays)
        read = read_arrays(str(path))
        assert list(read) == list(arrays)
        for key, array in arrays.items():
            assert read[key].dtype == array.dtype
            np.testing.assert_array_equal(read[key], array)
    np.save(tmp_path / "one.npy", arrays["f"])
    np.testing.assert_array_equal(read_arrays(str(tmp_path / "one.npy"))[""], arrays["f"])


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize(
    "content",
    [
        _npy((1 << 40,)),
        _npy((3,)),
        _npy((1,), "|V999999999"),
        _npy((0, 1 << 62)),
        _npy((-5,)),
        _npy((0,) * 70),
        _npy((1,), "|O"),
        _npy((1,), "<M8[s]"),
        _npy((1,), "|V4"),
        b"text",
        b"",
        b"PK\x03\x04" + bytes(40),
    ],
)
def test_damaged_files(content: bytes, suffix: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"this is no \.npz of arrays"):
        read_arrays(_write(tmp_path / f"x{suffix}", content))


def test_compressed_file_that_expands_without_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (LARGEST_EXPANSION,)})
        for _ in range(128):
            member.write(bytes(LARGEST_EXPANSION // 128))
    size = path.stat().st_size
    assert size * EXPANSION_FACTOR < LARGEST_EXPANSION
    assert read_arrays(str(path))["x"].nbytes == LARGEST_EXPANSION
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("y.npy", bytes(EXPANSION_FACTOR * size * 2))
    with pytest.raises(ConversionError, match="compressed to less than an eighth of their size"):
        read_arrays(str(path))
