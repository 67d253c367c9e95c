"""Output files appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.files.output import ARRAYS_FILE, ONNX_FILE, PAGE_FILE, TEXT_FILE, WEIGHTS_FILE, OutputKind, check_replaceable, replacing_file
from moir.files.reading import record_read, recorded_files
from moir.tools.commands.report import main as report
from moir.tools.commands.run import main as run

MODEL = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"


def interrupted(path: Path) -> None:
    with replacing_file(path, TEXT_FILE) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing_file(path, TEXT_FILE) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a")
    with replacing_file(tmp_path / "link", TEXT_FILE) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_device_is_written_to() -> None:
    with replacing_file(Path("/dev/null"), TEXT_FILE) as file:
        file.write(b"nothing")
    assert Path("/dev/null").is_char_device()


KINDS = {
    PAGE_FILE: b"<!DOCTYPE html>",
    ARRAYS_FILE: b"PK\x03\x04",
    TEXT_FILE: b"builtin.module {}",
    WEIGHTS_FILE: bytes(4),
    ONNX_FILE: b"\x08\x09\x12",
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_only_a_file_of_its_kind_is_replaced(tmp_path: Path, kind: OutputKind) -> None:
    path = tmp_path / "a"
    check_replaceable(path, kind)
    path.touch()
    check_replaceable(path, kind)
    path.write_bytes(KINDS[kind])
    check_replaceable(path, kind)
    path.write_bytes(b'<?xml version="1.0"?>\n<net name="m" version="11">')
    with pytest.raises(ConversionError, match="the file would be overwritten, but it is not"):
        check_replaceable(path, kind)


def test_what_was_read_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"text")
    os.link(path, tmp_path / "hard")
    (tmp_path / "soft").symlink_to(path)
    with recorded_files():
        with recorded_files():
            record_read(path)
        for name in ("a", "hard", "soft"):
            with pytest.raises(ConversionError, match="it was read"):
                check_replaceable(tmp_path / name, TEXT_FILE)
    check_replaceable(path, TEXT_FILE)


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_report_does_not_replace_the_model(tmp_path: Path, link: Callable[[Path, Path], None] | None) -> None:
    model, page = tmp_path / "m.onnx", tmp_path / "m.onnx"
    shutil.copy(MODEL, model)
    if link is not None:
        page = tmp_path / "page.html"
        link(model, page)
    assert report([str(model), "-o", str(page)]) == 1
    assert model.read_bytes() == MODEL.read_bytes()


def test_run_does_not_replace_its_inputs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arrays = tmp_path / "a.npz"
    np.savez(arrays, x=np.ones(3, np.float32))
    before = arrays.read_bytes()
    assert run([str(MODEL), "--inputs", str(arrays), "--outputs", str(arrays)]) == 1
    assert "it was read" in capfd.readouterr().err
    assert arrays.read_bytes() == before
