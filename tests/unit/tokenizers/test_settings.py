"""Files beside `tokenizer.json`: special tokens, added tokens, chat templates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moir.errors import ConversionError
from moir.tokenizers import TokenizerDefinition, read_folder
from tests.unit.tokenizers import small_tokenizers as small


def read(path: Path, **files: object) -> TokenizerDefinition:
    """The tokenizer of a folder with further files."""
    (path / "tokenizer.json").write_text(json.dumps(small.byte_level()))
    for name, content in files.items():
        (path / f"{name}.json").write_text(json.dumps(content))
    return read_folder(path)


def test_special_tokens(tmp_path: Path) -> None:
    """Names of tokenizer_config.json come before those of special_tokens_map.json; each may be an object."""
    settings = {"eos_token": {"content": "<|end|>", "normalized": False}, "pad_token": None}
    others = {"pad_token": "hello", "eos_token": "!", "bos_token": "not in the vocabulary"}
    tokenizer = read(tmp_path, tokenizer_config=settings, special_tokens_map=others)
    assert (tokenizer.eos, tokenizer.pad, tokenizer.bos) == (0, 260, None)
    assert [(each.text, each.special) for each in tokenizer.added] == [("<|end|>", True), ("hello", True)]
    assert list(tokenizer.decoding.special) == [0, 260]


def test_added_tokens_of_the_settings(tmp_path: Path) -> None:
    decoder = {"0": {"content": "<|end|>", "special": True}, "265": {"content": "<tool>", "lstrip": True, "special": False}}
    tokenizer = read(tmp_path, tokenizer_config={"added_tokens_decoder": decoder, "additional_special_tokens": ["world"]})
    [_, tool] = tokenizer.added
    assert (tool.text, tool.id, tool.special, tool.takes_space_before) == ("<tool>", 265, False, True)
    assert tokenizer.decoding.texts[265] == b"<tool>"


def test_sides_and_limit(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, tokenizer_config={"padding_side": "left", "truncation_side": "left", "model_max_length": 7})
    assert (tokenizer.pads_right, tokenizer.truncates_right, tokenizer.longest) == (False, False, 7)
    assert read(tmp_path, tokenizer_config={"model_max_length": 1e30}).longest == 1 << 30


@pytest.mark.parametrize(
    "template", ["T", [{"name": "tools", "template": "U"}, {"name": "default", "template": "T"}], {"default": "T", "tools": "U"}]
)
def test_chat_template(tmp_path: Path, template: object) -> None:
    """In tokenizer_config.json, in chat_template.json before it, in chat_template.jinja before both."""
    assert read(tmp_path, tokenizer_config={"chat_template": template}).chat_template == "T"
    assert read(tmp_path, chat_template={"chat_template": "J"}).chat_template == "J"
    (tmp_path / "chat_template.jinja").write_text("F")
    assert read_folder(tmp_path).chat_template == "F"


def test_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"neither tokenizer\.json nor tokenizer\.model.*--no-tokenizers"):
        read_folder(tmp_path)
