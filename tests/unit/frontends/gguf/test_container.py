"""The container of GGUF files: values, tensors, several files, and damage."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from moir.errors import ModelFileError
from moir.frontends.gguf.container import Container


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _entry(name: str, kind: int, value: bytes) -> bytes:
    return _text(name) + struct.pack("<I", kind) + value


ENTRIES = [
    _entry("general.architecture", 8, _text("llama")),
    _entry("llama.block_count", 4, struct.pack("<I", 2)),
    _entry("llama.epsilon", 6, struct.pack("<f", 0.5)),
    _entry("flag", 7, b"\1"),
    _entry("long", 10, struct.pack("<Q", 1 << 40)),
    _entry("scores", 9, struct.pack("<IQ3f", 6, 3, 1, 2, 3)),
    _entry("tokens", 9, struct.pack("<IQ", 8, 2) + _text("a") + _text("ü")),
    _entry("nested", 9, struct.pack("<IQIQ2i", 9, 1, 5, 2, 7, -8)),
]

WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)


def _file(
    path: Path, entries: list[bytes] | None = None, *, version: int = 3, name: str = "w", kind: int = 0, sizes: tuple[int, ...] = (3, 2)
) -> Path:
    entries = ENTRIES if entries is None else entries
    tensor = _text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, 0)
    head = b"GGUF" + struct.pack("<IQQ", version, 1, len(entries)) + b"".join(entries) + tensor
    path.write_bytes(head + bytes(-len(head) % 32) + WEIGHT.tobytes())
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_values_and_tensors(tmp_path: Path, version: int) -> None:
    container = Container(_file(tmp_path / "m.gguf", version=version))
    found = container.metadata
    assert found["general.architecture"] == "llama"
    assert (found["llama.block_count"], found["llama.epsilon"], found["flag"], found["long"]) == (2, 0.5, True, 1 << 40)
    np.testing.assert_array_equal(found["scores"], np.array([1, 2, 3], np.float32))
    assert found["tokens"] == ["a", "ü"]
    np.testing.assert_array_equal(found["nested"][0], [7, -8])
    tensor = container.tensors["w"]
    assert (tensor.shape, tensor.type.name) == ((2, 3), "F32")
    np.testing.assert_array_equal(tensor.content.view(np.float32), WEIGHT)


def test_several_files(tmp_path: Path) -> None:
    count = _entry("split.count", 2, struct.pack("<H", 2))
    first = _file(tmp_path / "m-00001-of-00002.gguf", [*ENTRIES, count])
    with pytest.raises(ModelFileError, match=r"m-00002-of-00002\.gguf.*cannot be read"):
        Container(first)
    second = _file(tmp_path / "m-00002-of-00002.gguf", [], name="v")
    assert sorted(Container(first).tensors) == ["v", "w"]
    _file(second, [], name="w")
    with pytest.raises(ModelFileError, match="two tensors 'w'"):
        Container(first)
    with pytest.raises(ModelFileError, match="this is not the first one"):
        Container(first.rename(tmp_path / "renamed.gguf"))


def test_every_cut_file_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path / "m.gguf")
    content = path.read_bytes()
    for size in range(1, len(content), 3):
        path.write_bytes(content[:size])
        with pytest.raises(ModelFileError):
            Container(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 1}, "version 1 of GGUF is not known"),
        ({"version": 3 << 24}, "big-endian"),
        ({"kind": 77}, "has the type 77, which is not known"),
        ({"kind": 2}, "have 3 elements, not a multiple of 32 as Q4_0 has"),
        ({"sizes": (1 << 62, 1 << 62)}, "does not fit into the file"),
        ({"sizes": (1, 1, 1, 1, 1)}, "has 5 dimensions"),
        ({"entries": [_entry("a", 4, bytes(4))] * 2}, "two entries 'a'"),
        ({"entries": [_entry("a", 13, bytes(4))]}, "has a value of type 13"),
        ({"entries": [_entry("a", 9, struct.pack("<IQ", 0, 1 << 60))]}, "items do not fit"),
        ({"entries": [_entry("a", 9, struct.pack("<IQ", 9, 1) * 9)]}, "has a value of type 9"),
        ({"entries": [_entry("a", 8, struct.pack("<Q", 1) + b"\xff")]}, "not UTF-8"),
        ({"entries": [_entry("general.alignment", 4, bytes(4))]}, "alignment is 0"),
    ],
)
def test_damage_is_named(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        Container(_file(tmp_path / "m.gguf", **changes))  # pyright: ignore[reportArgumentType]
