"""The companions of the IR of a Hugging Face folder: copies of its configurations, and its tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from moir.errors import ModelFileError
from moir.files.reading import read_whole
from moir.language_models.companions import (
    CHAT_TEMPLATE,
    CONFIGURATION,
    GENERATION,
    TOKENIZER_CONFIGURATION,
    Companions,
    json_bytes,
    tokenizer_models,
)

COPIED = (
    CONFIGURATION,
    GENERATION,
    TOKENIZER_CONFIGURATION,
    CHAT_TEMPLATE,
    *("tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.json", "vocab.txt", "merges.txt", "chat_template.json"),
)
"""The files of a folder that are copied if they exist."""

GENERATION_KEYS = ("bos_token_id", "eos_token_id", "pad_token_id")
"""The keys of `config.json` that make a `generation_config.json` for a folder that has none."""


REPLACE = "the file is damaged: download it again, or remove it if it is not config.json"
"""The hint for a configuration that cannot be read."""


def companions_of_folder(folder: Path, has_tokenizer: bool) -> Companions:
    """The companions of the IR of a language model.

    Args:
        folder: the folder of the model.
        has_tokenizer: whether the tokenizer is converted. Its files are copied in any case.

    Raises ModelFileError for files that are missing or damaged, ConversionError for a tokenizer that operations of
    OpenVINO Tokenizers cannot express.
    """
    from moir.tokenizers import read_folder

    copies = {name: folder / name for name in COPIED if (folder / name).is_file()}
    if GENERATION in copies:
        _check_generation_configuration(copies[GENERATION])
    contents = {} if GENERATION in copies else {GENERATION: _generation_configuration(folder / CONFIGURATION)}
    return Companions(tokenizer_models(lambda: read_folder(folder), has_tokenizer), contents, copies)


def _generation_configuration(path: Path) -> bytes:
    """The content of a `generation_config.json`, made from the ids of special tokens in `config.json`."""
    content = _json(path)
    configuration = cast("dict[str, object]", content) if isinstance(content, dict) else {}
    inner = configuration.get("text_config")
    if isinstance(inner, dict):
        # Of a multimodal model: what its language model says counts where the whole says nothing.
        own = cast("dict[str, object]", inner)
        configuration = {**own, **{key: value for key, value in configuration.items() if value is not None}}
    return json_bytes({key: configuration[key] for key in GENERATION_KEYS if configuration.get(key) is not None})


def _check_generation_configuration(path: Path) -> None:
    """Raises ModelFileError for a `generation_config.json` that OpenVINO GenAI cannot read: one that is not an object
    of JSON, or has special tokens that are not ids.
    """
    content = _json(path)
    if not isinstance(content, dict):
        raise ModelFileError("the configuration is not an object of JSON", location=str(path), hint=REPLACE)
    configuration = cast("dict[str, object]", content)
    for key in GENERATION_KEYS:
        value = configuration.get(key)
        is_list = isinstance(value, list) and key == "eos_token_id"
        ids = cast("list[object]", value if is_list else [value])
        if value is not None and not all(type(each) is int and -1 <= each < 1 << 31 for each in ids):
            raise ModelFileError(f"{key!r} is {str(ids)[:80]}, not the id of a token", location=str(path), hint=REPLACE)


def _json(path: Path) -> Any:
    try:
        return json.loads(read_whole(path, "the configuration"))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the configuration is not JSON: {error}", location=str(path), hint=REPLACE) from None
