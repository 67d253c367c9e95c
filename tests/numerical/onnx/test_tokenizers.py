"""Tokenizers of onnxruntime-extensions against its own results; `tests/fixtures/onnx/tokenizers/generate.py` makes them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.runtime import core, load_tokenizers

FOLDER = Path(__file__).parents[2] / "fixtures" / "onnx" / "tokenizers"


def model_of(folder: Path, kind: str = "gpt2", **attributes: object) -> Path:
    """A fixture with other attributes."""
    model = onnx.load(FOLDER / f"{kind}.onnx")
    (node,) = model.graph.node
    for name, value in attributes.items():
        kept = [each for each in node.attribute if each.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, onnx.helper.make_attribute(name, value)])
    onnx.save(model, folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize(("kind", "length"), [("gpt2", -1), ("gpt2", 6), ("roberta", -1), ("roberta", 48)])
def test_tokenizers_of_byte_pairs(kind: str, length: int, tmp_path: Path) -> None:
    """Contractions, spaces, digits, bytes of characters, special tokens in a text; padding, and a fixed length."""
    content = json.loads((FOLDER / f"{kind}.json").read_text())
    expected = content["results"][str(length)]
    model = moir.to_openvino(moir.convert_model(model_of(tmp_path, kind, padding_length=length)))
    load_tokenizers()
    actual = core().compile_model(model, "CPU")([np.array(content["texts"])])
    np.testing.assert_array_equal(actual[0], expected["ids"])
    np.testing.assert_array_equal(actual[1], expected["mask"])


@pytest.mark.parametrize("name", ["plain", "around"])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_tokenizer_of_sentence_piece(kind: str, name: str, tmp_path: Path) -> None:
    """Runs of spaces, unknown characters, pieces of users, control pieces in a text; without and with tokens around it."""
    content = json.loads((FOLDER / f"{kind}.json").read_text())
    expected = content["results"][name]
    load_tokenizers()
    model = onnx.load(FOLDER / f"{kind}.onnx")
    for constant in model.graph.initializer:
        if constant.name in ("bos", "eos"):
            constant.CopyFrom(onnx.numpy_helper.from_array(np.array([name == "around"]), constant.name))
    onnx.save(model, tmp_path / "m.onnx")
    model = moir.to_openvino(moir.convert_model(tmp_path / "m.onnx"))
    actual = core().compile_model(model, "CPU")([np.array(content["texts"])])
    np.testing.assert_array_equal(actual[1], expected["indices"])
    np.testing.assert_array_equal(actual[0], expected["ids"])


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"vocab": "[1"}, "its vocabulary is not an object in JSON"),
        ({"merges": "a b c"}, "a line of its merges is not of two tokens"),
        ({"vocab": '{"a": "b"}'}, "an id is not an integer"),
    ],
)
def test_damaged_vocabularies(attributes: dict[str, str], reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=reason):
        moir.convert_model(model_of(tmp_path, **attributes))


def test_without_tokenizers(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="its vocabulary is searched, and operations of OpenVINO Tokenizers are ruled out"):
        moir.convert_model(model_of(tmp_path), tokenizers=False)
