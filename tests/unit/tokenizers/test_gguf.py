"""Tokenizers in the metadata of GGUF files: what the library `tokenizers` makes of the model's own tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError, ModelFileError
from moir.tokenizers import detokenizer_module, read_gguf, tokenizer_module
from moir.tokenizers.byte_level import characters
from moir.tokenizers.definition import BytePairs, NormalForm, Split, TokenizerDefinition
from moir.tokenizers.split_patterns import PRE_TOKENIZERS
from tests.unit.tokenizers.runtime import ids_of, texts_of

Metadata = dict[str, Any]
BYTES = [f"<0x{value:02X}>" for value in range(256)]


def metadata(model: str, tokens: list[str], kinds: dict[int, int], **others: object) -> Metadata:
    """The metadata of a file; `kinds` are those of tokens that are not normal, by ids."""
    types = np.array([kinds.get(index, 1) for index in range(len(tokens))], np.int32)
    written = {"model": model, "tokens": tokens, "token_type": types, **others}
    return {"general.architecture": "llama"} | {f"tokenizer.ggml.{key}": value for key, value in written.items()}


def sentence_pairs(**others: object) -> Metadata:
    """Pairs of SentencePiece, as of Llama 2."""
    pieces = ["\u2581", "h", "i", "a", "b", "\u2581h", "\u2581hi", "ab", "hi"]
    tokens = ["<unk>", "<s>", "</s>", *BYTES, *pieces]
    scores = np.array([0.0] * (3 + 256) + [-20, -21, -22, -23, -24, -1, -2, -3, -4], np.float32)
    kinds = {0: 2, 1: 3, 2: 3} | dict.fromkeys(range(3, 259), 6)
    return metadata("llama", tokens, kinds, scores=scores, bos_token_id=1, eos_token_id=2, unknown_token_id=0) | {
        f"tokenizer.ggml.{key}": value for key, value in others.items()
    }


def byte_pairs(pre: str = "llama-bpe", **others: object) -> Metadata:
    """Pairs of bytes, as of Llama 3."""
    merges = ["h i", "\u0120 hi", "1 2", "12 3"]
    tokens = ["<|end|>", *characters(), *[merge.replace(" ", "") for merge in merges], "<tool>"]
    content = {"merges": merges, "pre": pre, "bos_token_id": 0, "eos_token_id": 0, **others}
    return metadata("gpt2", tokens, {0: 3, len(tokens) - 1: 4}, **content)


def word_pieces() -> Metadata:
    """Pieces of words, as of BERT: a mark before the tokens that begin a word."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581un", "aff", "able", "\u2581,"]
    ids = {"padding_token_id": 0, "unknown_token_id": 1, "bos_token_id": 2, "seperator_token_id": 3}
    return metadata("bert", tokens, dict.fromkeys(range(4), 3), **ids)


def probable_pieces(**others: object) -> Metadata:
    """Probable pieces of SentencePiece, as of T5."""
    tokens = ["<pad>", "</s>", "<unk>", "\u2581", "\u2581hi", "h", "i"]
    scores = np.array([0, 0, 0, -2, -3, -4, -5], np.float32)
    ids = {"padding_token_id": 0, "eos_token_id": 1, "unknown_token_id": 2}
    return metadata("t5", tokens, {0: 3, 1: 3, 2: 2}, scores=scores, **ids, **others)


def read(content: Metadata) -> TokenizerDefinition:
    """The tokenizer of a file."""
    return read_gguf(content, "model.gguf")


IDS = {
    "pairs": (sentence_pairs(), {"hi ab": [1, 265, 259, 266], " hi</s>hi": [1, 259, 265, 2, 265], "\u00e9": [1, 259, 198, 172]}),
    "no prefix": (sentence_pairs(add_space_prefix=False, add_bos_token=False, add_eos_token=True), {"hi ab": [267, 259, 266, 2]}),
    "bytes": (byte_pairs(), {"hi hi<tool>1234": [0, 257, 258, 261, 260, 53]}),
    "digits": (byte_pairs("qwen2"), {"hi123": [257, 50, 51, 52]}),
    "words": (word_pieces(), {"Unaffable, un": [2, 4, 5, 6, 7, 4, 3], "x [SEP]": [2, 1, 3, 3]}),
    "probable": (probable_pieces(), {"hi  hx": [4, 3, 3, 5, 2, 1]}),
    "without spaces": (probable_pieces(remove_extra_whitespaces=True), {" hi  hx ": [4, 3, 5, 2, 1]}),
}


