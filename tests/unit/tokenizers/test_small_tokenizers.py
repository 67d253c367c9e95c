"""Small tokenizers of each kind: their operations, and the ids and texts that the library `tokenizers` (0.23) has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino
import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.moir import ModelOp
from moir.tokenizers import detokenizer_module, read_folder, tokenizer_module
from tests.unit.tokenizers import small_tokenizers as small
from tests.unit.tokenizers.runtime import compiled

KINDS = {
    "byte_level": small.byte_level,
    "byte_fallback": small.byte_fallback,
    "first": lambda: small.byte_fallback(first_only=True),
    "unigram": small.unigram,
    "word_pieces": small.word_pieces,
}
Settings = dict[str, object]
Read = Callable[..., tuple[ModuleOp, ModuleOp]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The two modules of a kind of tokenizer, with settings."""

    def read_kind(kind: str, settings: Settings | None = None) -> tuple[ModuleOp, ModuleOp]:
        (tmp_path / "tokenizer.json").write_text(json.dumps(KINDS[kind]()))
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings or {}))
        definition = read_folder(tmp_path)
        return tokenizer_module(definition), detokenizer_module(definition)

    return read_kind


def operations(module: ModuleOp) -> list[str]:
    """The names of the operations of OpenVINO Tokenizers in a module, in order."""
    names = [op.name.removeprefix("extension.") for op in module.walk() if op.name.startswith("extension.")]
    return [name for name in names if name not in ("Truncate", "CombineSegments", "RaggedToDense")]


