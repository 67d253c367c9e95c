"""Errors for folders of language models that are damaged or not complete: what is wrong, and the next step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import moir
from moir.errors import ModelFileError
from tests.unit.language_models.folders import write_folder

WEIGHTS = "model.safetensors"


def cut_elements(folder: Path) -> None:
    """Cut the file of the weights within the elements."""
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[:-8])


def cut_header(folder: Path) -> None:
    """Cut the file of the weights within the header."""
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[:64])


def leave_pointer(folder: Path) -> None:
    """Leave what a clone without Git LFS has of the weights."""
    (folder / WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")


def omit_shard(folder: Path) -> None:
    """Leave an index that names a file which is not there."""
    (folder / WEIGHTS).unlink()
    index = {"weight_map": {"model.norm.weight": "model-00001-of-00001.safetensors"}}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(index))


def omit_weights(folder: Path) -> None:
    """Leave a folder without weights."""
    (folder / WEIGHTS).unlink()


def rename_family(folder: Path) -> None:
    """Name a family without a record."""
    path = folder / "config.json"
    path.write_text(path.read_text().replace('"llama"', '"nothing_like_it"'))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cut_elements, r"are not in the file; the file is damaged, or not complete: copy or download it again$"),
        (cut_header, r"the header does not fit into the file; .*: copy or download it again$"),
        (leave_pointer, r"model\.safetensors: this is a pointer of Git LFS; .*; run git lfs pull$"),
        (omit_shard, r"model-00001-of-00001\.safetensors: there is no such file; .*index\.json names it: copy or download it, too$"),
        (omit_weights, r"the folder is not a model; it has config\.json, but no model\.safetensors or .*: download them"),
        (rename_family, r"no record of the family 'nothing_like_it'; export it, .* with --generation if it has a cache$"),
    ],
)
def test_errors(tmp_path: Path, change: Callable[[Path], None], message: str) -> None:
    folder = write_folder(tmp_path / "m")
    change(folder)
    with pytest.raises(ModelFileError, match=message) as raised:
        moir.convert_model(folder)
    assert "\n" not in str(raised.value)
