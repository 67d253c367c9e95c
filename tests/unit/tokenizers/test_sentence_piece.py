"""Files of SentencePiece: the ids that SentencePiece 0.2 has, with what the classes of transformers add."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from moir.errors import ConversionError, ModelFileError
from moir.files.protobuf.wire import encode_varint, length_field
from moir.tokenizers import detokenizer_module, read_folder, tokenizer_module
from moir.tokenizers.character_maps import character_map
from tests.unit.tokenizers import small_tokenizers as small
from tests.unit.tokenizers.runtime import ids_of, texts_of

Piece = tuple[str, float, int]
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)
BYTES: list[Piece] = [(f"<0x{value:02X}>", 0.0, BYTE) for value in range(256)]
SPECIAL: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]


def normal(scores: Mapping[str, float]) -> list[Piece]:
    """Pieces that texts are made of."""
    return [(piece, score, NORMAL) for piece, score in scores.items()]


TEXTS = {"\u2581h": -0.0, "\u2581hi": -1.0, "ab": -2.0, "\u2581": -3.0, "h": -4.0, "i": -5.0, "a": -6.0, "b": -7.0}
PAIRS = [*SPECIAL, *BYTES, *normal(TEXTS)]
PROBABLE = [*SPECIAL, *normal({"\u2581hi": -2.0, "\u2581": -1.5, "h": -4.0, "i": -4.0})]


NUMBERS = {"precompiled_charsmap": 2, "add_dummy_prefix": 3, "remove_extra_whitespaces": 4, "escape_whitespaces": 5, "model_type": 3,
           "treat_whitespace_as_suffix": 24, "byte_fallback": 35, "unk_id": 40, "bos_id": 41, "eos_id": 42}  # fmt: skip


def message(fields: Mapping[str, int | bytes]) -> bytes:
    """A message of protobuf, by the names of its fields."""
    parts: list[bytes] = []
    for name, value in fields.items():
        number = NUMBERS[name]
        parts.append(length_field(number, value) if isinstance(value, bytes) else encode_varint(number << 3) + encode_varint(value))
    return b"".join(parts)


def encoded(pieces: Sequence[Piece], trainer: Mapping[str, int | bytes], normalizer: Mapping[str, int | bytes]) -> bytes:
    """A file of SentencePiece."""
    content = b""
    for piece, score, kind in pieces:
        content += length_field(1, length_field(1, piece.encode()) + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([kind]))
    return content + length_field(2, message(trainer)) + length_field(3, message(normalizer))


def folder(path: Path, content: bytes, **settings: object) -> Path:
    """A folder with a file of SentencePiece."""
    (path / "tokenizer.model").write_bytes(content)
    (path / "tokenizer_config.json").write_text(json.dumps(settings))
    return path


PAIR_MODEL = {"model_type": 2, "byte_fallback": 1}
AS_IT_IS = {"remove_extra_whitespaces": 0}
LLAMA = encoded(PAIRS, PAIR_MODEL, AS_IT_IS)
GEMMA = [*SPECIAL, ("\u2581\u2581", 0.0, USER), ("<start_of_turn>", 0.0, USER), *PAIRS[3:]]
MAP = character_map({"\u00e9".encode(): b"hi"})

IDS = {
    "llama": (
        encoded(PAIRS, PAIR_MODEL, AS_IT_IS),
        {},
        {"hi ab": [1, 260, 262, 261], " hi": [1, 262, 260], "</s>h\u00e9": [1, 2, 259, 198, 172]},
    ),
    "not legacy": (LLAMA, {"legacy": False}, {"hi": [1, 260], " hi": [1, 260], "</s>hi": [1, 2, 263, 264]}),
    "ends": (LLAMA, {"add_bos_token": False, "add_eos_token": True}, {"h": [259, 2]}),
    "extra spaces": (encoded(PAIRS, PAIR_MODEL, {}), {}, {"  hi   ab ": [1, 260, 262, 261]}),
    "map": (encoded(PAIRS, PAIR_MODEL, {"precompiled_charsmap": MAP}), {}, {"\u00e9": [1, 260]}),
    "gemma": (
        encoded(GEMMA, PAIR_MODEL, AS_IT_IS | {"add_dummy_prefix": 0}),
        {"tokenizer_class": "GemmaTokenizer"},
        {"hi   ab": [1, 265, 266, 3, 264, 263], "<start_of_turn>  h": [1, 4, 3, 265], "<s> hi": [1, 1, 262]},
    ),
    "t5": (encoded(PROBABLE, {}, {}), {"tokenizer_class": "T5Tokenizer"}, {" hi\n hix": [3, 3, 0, 2], "hi<extra_id_1>": [3, 105, 2]}),
    "xlm-roberta": (
        encoded(PROBABLE, {"model_type": 1}, {}),
        {"tokenizer_class": "XLMRobertaTokenizerFast"},
        {"hi h": [0, 4, 5, 6, 2], "hi <mask>q": [0, 4, 8, 5, 3, 2]},
    ),
}


@pytest.mark.parametrize("kind", IDS)
def test_ids(kind: str, tmp_path: Path) -> None:
    content, settings, expected = IDS[kind]
    definition = read_folder(folder(tmp_path, content, **settings))
    assert ids_of(tokenizer_module(definition), expected, tmp_path) == expected


def test_texts(tmp_path: Path) -> None:
    definition = read_folder(folder(tmp_path, encoded(PAIRS, PAIR_MODEL, {})))
    assert texts_of(detokenizer_module(definition), [[1, 260, 262, 261, 198, 172]], tmp_path) == ["hi ab\u00e9"]


def test_added_tokens_of_the_settings(tmp_path: Path) -> None:
    """Each of them has its id, also if the file has another piece for it."""
    decoder = {"1": {"content": "<begin>", "special": True}, "267": {"content": "<tool>", "special": False}}
    definition = read_folder(folder(tmp_path, encoded(PAIRS, PAIR_MODEL, {}), bos_token="<begin>", added_tokens_decoder=decoder))
    assert definition.bos == 1
    assert [definition.decoding.texts[index] for index in (1, 267)] == [b"<begin>", b"<tool>"]
    assert ids_of(tokenizer_module(definition), ["<begin>hi<tool>"], tmp_path) == {"<begin>hi<tool>": [1, 1, 260, 267]}


@pytest.mark.parametrize(
    ("content", "settings", "expected"),
    [
        (b"\xff", {}, "not a model of SentencePiece"),
        (b"", {}, "there are no pieces"),
        (length_field(1, length_field(1, b"\xff")), {}, "some are not UTF-8"),
        (encoded(PROBABLE, {}, {}), {"tokenizer_class": "AlbertTokenizer"}, "the tokenizer class 'AlbertTokenizer' has no counterpart"),
        (encoded(PROBABLE, {"model_type": 3}, {}), {}, "model_type 3 has no counterpart"),
        (encoded(PAIRS, PAIR_MODEL | {"treat_whitespace_as_suffix": 1}, {}), {}, "treat_whitespace_as_suffix has no counterpart"),
        (encoded(PAIRS, PAIR_MODEL, {"escape_whitespaces": 0}), {}, "escape_whitespaces has no counterpart"),
        (encoded(PAIRS, PAIR_MODEL, {"precompiled_charsmap": b"1"}), {}, "'precompiled_charsmap' is damaged"),
        (encoded([("a" * 20000, 0.0, NORMAL)], PAIR_MODEL, {}), {}, "tokens that are too long"),
        (encoded([("a", 0.0, NORMAL)], {"unk_id": 7}, {}), {"tokenizer_class": "T5Tokenizer"}, "no piece for unknown characters"),
        (encoded([("<s>", math.nan, NORMAL)], {}, {}), {"tokenizer_class": "T5Tokenizer"}, "not a finite number"),
    ],
)
def test_errors(tmp_path: Path, content: bytes, settings: dict[str, object], expected: str) -> None:
    with pytest.raises(ConversionError) as caught:
        read_folder(folder(tmp_path, content, **settings))
    assert expected in str(caught.value)
    assert "--no-tokenizers" in str(caught.value)
    assert isinstance(caught.value, ModelFileError) == ("no counterpart" not in expected)


def test_tokenizer_json_is_read_first(tmp_path: Path) -> None:
    (folder(tmp_path, b"damaged") / "tokenizer.json").write_text(json.dumps(small.byte_level()))
    assert read_folder(tmp_path).location.endswith("tokenizer.json")
