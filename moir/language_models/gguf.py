"""The companions of the IR of a GGUF file: configurations from its metadata, and its tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from moir.frontends.gguf.container import Container
from moir.frontends.gguf.model import described
from moir.language_models.companions import (
    CHAT_TEMPLATE,
    CONFIGURATION,
    GENERATION,
    Companions,
    json_bytes,
    tokenizer_models,
)
from moir.support.tables import words

SPECIAL = {
    "bos_token_id": "tokenizer.ggml.bos_token_id",
    "eos_token_id": "tokenizer.ggml.eos_token_id",
    "pad_token_id": "tokenizer.ggml.padding_token_id",
}
"""The ids of special tokens in configurations, by the keys of the metadata."""

FURTHER_ENDS = ("tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id")
"""The metadata keys of further tokens that end a text: the end of a turn, and the end of a message."""

ENDS = words(
    "</s> <eos> <|eot_id|> <|eom_id|> <|end_of_text|> <|endoftext|> <|im_end|> <|end|> <|return|> <|call|> <end_of_turn> "
    "<end_of_utterance> <EOT> [EOT] <\uff5cend\u2581of\u2581sentence\uff5c> <|END_OF_TURN_TOKEN|>"
)
"""The texts of control tokens that end a text or a turn.

A file names at most one of them, while folders have a list.
"""

HARMONY_MESSAGE, HARMONY_ENDS = "<|end|>", words("<|return|> <|call|>")
"""Tokens of the Harmony format of gpt-oss: the end of a message, and the tokens that end a turn of several messages."""

CONTROL = 3
"""The type of control tokens."""

SAMPLING = {"temperature": "general.sampling.temp", "top_k": "general.sampling.top_k", "top_p": "general.sampling.top_p"}
"""The parameters of sampling in a generation configuration, with their metadata keys."""


def companions_of_file(path: Path, has_tokenizer: bool) -> Companions:
    """The companions of the IR of a language model.

    Args:
        path: the file.
        has_tokenizer: whether the tokenizer is converted.

    Raises ModelFileError for a file that is damaged or not known, ConversionError for a tokenizer that operations of
    OpenVINO Tokenizers cannot express.
    """
    from moir.tokenizers import read_gguf

    container = Container(path)
    metadata = container.metadata
    models = tokenizer_models(lambda: read_gguf(metadata, container.location), has_tokenizer)
    contents = {
        CONFIGURATION: json_bytes(_configuration(container)),
        GENERATION: json_bytes(_special_tokens(metadata) | _sampling(metadata)),
    }
    template = metadata.get("tokenizer.chat_template")
    if isinstance(template, str):
        contents[CHAT_TEMPLATE] = template.encode("utf-8", "surrogateescape")
    return Companions(models, contents, {})


def _configuration(container: Container) -> dict[str, object]:
    """The config.json that the model would have in a folder."""
    _, _, keys = described(container)
    return {key: value for key, value in keys.values.items() if not key.startswith("_")} | _special_tokens(container.metadata)


def _special_tokens(metadata: Mapping[str, Any]) -> dict[str, object]:
    """The ids of special tokens by their configuration keys; a list of ids if several tokens end a text."""
    ids: dict[str, object] = {name: metadata[key] for name, key in SPECIAL.items() if _is_id(metadata.get(key))}
    ends = [ids["eos_token_id"]] if "eos_token_id" in ids else []
    ends += [metadata[key] for key in FURTHER_ENDS if _is_id(metadata.get(key))]
    ends = list(dict.fromkeys([*ends, *_ends(metadata)]))
    if ends:
        ids["eos_token_id"] = ends[0] if len(ends) == 1 else ends
    return ids


def _ends(metadata: Mapping[str, Any]) -> list[int]:
    """The ids of the control tokens that end a text or a turn, recognized by their texts."""
    tokens: Any = metadata.get("tokenizer.ggml.tokens")
    types: Any = metadata.get("tokenizer.ggml.token_type")
    if not isinstance(tokens, list) or not isinstance(types, np.ndarray):
        return []
    pairs_of_tokens = zip(cast("list[str]", tokens), types.tolist(), strict=False)
    ends = {text: index for index, (text, kind) in enumerate(pairs_of_tokens) if text in ENDS and kind == CONTROL}
    if HARMONY_ENDS & ends.keys():
        ends.pop(HARMONY_MESSAGE, None)
    return list(ends.values())


def _sampling(metadata: Mapping[str, Any]) -> dict[str, object]:
    """The parameters of sampling that the file has."""
    values: dict[str, object] = {name: metadata[key] for name, key in SAMPLING.items() if _is_number(metadata.get(key))}
    return {"do_sample": True, **values} if values else {}


def _is_id(value: object) -> bool:
    """Whether a value is a token's id; some writers store -1, in 32 bits, for no token."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < (1 << 32) - 1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
