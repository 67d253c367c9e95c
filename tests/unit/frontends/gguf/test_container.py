"""The container: versions, alignments, files that are split, and files that are damaged."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from moir.errors import ModelFileError
from moir.frontends.gguf import read_model
from moir.frontends.gguf.container import Container
from tests.unit.frontends.gguf.written_files import llama_tensors, metadata, tagged, text, write_file


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("alignment", [None, 8, 64])
def test_tensors_are_views_of_the_file(tmp_path: Path, version: int, alignment: int | None) -> None:
    values = metadata() if alignment is None else {"general.alignment": alignment, **metadata()}
    container = Container(write_file(tmp_path / "m.gguf", values, version=version, alignment=alignment or 32))
    tensors = llama_tensors()
    assert container.tensors.keys() == tensors.keys()
    for name, value in tensors.items():
        actual = container.tensors[name]
        assert actual.shape == value.shape
        assert not actual.rows.flags.writeable
        np.testing.assert_array_equal(actual.rows.view(np.float32), value)


def test_values_of_all_types(tmp_path: Path) -> None:
    values = {"a": True, "b": 7, "c": 1e-6, "d": "é", "e": [1, 2], "f": ["x", ""], "g": [True, False], "h": [0.5]}
    actual = Container(write_file(tmp_path / "m.gguf", values, {})).metadata
    assert [actual[key] for key in "abcdf"] == [True, 7, 1e-6, "é", ["x", ""]]
    assert [actual[key].tolist() for key in "egh"] == [[1, 2], [True, False], [0.5]]


@pytest.mark.parametrize(("kind", "form", "number"), [(0, "B", 255), (1, "b", -2), (2, "H", 9), (3, "h", -9), (5, "i", -7)])
@pytest.mark.parametrize(("wide_kind", "wide_form", "wide"), [(10, "Q", 1 << 63), (11, "q", -1), (12, "d", 0.1)])
def test_numbers_of_all_types(tmp_path: Path, kind: int, form: str, number: int, wide_kind: int, wide_form: str, wide: float) -> None:
    pairs = ((kind, form, number), (wide_kind, wide_form, wide))
    keys = b"".join(text(str(each)) + struct.pack(f"<I{form}", each, value) for each, form, value in pairs)
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + keys)
    assert Container(tmp_path / "m.gguf").metadata == {str(kind): number, str(wide_kind): wide}


def write_split(folder: Path, count: int = 2) -> list[Path]:
    """Write the model in several files."""
    tensors = list(llama_tensors().items())
    paths = [folder / f"m-{number + 1:05}-of-{count:05}.gguf" for number in range(count)]
    for number, path in enumerate(paths):
        values = {"split.no": number, "split.count": count, **({} if number else metadata())}
        write_file(path, values, dict(tensors[number::count]))
    return paths


def test_a_model_in_several_files(tmp_path: Path) -> None:
    paths = write_split(tmp_path)
    assert Container(paths[0]).tensors.keys() == llama_tensors().keys()
    with pytest.raises(ModelFileError, match=r"not the first file of a model that is split; give m-00001-of-00002\.gguf"):
        Container(paths[1])
    with pytest.raises(ModelFileError, match="whose names do not say so; keep the name"):
        Container(paths[0].rename(tmp_path / "other.gguf"))
    (tmp_path / "other.gguf").rename(paths[0])
    paths[1].unlink()
    with pytest.raises(ModelFileError, match=r"the file m-00002-of-00002\.gguf is missing"):
        Container(paths[0])


def header(version: int = 3, tensors: int = 0, keys: int = 0) -> bytes:
    """The beginning of a file."""
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys)


def entry(name: str = "w", shape: tuple[int, ...] = (32,), kind: int = 0, offset: int = 0) -> bytes:
    """A tensor of the table."""
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"GGU", "the file ends after 3 bytes, within its header"),
        (b"GGML" + bytes(20), "this is no GGUF file"),
        (header(1), "GGUF of the version 1 is not read"),
        (b"GGUF\0\0\0\3" + bytes(16), "the file is for machines with big-endian numbers"),
        (header(tensors=1 << 60), f"{1 << 60} tensors do not fit into the file"),
        (header(keys=1 << 40), f"{1 << 40} keys do not fit into the file"),
        (header(keys=1) + struct.pack("<Q", 1 << 40) + bytes(8), f"the name b'' of {1 << 40} bytes is not possible"),
        (header(keys=1) + text("a\nb") + bytes(4), r"the name b'a\\nb' of 3 bytes is not possible"),
        (header(keys=1) + text("k") + struct.pack("<IQ", 8, 1 << 62), f"a string of {1 << 62} bytes is too long"),
        (header(keys=1) + text("k") + struct.pack("<IIQ", 9, 8, 1 << 30), f"{1 << 30} strings do not fit into the file"),
        (header(keys=1) + text("k") + struct.pack("<IIQQ", 9, 8, 1, 9), "a string of 9 bytes is too long"),
        (header(keys=1) + text("k") + struct.pack("<IIQ", 9, 4, 1 << 61), f"{1 << 61} numbers do not fit into the file"),
        (header(keys=1) + text("k") + struct.pack("<IIQ", 9, 9, 1), "values of the type 9 are not known"),
        (header(keys=1) + text("k") + struct.pack("<IQ", 77, 0), "values of the type 77 are not known"),
        (header(keys=2) + 2 * (text("k") + tagged(1)), "the key 'k' is there twice"),
        (header(keys=1) + text("general.alignment") + tagged(0), "an alignment of 0 is not possible"),
        (header(keys=1) + text("general.alignment") + tagged("x"), "an alignment of 'x' is not possible"),
        (header(tensors=1) + entry(shape=()) + bytes(8), "the tensor 'w' has 0 dimensions"),
        (header(tensors=1) + text("w") + struct.pack("<I", 1 << 31) + bytes(12), f"the tensor 'w' has {1 << 31} dimensions"),
        (header(tensors=1) + entry(shape=(32, 0)), r"the tensor 'w' of shape \[0, 32\] is empty"),
        (header(tensors=1) + entry(), r"the tensor 'w' of shape \[32\] is not in the file; is it complete"),
        (header(tensors=1) + entry(shape=(1 << 62, 1 << 62)), "is not in the file"),
        (header(tensors=1) + entry(offset=1 << 63), "is not in the file"),
        (header(tensors=1) + entry(kind=2, shape=(33, 1)), "of 33 numbers, are not whole blocks of 32"),
        (header(tensors=1) + entry(kind=16), "the tensor 'w' is of the type IQ2_XXS, which is not read; those that are: F32, F16, Q4_0"),
        (header(tensors=1) + entry(kind=99), "the tensor 'w' is of the type number 99, which is not read"),
        (header(tensors=2) + 2 * entry() + bytes(160), "the tensor 'w' is there twice"),
        (header(tensors=1) + entry(offset=32) + bytes(224), "the tensor 'w' is at byte 32 of the tensors, where 0 is due"),
        (header(tensors=2) + entry() + entry("v") + bytes(400), "the tensor 'v' is at byte 0 of the tensors, where 128 is due"),
        (header(tensors=2) + entry(kind=1) + entry("v", offset=128) + bytes(400), "the tensor 'v' is at byte 128 .*, where 64 is due"),
        (header(tensors=1) + entry() + bytes(400), "the last 265 bytes of the file belong to no tensor"),
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "m.gguf").write_bytes(content)
    with pytest.raises(ModelFileError, match=message) as caught:
        Container(tmp_path / "m.gguf")
    assert "\n" not in str(caught.value)


def test_files_with_random_damages(tmp_path: Path) -> None:
    content = write_file(tmp_path / "m.gguf").read_bytes()
    draw, messages = random.Random(0), list[str]()
    for _ in range(150):
        damaged = bytearray(content)
        start = draw.randrange(len(content) // 2)
        match draw.randrange(3):
            case 0:
                del damaged[start:]
            case 1:
                del damaged[start : start + draw.randrange(1, 20)]
            case _:
                damaged[start : start + 8] = struct.pack("<Q", draw.choice([0, 1, 1 << 31, (1 << 64) - 1]))
        path = tmp_path / "damaged.gguf"
        path.write_bytes(damaged)
        try:
            read_model(path)
        except ModelFileError as error:
            messages.append(str(error))
    assert len(messages) > 100
    assert not any("\n" in each for each in messages)
