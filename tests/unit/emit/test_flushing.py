"""Files that are flushed while they are written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from moir.emit import flushing
from moir.emit.flushing import FlushedFile


def test_all_pieces_are_written_and_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(flushing, "FLUSHED_SIZE", 4)
    monkeypatch.setattr(os, "fsync", flushed.append)
    with (tmp_path / "weights").open("wb") as file:
        with FlushedFile(file) as written:
            for number in range(10):
                written.write(memoryview(bytes([number] * 3)))
        assert set(flushed) == {file.fileno()}
    assert (tmp_path / "weights").read_bytes() == bytes(number for number in range(10) for _ in range(3))


def test_small_file_is_not_flushed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    with (tmp_path / "weights").open("wb") as file, FlushedFile(file) as written:
        written.write(memoryview(b"few"))
    assert not flushed


def test_error_of_a_flush_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(flushing, "FLUSHED_SIZE", 1)
    monkeypatch.setattr(os, "fsync", full)
    with (tmp_path / "weights").open("wb") as file, pytest.raises(OSError, match="no space"), FlushedFile(file) as written:
        written.write(memoryview(b"x"))
