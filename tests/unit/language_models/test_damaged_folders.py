"""Errors for folders of language models that are damaged or not complete: what is wrong, and the next step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ModelFileError
from moir.language_models.huggingface import companions_of_folder
from tests.unit.language_models.folders import HIDDEN, write_folder, write_tensors

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


def changed_header(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Change the header of the weights."""

    def apply(folder: Path) -> None:
        content = (folder / WEIGHTS).read_bytes()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        change(header)
        text = json.dumps(header).encode()
        (folder / WEIGHTS).write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])

    return apply


NORM, TABLE = "model.norm.weight", "model.embed_tokens.weight"


def give_range(header: dict[str, Any]) -> None:
    """Give a tensor the bytes of another one."""
    header[NORM]["data_offsets"] = header["model.layers.0.input_layernorm.weight"]["data_offsets"]


def name_long_file(folder: Path) -> None:
    """Name a file that no file system can have."""
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps({"weight_map": {NORM: "a" * 5000}}))
    (folder / WEIGHTS).unlink()


def repeat_tensor(folder: Path) -> None:
    """Have a tensor in two files, with other numbers."""
    (folder / WEIGHTS).rename(folder / "a.safetensors")
    write_tensors(folder / "b.safetensors", {NORM: np.zeros(HIDDEN, np.float32)})
    index = {"weight_map": {TABLE: "a.safetensors", NORM: "b.safetensors"}}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(index))


def write_large_size(folder: Path) -> None:
    """Write an integer that no number of the IR can be."""
    path = folder / "config.json"
    path.write_text(path.read_text().replace('"hidden_size": 8', f'"hidden_size": {10**400}'))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cut_elements, r"are not in the file; the file is damaged, or not complete: copy or download it again$"),
        (cut_header, r"the header does not fit into the file; .*: copy or download it again$"),
        (leave_pointer, r"model\.safetensors: this is a pointer of Git LFS; .*; run git lfs pull$"),
        (omit_shard, r"model-00001-of-00001\.safetensors: there is no such file; .*index\.json names it: copy or download it, too$"),
        (omit_weights, r"the folder is not a model; it has config\.json, but no model\.safetensors or .*: download them"),
        (changed_header(lambda header: header[TABLE].update(dtype="F16")), r"a tensor of shape \[6, 8\] takes 96 bytes, not 192"),
        (changed_header(lambda header: header[TABLE].update(shape=[3, 8])), r"a tensor of shape \[3, 8\] takes 96 bytes, not 192"),
        (changed_header(give_range), r"the elements of the tensors overlap, or leave a gap, at byte \d+; the file is damaged"),
        (changed_header(lambda header: header.pop(NORM)), r"the elements of the tensors overlap, or leave a gap, at byte 192"),
        (name_long_file, r"aaa: there is no such file; model\.safetensors\.index\.json names it"),
        (repeat_tensor, r"b\.safetensors: another file of the folder has a tensor 'model\.norm\.weight' that differs; leave the files of"),
        (write_large_size, r"'hidden_size' is inf; the file is damaged"),
        (rename_family, r"no record of the family 'nothing_like_it'; export it, .* with --generation if it has a cache$"),
    ],
)
def test_errors(tmp_path: Path, change: Callable[[Path], None], message: str) -> None:
    folder = write_folder(tmp_path / "m")
    change(folder)
    with pytest.raises(ModelFileError, match=message) as raised:
        moir.convert_model(folder)
    assert "\n" not in str(raised.value)


def test_other_weights_beside_the_single_file_are_not_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m")
    expected = str(moir.convert_model(folder))
    write_tensors(folder / "consolidated.safetensors", {"norm.weight": np.zeros(HIDDEN, np.float32)})
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps({"weight_map": {NORM: "consolidated.safetensors"}}))
    assert str(moir.convert_model(folder)) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff{}", "is not JSON"),
        (b"[]", "is not an object of JSON"),
        (b'{"eos_token_id": "a"}', r"'eos_token_id' is \['a'\], not the id of a token"),
        (b'{"eos_token_id": [1, 2.5]}', r"'eos_token_id' is \[1, 2\.5\], not the id of a token"),
        (b'{"bos_token_id": 1e400}', r"'bos_token_id' is \[inf\], not the id of a token"),
        (b'{"pad_token_id": [1]}', r"'pad_token_id' is \[\[1\]\], not the id of a token"),
    ],
)
def test_damaged_generation_configurations(tmp_path: Path, content: bytes, message: str) -> None:
    folder = write_folder(tmp_path / "m")
    (folder / "generation_config.json").write_bytes(content)
    with pytest.raises(ModelFileError, match=rf"generation_config\.json: .*{message}.*; the file is damaged"):
        companions_of_folder(folder, has_tokenizer=False)
