"""Side files of weights."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest

from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.tools.optimizer.weights_file import WeightsReader, WeightsWriter


def test_values_are_aligned_and_equal_ones_shared() -> None:
    file = io.BytesIO()
    writer = WeightsWriter(file, "w.bin")
    values = np.arange(30, dtype=np.int32)
    assert writer.store(DataAttr.of(values)) == ("w.bin", 0)
    assert writer.store(DataAttr.of(values + 1)) == ("w.bin", 128)
    assert writer.store(DataAttr.of(values.copy())) == ("w.bin", 0)
    assert file.getvalue() == values.tobytes() + bytes(8) + (values + 1).tobytes()


def test_a_strided_value_is_stored_in_order() -> None:
    file = io.BytesIO()
    values = np.arange(30, dtype=np.float32).reshape(5, 6).T
    WeightsWriter(file, "w.bin").store(DataAttr.of(values))
    assert file.getvalue() == np.ascontiguousarray(values).tobytes()


def test_a_value_is_read_without_a_copy(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(200)))
    reader = WeightsReader(tmp_path)
    values = reader.load("w.bin", 64, 100)
    assert values.tolist() == list(range(64, 164))
    assert not values.flags.writeable
    assert not values.flags.owndata
    assert np.shares_memory(values, reader.load("w.bin", 0, 200))


@pytest.mark.parametrize(("offset", "size"), [(0, 201), (200, 1), (-1, 10), (1 << 70, 1), (0, 1 << 70)])
def test_nothing_beyond_the_file_is_read(tmp_path: Path, offset: int, size: int) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(200))
    with pytest.raises(ModelFileError, match="beyond the end of the side file"):
        WeightsReader(tmp_path).load("w.bin", offset, size)


def test_an_empty_file_holds_empty_values_only(tmp_path: Path) -> None:
    (tmp_path / "w.bin").touch()
    assert WeightsReader(tmp_path).load("w.bin", 0, 0).size == 0
    with pytest.raises(ModelFileError, match="beyond the end"):
        WeightsReader(tmp_path).load("w.bin", 0, 1)


@pytest.mark.parametrize("name", ["", ".", "..", "../w.bin", "/etc/passwd", "a/w.bin", "a\\w.bin", "w.bin\0"])
def test_only_files_in_the_folder_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "w.bin").write_bytes(bytes(64))
    (tmp_path / "w.bin").write_bytes(bytes(64))
    with pytest.raises(ModelFileError, match="not in the folder of the text"):
        WeightsReader(tmp_path / "a").load(name, 0, 1)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "secret").write_bytes(bytes(64))
    (tmp_path / "text" / "w.bin").symlink_to(tmp_path / "secret")
    with pytest.raises(ModelFileError, match="not in the folder of the text"):
        WeightsReader(tmp_path / "text").load("w.bin", 0, 1)


def test_a_folder_reached_by_a_link_is_one_folder(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "w.bin").write_bytes(b"weights")
    (tmp_path / "link").symlink_to(tmp_path / "text")
    assert WeightsReader(tmp_path / "link").load("w.bin", 0, 7).tobytes() == b"weights"


def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "w.bin")
    with pytest.raises(ModelFileError, match="not a regular file"):
        WeightsReader(tmp_path).load("w.bin", 0, 1)