@pytest.mark.parametrize("kind", IDS)
def test_ids(kind: str, tmp_path: Path) -> None:
    content, expected = IDS[kind]
    assert ids_of(tokenizer_module(read(content)), expected, tmp_path) == expected


def test_texts(tmp_path: Path) -> None:
    module = detokenizer_module(read(sentence_pairs()))
    assert texts_of(module, [[1, 265, 259, 266, 198, 172], [259, 259, 266]], tmp_path) == ["hi ab\u00e9", " ab"]


def test_merges_are_those_of_the_scores() -> None:
    """A token that has no division into two tokens is never made; others are made in each way."""
    algorithm = read(sentence_pairs()).algorithm
    assert isinstance(algorithm, BytePairs)
    mark = "\u2581".encode()
    assert algorithm.merges == [(mark, b"h"), (mark + b"h", b"i"), (mark, b"hi"), (b"a", b"b"), (b"h", b"i")]


def test_gemma_merges_in_the_order_of_its_tokens() -> None:
    """Its files have spaces in tokens of spaces, and scores that say nothing."""
    tokens = ["<unk>", *BYTES, "  ", "\u2581", "a", "\u2581a"]
    content = metadata("llama", tokens, {257: 4}, scores=np.zeros(len(tokens), np.float32)) | {"general.architecture": "gemma3"}
    algorithm = read(content).algorithm
    assert isinstance(algorithm, BytePairs)
    mark = "\u2581".encode()
    assert algorithm.merges == [(mark, mark), (mark, b"a")]
    assert read(content).added == ()


def test_the_template_of_conversations_and_the_ids() -> None:
    content = byte_pairs(padding_token_id=0) | {"tokenizer.chat_template": "{{ messages }}"}
    definition = read(content)
    assert (definition.chat_template, definition.bos, definition.eos, definition.pad) == ("{{ messages }}", 0, 0, 0)
    assert [(each.text, each.special) for each in definition.added] == [("<|end|>", True), ("<tool>", False)]


@pytest.mark.parametrize("name", sorted(PRE_TOKENIZERS))
def test_pre_tokenizers(name: str) -> None:
    definition = read(byte_pairs(name))
    assert sum(isinstance(step, Split) for step in definition.pre_tokenization) == len(PRE_TOKENIZERS[name].patterns)
    assert definition.normalization == ((NormalForm("nfc"),) if PRE_TOKENIZERS[name].form else ())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, "'model' is missing"),
        (metadata("rwkv", ["a"], {}), "the tokenizer 'rwkv' has no counterpart"),
        (byte_pairs("unheard"), "the pre-tokenizer 'unheard' has no counterpart"),
        (sentence_pairs(bos_token_id=99999), "'bos_token_id' is 99999, but there are 268 tokens"),
        (sentence_pairs(scores=np.zeros(2)), "'scores' does not have a number for each of the 268 tokens"),
        (sentence_pairs(scores=np.zeros(0)), "neither 'merges' nor 'scores'"),
        (sentence_pairs(tokens=[b"a"]), "'tokens' is not a list of texts"),
        (sentence_pairs(tokens=["a" * 100_000] * 268), "tokens that are too long"),
        (byte_pairs(merges=[]), "'merges' is missing"),
        (probable_pieces(precompiled_charsmap=np.full(9, 255, np.uint8)), "'precompiled_charsmap' is damaged"),
    ],
)
def test_errors(content: Metadata, expected: str) -> None:
    with pytest.raises(ConversionError) as caught:
        read(content)
    assert expected in str(caught.value)
    assert "--no-tokenizers" in str(caught.value)
    assert isinstance(caught.value, ModelFileError) == ("no counterpart" not in expected)
