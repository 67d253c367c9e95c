"""The files beside the IR of a language model: the IRs of its tokenizer and detokenizer, and configurations.

    openvino_model.xml, .bin          the network
    openvino_tokenizer.xml, .bin      texts -> input_ids, attention_mask
    openvino_detokenizer.xml, .bin    ids -> texts
    config.json                       of the model: its type, its ids of special tokens
    generation_config.json            which tokens end a text, how tokens are drawn
    tokenizer_config.json, …          what the tokenizer was made from, for other tools
    chat_template.jinja               how messages become one text

OpenVINO GenAI finds them by these names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.tokenizers.definition import TokenizerDefinition

LANGUAGE_MODEL = "openvino_model"
"""The name of the IR of the network, without suffix."""

TOKENIZER, DETOKENIZER = "openvino_tokenizer", "openvino_detokenizer"
"""Names of the IRs of a tokenizer, without suffix."""

CONFIGURATION, GENERATION = "config.json", "generation_config.json"
TOKENIZER_CONFIGURATION, CHAT_TEMPLATE = "tokenizer_config.json", "chat_template.jinja"


class Companions(Record):
    """The files beside an IR, by their names.

    Args:
        models: modules in opset dialects that become IRs, by names without suffix.
        contents: the bytes of files that are derived.
        copies: files that are copied.
    """

    models: Mapping[str, ModuleOp]
    contents: Mapping[str, bytes]
    copies: Mapping[str, Path]

    @property
    def names(self) -> list[str]:
        """The names of all files."""
        return [*(name + suffix for name in self.models for suffix in (".xml", ".bin")), *self.contents, *self.copies]


def tokenizer_models(definition: Callable[[], TokenizerDefinition], has_tokenizer: bool) -> dict[str, ModuleOp]:
    """The modules of a tokenizer by the names of their IRs; empty if it is not converted.

    Args:
        definition: reads the tokenizer.
        has_tokenizer: whether it is converted.

    Raises what `definition` raises, and ConversionError for a tokenizer that cannot be expressed.
    """
    if not has_tokenizer:
        return {}
    from moir.tokenizers import detokenizer_module, tokenizer_module

    tokenizer = definition()
    return {TOKENIZER: tokenizer_module(tokenizer), DETOKENIZER: detokenizer_module(tokenizer)}


def json_bytes(content: Mapping[str, object]) -> bytes:
    """A configuration as the bytes of its file."""
    import json

    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
