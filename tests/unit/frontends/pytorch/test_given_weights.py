"""Weights of programs from `*.safetensors`: names, shapes, element types, and what is missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.opset.infrastructure import Constant
from moir.errors import ModelFileError
from moir.frontends.pytorch import read_model
from moir.frontends.safetensors import SafeTensors
from tests.numerical.pytorch.programs import Program, archive
from tests.numerical.runtime import run

WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)
BIAS = np.array([1, -1, 2, 0.5], np.float32)
TYPES = {"float32": "F32", "float16": "F16", "int64": "I64"}


def safetensors(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """A file of tensors."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    content = b""
    for name, value in tensors.items():
        header[name] = {
            "dtype": TYPES[value.dtype.name],
            "shape": list(value.shape),
            "data_offsets": [len(content), len(content) + value.nbytes],
        }
        content += value.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content


def without_weights(path: Path, *names: str) -> Path:
    """A program with the weights of a layer, whose elements are left out as torch does for fake tensors."""
    program = Program()
    weight, bias = program.weight(names[0], WEIGHT), program.weight(names[1], BIAS)
    x = program.input("x", "f32", [2, 3])
    program.output(program.node("aten.linear.default", [("input", x), ("weight", weight), ("bias", bias)], "f32"))
    records = {name: b"" if "/weight_" in name else content for name, content in program.records().items()}
    model = path / "m.pt2"
    model.write_bytes(archive(records))
    return model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return without_weights(tmp_path, "fc.weight", "fc.bias")


def values(model: Path, weights: Path) -> dict[str, Any]:
    """The constants of a program with weights from elsewhere."""
    block = next(iter(models_of(read_model(model, weights=weights)))).block
    return {str(op.attributes["name"].data): op.value.array for op in block.ops if isinstance(op, Constant)}  # type: ignore[attr-defined]


def notes(model: Path, weights: Path) -> str:
    """What a conversion with weights from elsewhere notes."""
    return str(next(iter(models_of(read_model(model, weights=weights)))).attributes.get(ModuleLevel.NOTES, ""))


def test_weights_are_taken_by_name_as_views(model: Path, tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(safetensors({"fc.bias": BIAS, "fc.weight": WEIGHT}))
    actual = values(model, tmp_path / "w.safetensors")
    np.testing.assert_array_equal(actual["fc.weight"], WEIGHT)
    np.testing.assert_array_equal(actual["fc.bias"], BIAS)
    assert not actual["fc.weight"].flags.owndata
    x = np.ones((2, 3), np.float32)
    converted = moir.to_openvino(moir.convert_model(model, weights=tmp_path / "w.safetensors"))
    np.testing.assert_allclose(run(converted, {"x": x})[0], x @ WEIGHT.T + BIAS, rtol=1e-6)


def test_weights_of_a_sharded_folder_are_found_by_its_index(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a-1.safetensors").write_bytes(safetensors({"fc.bias": BIAS}))
    (folder / "a-2.safetensors").write_bytes(safetensors({"fc.weight": WEIGHT}))
    # A file that the index does not name is none of its files.
    (folder / "other.safetensors").write_bytes(b"nothing")
    named = {"fc.bias": "a-1.safetensors", "fc.weight": "a-2.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": named}))
    assert sorted(values(model, folder)) == ["fc.bias", "fc.weight"]


def test_an_index_does_not_lead_out_of_its_folder(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (tmp_path / "a.safetensors").write_bytes(safetensors({"fc.bias": BIAS}))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"fc.bias": "../a.safetensors"}}))
    with pytest.raises(ModelFileError, match=r"'\.\./a\.safetensors' is not in the folder"):
        read_model(model, weights=folder)


def test_halves_are_converted_to_the_type_of_the_program(model: Path, tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(safetensors({"fc.bias": BIAS, "fc.weight": WEIGHT.astype(np.float16)}))
    x = np.ones((2, 3), np.float32)
    converted = moir.to_openvino(moir.convert_model(model, weights=tmp_path / "w.safetensors"))
    np.testing.assert_allclose(run(converted, {"x": x})[0], x @ WEIGHT.T + BIAS, rtol=1e-3)


def test_names_with_another_prefix_are_taken_with_a_note(model: Path, tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(safetensors({"model.fc.bias": BIAS, "model.fc.weight": WEIGHT, "step": np.zeros(3, np.int64)}))
    assert sorted(values(model, tmp_path / "w.safetensors")) == ["fc.bias", "fc.weight"]
    said = notes(model, tmp_path / "w.safetensors")
    assert "fc.weight from model.fc.weight" in said
    assert "does not use: step" in said


def test_names_that_metadata_gives_to_one_tensor_are_tied(model: Path, tmp_path: Path) -> None:
    tensors = {"fc.bias": BIAS, "embedding": WEIGHT}
    (tmp_path / "w.safetensors").write_bytes(safetensors(tensors, {"fc.weight": "embedding"}))
    np.testing.assert_array_equal(values(model, tmp_path / "w.safetensors")["fc.weight"], WEIGHT)


@pytest.mark.parametrize(("says", "is_taken"), [({}, True), ({"tie_word_embeddings": True}, True), ({"tie_word_embeddings": False}, False)])
def test_a_head_is_the_embedding_if_the_configuration_says_so(tmp_path: Path, says: dict[str, bool], is_taken: bool) -> None:
    model = without_weights(tmp_path, "lm_head.weight", "lm_head.bias")
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "w.safetensors").write_bytes(safetensors({"model.embed_tokens.weight": WEIGHT, "lm_head.bias": BIAS}))
    (folder / "config.json").write_text(json.dumps(says))
    if is_taken:
        np.testing.assert_array_equal(values(model, folder)["lm_head.weight"], WEIGHT)
    else:
        with pytest.raises(ModelFileError, match=r"1 weights are missing: lm_head\.weight"):
            read_model(model, weights=folder)


def test_missing_weights_and_other_shapes_are_one_list(model: Path, tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(safetensors({"fc.bias": BIAS[:2], "ln": BIAS}))
    with pytest.raises(ModelFileError) as raised:
        read_model(model, weights=tmp_path / "w.safetensors")
    text = str(raised.value)
    assert "1 weights are missing: fc.weight" in text
    assert "fc.bias is [2] instead of [4]" in text
    assert "ln" in text


def test_a_program_without_weights_says_what_to_give(model: Path) -> None:
    with pytest.raises(ModelFileError, match="--weights"):
        read_model(model)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "does not fit"),
        ((1 << 40).to_bytes(8, "little") + b"{}", "does not fit"),
        ((2).to_bytes(8, "little") + b"[]", "not an object"),
        ((3).to_bytes(8, "little") + b"{]}", "not JSON"),
        (safetensors({"a": BIAS})[:-1], "not in the file"),
        (safetensors({"a": BIAS}).replace(b"F32", b"F33"), "F33"),
        (safetensors({"a": BIAS}).replace(b"[4]", b"[9]"), "does not fit"),
        (safetensors({"a": BIAS}).replace(b"[4]", b"[x]"), "not JSON"),
        (safetensors({"a": BIAS}).replace(b"[0, ", b"[-1,"), "not in the file"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "w.safetensors").write_bytes(content)
    with pytest.raises(ModelFileError, match=reason):
        SafeTensors(tmp_path / "w.safetensors")
