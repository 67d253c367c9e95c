"""Damaged and hostile files are errors of one line that name the file and the option to do without a tokenizer."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moir.errors import ConversionError, ModelFileError
from moir.tokenizers import detokenizer_module, read_folder, tokenizer_module
from tests.numerical.transformers.drawn_tokenizers import changed_tokenizer
from tests.unit.tokenizers import small_tokenizers as small

CHANGED = 200

Change = Callable[[Any], object]


def message(path: Path, content: str | bytes, settings: object = None) -> str:
    """The error about a folder."""
    (path / "tokenizer.json").write_bytes(content.encode() if isinstance(content, str) else content)
    (path / "tokenizer_config.json").write_text(json.dumps(settings or {}))
    with pytest.raises(ConversionError) as caught:
        read_folder(path)
    text = str(caught.value)
    assert "\n" not in text
    assert "--no-tokenizers" in text
    assert len(text) < 600
    assert isinstance(caught.value, ModelFileError) == ("no counterpart" not in text)
    return text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe{", "not JSON"),
        ("[]", "not an object"),
        ('{"model": ' + "[" * 100_000, "nested too deeply"),
        ('{"model": ' + "9" * 5000 + "}", "not JSON"),
        ("{}", "'model' is missing"),
        ('{"model": 5}', "'model' is int"),
        ('{"model": {"type": "BPE"}}', "'vocab' is missing"),
        ('{"model": {"type": "Other", "vocab": {"a": 0}}}', "the model Other"),
    ],
)
def test_not_a_tokenizer(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert expected in message(tmp_path, content)


def model(**changes: object) -> Change:
    """Change the model."""
    return lambda tokenizer: tokenizer["model"].update(changes)


def part(name: str, **content: object) -> Change:
    """Replace a part."""
    return lambda tokenizer: tokenizer.update({name: content})


AROUND = {"special_tokens": {"<s>": {"id": "<s>", "ids": [99999]}}, "pair": []}
FIRST = {"type": "Metaspace", "prepend_scheme": "first"}
LONG = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * (1 << 10)}

CASES: dict[str, tuple[Callable[[], Any], Change, str]] = {
    "id of a text": (small.byte_level, model(vocab={"a": "b"}), "an id is not an integer"),
    "id of two tokens": (small.byte_level, lambda tokenizer: tokenizer["model"]["vocab"].update(he=3), "have the same id"),
    "negative id": (small.byte_level, model(vocab={"a": -1}, merges=[]), "negative or too large"),
    "large id": (small.byte_level, model(vocab={"a": 1 << 40}, merges=[]), "negative or too large"),
    "sparse ids": (small.byte_level, model(vocab={"a": 4_000_000}, merges=[]), "negative or too large"),
    "merge without a token": (small.byte_level, model(merges=["a b"]), "not in the vocabulary"),
    "merge of three": (small.byte_level, model(merges=["a b c"]), "not a merge"),
    "merge of numbers": (small.byte_level, model(merges=[[1, 2]]), "not a merge"),
    "merges": (small.byte_level, model(merges=5), "'merges' is int"),
    "half of a pair": (small.byte_level, model(vocab={"<|end|>": 0, "\ud800": 1}, merges=[]), "surrogate"),
    "unknown token": (small.byte_fallback, model(unk_token=["a"]), "'unk_token' is list"),
    "bytes": (small.byte_fallback, lambda tokenizer: tokenizer["model"]["vocab"].pop("<0x41>"), "some of the 256 bytes"),
    "added token": (small.byte_level, lambda tokenizer: tokenizer["added_tokens"].append(5), "added_tokens[1] is not an object"),
    "added id": (small.byte_level, lambda tokenizer: tokenizer["added_tokens"][0].update(id=1 << 70), "not an integer of 64 bits"),
    "id of another token": (
        small.byte_level,
        lambda tokenizer: tokenizer["added_tokens"][0].update(content="<other>"),
        "the id 0 of the added token '<other>' is that of the token '<|end|>'",
    ),
    "ids of two added tokens": (
        small.byte_level,
        lambda tokenizer: tokenizer["added_tokens"].extend([{"id": 300, "content": "<a>"}, {"id": 300, "content": "<b>"}]),
        "the id 300 of the added token '<b>' is that of the token '<a>'",
    ),
    "empty added token": (small.byte_level, lambda tokenizer: tokenizer["added_tokens"][0].update(content=""), "is empty"),
    "scores": (small.unigram, model(vocab=[["a", "b"]]), "not a list of tokens and scores"),
    "large score": (small.unigram, model(vocab=[["<s>", 10**400]], unk_id=0), "not a finite number"),
    "no score": (small.unigram, model(vocab=[["<s>", float("nan")]], unk_id=0), "not a finite number"),
    "unknown id": (small.unigram, model(unk_id=1000), "out of range"),
    "word limit": (small.word_pieces, model(max_input_chars_per_word=-5), "is negative"),
    "unknown word": (small.word_pieces, model(unk_token="no"), "not in the vocabulary"),
    "sequence id": (
        small.unigram,
        part("post_processor", type="TemplateProcessing", single=[{"Sequence": {"id": "C"}}], **AROUND),
        "the sequence 'C' is neither A nor B",
    ),
    "item": (
        small.unigram,
        part("post_processor", type="TemplateProcessing", single=[{"Other": {"id": "A"}}], **AROUND),
        "neither a sequence",
    ),
    "item of two kinds": (small.unigram, part("post_processor", type="TemplateProcessing", single=[{}], **AROUND), "one of several kinds"),
    "no sequence": (small.unigram, part("post_processor", type="TemplateProcessing", single=[], **AROUND), "the sequence A once"),
    "special token": (
        small.unigram,
        part("post_processor", type="TemplateProcessing", single=[{"SpecialToken": {"id": "x"}}], **AROUND),
        "'x' is missing",
    ),
    "special id": (
        small.unigram,
        part("post_processor", type="TemplateProcessing", single=[{"SpecialToken": {"id": "<s>"}}], **AROUND),
        "99999 is not the id of a token",
    ),
    "ends": (
        small.byte_level,
        part("post_processor", type="RobertaProcessing", cls=["<s>"], sep=["</s>", 2]),
        "'cls' is not a token and its id",
    ),
    "end id": (small.byte_level, part("post_processor", type="BertProcessing", cls=["a", 1], sep=["b", "2"]), "2 is not the id of a token"),
    "post-processor": (small.byte_level, part("post_processor", type="Other"), "the post-processor Other"),
    "normalizer": (small.byte_level, part("normalizer", type="Other"), "the normalizer Other"),
    "prepend": (small.byte_level, part("normalizer", type="Prepend", prepend="\\1"), "backslash before a digit"),
    "pattern": (small.byte_level, part("pre_tokenizer", type="Split", pattern={"Regex": "\\y"}, behavior="Isolated"), "regular expression"),
    "behavior": (small.byte_level, part("pre_tokenizer", type="Split", pattern={"String": "a"}, behavior="Other"), "the behavior 'Other'"),
    "scheme": (small.byte_level, part("pre_tokenizer", type="Metaspace", prepend_scheme="last"), "'last' is not known"),
    "mark": (small.byte_level, part("pre_tokenizer", type="Metaspace", replacement="ab"), "'ab' is not a character"),
    "first after others": (
        small.byte_level,
        part("pre_tokenizer", type="Sequence", pretokenizers=[{"type": "Punctuation"}, FIRST]),
        "prepend_scheme first after other pre-tokenizers",
    ),
    "first after prepend": (
        small.byte_fallback,
        lambda tokenizer: tokenizer.update(pre_tokenizer=FIRST),
        "prepend_scheme first after a normalizer",
    ),
    "strip": (
        small.byte_level,
        part("decoder", type="Sequence", decoders=[{"type": "Fuse"}, {"type": "Strip", "start": -1}]),
        "out of range",
    ),
    "decoder": (small.byte_level, part("decoder", type="CTC"), "the decoder CTC"),
    "long texts": (small.byte_level, part("decoder", type="Sequence", decoders=[LONG] * 9), "too long"),
}


@pytest.mark.parametrize("case", CASES)
def test_damaged_parts(tmp_path: Path, case: str) -> None:
    kind, change, expected = CASES[case]
    tokenizer = kind()
    change(tokenizer)
    assert expected in message(tmp_path, json.dumps(tokenizer))


@pytest.mark.parametrize(("name", "key"), [("normalizer", "normalizers"), ("post_processor", "processors"), ("decoder", "decoders")])
def test_nested_parts(tmp_path: Path, name: str, key: str) -> None:
    text = json.dumps({"model": {"type": "BPE", "vocab": {"a": 0}}, name: "HERE"})
    inside = f'{{"type": "Sequence", "{key}": [' * 499 + "]}" * 499
    assert "nested too deeply" in message(tmp_path, text.replace('"HERE"', inside))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"eos_token": 5}, "eos_token is not an object"),
        ({"eos_token": {"text": "a"}}, "'content' is missing"),
        ({"padding_side": "up"}, "neither left nor right"),
        ({"clean_up_tokenization_spaces": "yes"}, "neither true nor false"),
        ({"chat_template": 5}, "'chat_template' is int"),
        ({"chat_template": [5]}, "chat_template[0] is not an object"),
        ({"added_tokens_decoder": {"-1": {"content": "a"}}}, "'-1' is not an id"),
        ({"added_tokens_decoder": {"99999999": {"content": "<a>"}}}, "negative or too large"),
        ({"model_input_names": 5}, "'model_input_names' is int"),
        ([], "not an object"),
    ],
)
def test_damaged_settings(tmp_path: Path, settings: object, expected: str) -> None:
    (tmp_path / "special_tokens_map.json").write_text("[]" if settings == [] else "{}")
    assert expected in message(tmp_path, json.dumps(small.byte_level()), settings)


def test_merges_in_reverse_order_take_linear_time(tmp_path: Path) -> None:
    """Each merge takes the result of the next one of the list."""
    tokens = ["a" * length for length in range(1, 1500)]
    merges = [[token, "a"] for token in reversed(tokens[:-1])]
    tokenizer = {"model": {"type": "BPE", "vocab": small.numbered(tokens), "merges": merges}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert len(read_folder(tmp_path).algorithm.merges) == len(merges)  # type: ignore[union-attr]


def test_changed_tokenizers_are_converted_or_refused(tmp_path: Path) -> None:
    draw, messages = random.Random(5), list[str]()
    for _ in range(CHANGED):
        content = changed_tokenizer(draw)
        (tmp_path / "tokenizer.json").write_text(json.dumps(content))
        try:
            definition = read_folder(tmp_path)
            assert tokenizer_module(definition) is not detokenizer_module(definition)
        except ConversionError as error:
            messages.append(str(error))
    assert not [each for each in messages if "\n" in each or "tokenizer.json" not in each]
    assert CHANGED / 5 < len(messages) < CHANGED