OPERATIONS = {
    "byte_level": ["SpecialTokensSplit", "RegexSplit", "BPETokenizer"],
    "byte_fallback": ["SpecialTokensSplit", "RegexNormalization", "RegexNormalization", "BPETokenizer"],
    "first": ["RegexNormalization", "SpecialTokensSplit", *["RegexNormalization"] * 3, "BPETokenizer"],
    "unigram": ["SpecialTokensSplit", "CharsMapNormalization", "RegexSplit", *["RegexNormalization"] * 2, "RegexSplit", "UnigramTokenizer"],
    "word_pieces": [
        *("SpecialTokensSplit", *["RegexNormalization"] * 3, "CharsMapNormalization", "RegexNormalization", "CharsMapNormalization"),
        *("RegexSplit", "RegexSplit", "RegexNormalization", "WordpieceTokenizer"),
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_operations(read: Read, kind: str) -> None:
    tokenizer, detokenizer = read(kind)
    tokenizer.verify()
    detokenizer.verify()
    assert operations(tokenizer) == OPERATIONS[kind]
    assert operations(detokenizer)[:3] == ["VocabDecoder", "FuzeRagged", "UTF8Validate"]


def test_token_types_are_a_result_if_the_model_takes_them(read: Read) -> None:
    tokenizer, _ = read("word_pieces", {"model_input_names": ["input_ids", "token_type_ids"]})
    assert results(tokenizer) == ["input_ids", "token_type_ids", "attention_mask"]
    assert results(read("word_pieces")[0]) == ["input_ids", "attention_mask"]


def results(module: ModuleOp) -> list[str]:
    """The names of the results of a module."""
    [model] = [op for op in module.walk() if isinstance(op, ModelOp)]
    return [op.attributes["name"].data for op in model.block.ops if op.name == "opset1.Result"]  # type: ignore[attr-defined]


IDS = {
    "byte_level": {
        "hello world": [260, 262, 263, 101],
        "h\u00e9llo<|end|> wo": [105, 264, 258, 112, 0, 262],
        "\u4e2d  x\n": [229, 185, 174, 33, 33, 121, 11],
    },
    "byte_fallback": {
        "hi ab": [1, 265, 259, 266],
        "  hi</s>hi": [1, 267, 265, 2, 265],
        "\u00e9": [1, 259, 198, 172],
        "a<s>": [1, 259, 261, 1],
    },
    "first": {
        "hi ab": [1, 265, 259, 266],
        "  hi": [1, 259, 265],
        "hi</s>hi": [1, 265, 2, 260, 263],
        "</s>hi": [1, 2, 260, 263],
        "\u00e9<s> hi": [1, 259, 198, 172, 1, 265],
    },
    "unigram": {
        "hi there": [0, 3, 7, 8, 1],
        "  hi\tthe": [0, 3, 7, 1],
        "\uff48\uff49 x re": [0, 3, 4, 2, 4, 8, 1],
        "<s>hi": [0, 0, 3, 1],
    },
    "word_pieces": {
        "Unaffables, don't.": [2, 4, 5, 6, 7, 13, 9, 11, 10, 12, 3],
        "unaffx \u4e2dE": [2, 1, 14, 8, 3],
        "\u00c9 [SEP]un": [2, 8, 3, 4, 3],
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_ids(read: Read, tmp_path: Path, kind: str) -> None:
    """Each text alone, and all of them at once, padded on the right with zeros."""
    model = compiled(read(kind)[0], tmp_path / "tokenizer.xml")
    width = max(map(len, IDS[kind].values()))
    together = model(openvino.Tensor(np.array(list(IDS[kind]))))
    for row, (text, expected) in enumerate(IDS[kind].items()):
        alone = model(openvino.Tensor(np.array([text])))
        assert alone["input_ids"].tolist() == [expected]
        padding = [0] * (width - len(expected))
        assert together["input_ids"][row].tolist() == expected + padding
        assert together["attention_mask"][row].tolist() == [1] * len(expected) + padding


TEXTS = {
    "byte_level": [([105, 264, 258, 112, 0, 262], "h\u00e9llo wo"), ([229, 185, 174, 33], "\u4e2d ")],
    "byte_fallback": [([1, 267, 265, 2, 265], "  hi hi"), ([1, 259, 198, 172], "\u00e9")],
    "first": [([1, 265, 2, 260, 263], "hihi"), ([1, 259, 198, 172, 1, 265], "\u00e9 hi")],
    "unigram": [([11, 3], " hi"), ([3, 3], "hi hi"), ([5, 11, 4], "h   ")],
    "word_pieces": [([5, 5, 7], "##affaffs"), ([2, 4, 12, 11, 10], "un . ' t"), ([12, 5], ".aff")],
}
"""The first token of Metaspace loses all of its spaces, the first one of WordPiece keeps its prefix."""


@pytest.mark.parametrize("kind", KINDS)
def test_texts(read: Read, tmp_path: Path, kind: str) -> None:
    model = compiled(read(kind)[1], tmp_path / "detokenizer.xml")
    for ids, text in TEXTS[kind]:
        assert model(np.array([ids]))["string_output"].tolist() == [text]


CLEANS = "clean_up_tokenization_spaces"
FORCED = {CLEANS: True, f"{CLEANS}_for_bpe_even_though_it_will_corrupt_output": True}


@pytest.mark.parametrize(
    ("kind", "settings", "ids", "text"),
    [
        ("word_pieces", {CLEANS: True}, [4, 13, 9, 11, 8, 11, 10, 12], "un, don'e't."),
        ("word_pieces", {CLEANS: False}, [4, 13, 9, 11, 10, 12], "un , don ' t ."),
        ("byte_level", {CLEANS: True}, [33, 47, 33, 34], " . !"),
        ("byte_level", FORCED, [33, 47], "."),
    ],
)
def test_cleaned_texts(read: Read, tmp_path: Path, kind: str, settings: Settings, ids: list[int], text: str) -> None:
    """As transformers 5.24: byte-pair encodings are not cleaned unless they are told so twice."""
    model = compiled(read(kind, settings)[1], tmp_path / "detokenizer.xml")
    assert model(np.array([ids]))["string_output"].tolist() == [text]
