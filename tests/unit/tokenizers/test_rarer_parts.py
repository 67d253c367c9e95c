"""Parts of `tokenizer.json` that fewer models have: their ids are those of the library `tokenizers` (0.23)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from moir.errors import ConversionError
from moir.tokenizers import detokenizer_module, read_folder, tokenizer_module
from moir.tokenizers.character_maps import character_map
from tests.unit.tokenizers import small_tokenizers as small
from tests.unit.tokenizers.runtime import ids_of, texts_of

Json = dict[str, Any]
BYTES = [f"<0x{value:02X}>" for value in range(256)]


def written(content: Json, folder: Path) -> Path:
    """A folder with a tokenizer."""
    (folder / "tokenizer.json").write_text(json.dumps(content))
    return folder


def token(text: str, index: int, **flags: bool) -> Json:
    """An added token that is not special."""
    names = ("special", "normalized", "single_word", "lstrip", "rstrip")
    return {"id": index, "content": text, **dict.fromkeys(names, False), **flags}


def spaces(*, normalized: bool) -> Json:
    """Byte-level pairs with added tokens of spaces, which are the texts of other tokens, too: as of Phi 2 or GPT-NeoX."""
    content = small.byte_level()
    content["model"]["merges"].append("\u0120 \u0120")
    content["model"]["vocab"]["\u0120\u0120"] = 265
    content["added_tokens"] += [token("  ", 266, normalized=normalized), token("   ", 267, normalized=normalized)]
    return content | ({"normalizer": {"type": "NFC"}} if normalized else {})


def marks() -> Json:
    """An added token that normalization makes of other texts, as of Gemma."""
    content = small.byte_fallback()
    content["added_tokens"].append(token("\u2581ha", 268))
    return content


def normalized_tokens(*others: Json) -> Json:
    """Special tokens that are looked for in the normalized text, as of older conversions of Llama 2."""
    content = small.byte_fallback()
    for each in content["added_tokens"]:
        each["normalized"] = True
    content["added_tokens"] += others
    return content


def unigram_bytes() -> Json:
    """Probable pieces with tokens for the bytes of other characters."""
    scores = {"\u2581hi": -2.0, "\u2581": -1.5, "h": -4.0, "i": -4.0}
    vocab = [["<unk>", 0.0], *[[each, 0.0] for each in BYTES], *map(list, scores.items())]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": True}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, metaspace]}
    return small.tokenizer(model, small.added("<unk>"), pre_tokenizer=metaspace, decoder=decoder)


def precompiled() -> Json:
    """A character map of SentencePiece, and the normalizer Nmt before it."""
    content = small.unigram()
    characters = base64.b64encode(character_map({"\u00e9".encode(): b"e", b"H": b"h"})).decode()
    content["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Nmt"},
                             {"type": "Precompiled", "precompiled_charsmap": characters}]}  # fmt: skip
    return content


def without(*names: str) -> Json:
    """Byte-level pairs without merges, or without added tokens."""
    content = small.byte_level()
    for holder in (content, content["model"]):
        holder.update({name: [] for name in names if name in holder})
    return content


def words_without_added_tokens() -> Json:
    """A WordPiece tokenizer without added tokens, whose pre-tokenizer splits a text by spaces and then by punctuation."""
    return small.word_pieces() | {"added_tokens": []}


def whole_word() -> Json:
    """A tokenizer with an added token that matches whole words only (`single_word`)."""
    content = small.byte_fallback()
    content["added_tokens"][2]["single_word"] = True
    return content


def other_id() -> Json:
    """An added token that the vocabulary has under another id, which precedes."""
    content = small.byte_level()
    content["added_tokens"].append(token("he", 265))
    return content


IDS = {
    "spaces": (spaces(normalized=False), {"h  h   h": [105, 266, 105, 267, 105], "    ": [267, 33], "h <|end|>": [105, 33, 0]}),
    "normalized spaces": (spaces(normalized=True), {"h  h   h": [105, 266, 105, 267, 105], "<|end|>  ": [0, 266]}),
    "marks": (marks(), {"ha": [1, 264, 261], "\u2581ha": [1, 268], "a\u2581hai": [1, 259, 261, 268, 259, 263]}),
    "normalized": (normalized_tokens(), {"<s>hi": [1, 1, 260, 263], "hi <s>hi": [1, 265, 1, 260, 263]}),
    "normalized and others": (
        normalized_tokens(token("<t>", 268), token("ab", 266, normalized=True)),
        {"hi<t><s>hi": [1, 265, 268, 1, 260, 263], "hi ab": [1, 265, 266]},
    ),
    "bytes of characters": (unigram_bytes(), {"hi h\u00e9\U0010fe01": [257, 258, 259, 196, 170, 245, 144, 185, 130]}),
    "no merges": (without("merges"), {"hello": [105, 102, 109, 109, 112], "h<|end|>": [105, 0]}),
    "no added tokens": (without("added_tokens"), {"hello": [260], "h": [105]}),
    "neither": (without("merges", "added_tokens"), {"he": [105, 102]}),
    "words": (words_without_added_tokens(), {"unaffable. don't": [2, 4, 5, 6, 12, 9, 11, 10, 3], "don't": [2, 9, 11, 10, 3]}),
    "whole word": (whole_word(), {"h</s> h": [1, 264, 63, 50, 118, 65, 264], "h </s> h": [1, 264, 259, 2, 259, 264], "</s>": [1, 2]}),
    "an added token of another id": (other_id(), {"he": [257], "hehe": [257, 257]}),
    "precompiled": (precompiled(), {"Hi\u200b\x01th\u00e9re": [0, 3, 7, 8, 1]}),
}


@pytest.mark.parametrize("kind", IDS)
def test_ids(kind: str, tmp_path: Path) -> None:
    content, expected = IDS[kind]
    definition = read_folder(written(content, tmp_path))
    assert ids_of(tokenizer_module(definition), expected, tmp_path) == expected


def test_the_text_of_a_normalized_token_is_the_normalized_one(tmp_path: Path) -> None:
    content = normalized_tokens(token("<t>", 268, normalized=True))
    module = detokenizer_module(read_folder(written(content, tmp_path)))
    assert texts_of(module, [[260, 268, 260]], tmp_path) == ["h <t>h"]


@pytest.mark.parametrize(
    ("normalizer", "text"),
    [
        ({"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""}, "aab"),
        ({"type": "BertNormalizer"}, "\u00c9"),
        ({"type": "Sequence", "normalizers": [{"type": "Precompiled", "precompiled_charsmap": ""}]}, "\u00c9"),
    ],
)
def test_normalized_tokens_that_cannot_be_told(tmp_path: Path, normalizer: Json, text: str) -> None:
    content = small.byte_level()
    content["normalizer"] = normalizer
    content["added_tokens"].append(token(text, 265, normalized=True))
    with pytest.raises(ConversionError, match=r"the normalized added token|precompiled_charsmap"):
        read_folder(written(content, tmp_path))


@pytest.mark.parametrize(
    ("vocab", "expected"),
    [
        ([["<unk>", 0.0], ["<0x00>", 0.0]], "a token for each of the 256 bytes"),
        ([["<unk>", 0.0], *[[each, 0.0] for each in BYTES], ["ab", -1.0], ["a", -1.0]], "tokens of characters that are no tokens"),
    ],
)
def test_bytes_that_cannot_be_expressed(tmp_path: Path, vocab: list[object], expected: str) -> None:
    content = unigram_bytes()
    content["model"]["vocab"] = vocab
    with pytest.raises(ConversionError, match=expected):
        read_folder(written(content, tmp_path))
