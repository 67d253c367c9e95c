"""The companions of the IR of a GGUF file: configurations and a tokenizer from its metadata.

    general.architecture = "qwen2"            config.json             {"model_type": "qwen2", …}
    qwen2.context_length = 32768                                      {…, "max_position_embeddings": 32768}
    tokenizer.ggml.eos_token_id = 151645      generation_config.json  {"eos_token_id": 151645}
    tokenizer.chat_template = "{% for …"      chat_template.jinja

Names of the keys: the specification of GGUF, section "Standardized key-value pairs".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from moir.language_models.companions import (
    CHAT_TEMPLATE,
    CONFIGURATION,
    GENERATION,
    TOKENIZER_CONFIGURATION,
    Companions,
    json_bytes,
    tokenizer_models,
)

MODEL_TYPES = {"qwen2moe": "qwen2_moe", "qwen3moe": "qwen3_moe", "gemma3": "gemma3_text", "gptneox": "gpt_neox", "gpt-oss": "gpt_oss"}
"""The model types of Hugging Face for architectures of GGUF that are spelled otherwise."""

SIZES = {
    "max_position_embeddings": "context_length",
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
}
"""Keys of `config.json`, and the keys of the metadata after the name of the architecture."""

TOKENS = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}
"""Special tokens as configurations name them, and as keys `tokenizer.ggml.NAME_token_id` of the metadata do."""


def companions_of_file(path: Path, has_tokenizer: bool) -> Companions:
    """The companions of a GGUF file, see `moir.language_models.companions`."""
    from moir.frontends.gguf.container import read_metadata
    from moir.tokenizers import read_gguf

    metadata = read_metadata(path)
    return Companions(tokenizer_models(lambda: read_gguf(metadata, str(path)), has_tokenizer), _configurations(metadata), {})


def _configurations(metadata: Mapping[str, object]) -> dict[str, bytes]:
    """The contents of the configurations by the names of their files."""
    architecture = str(metadata.get("general.architecture", ""))
    sizes = {name: metadata.get(f"{architecture}.{key}") for name, key in SIZES.items()}
    tokens = metadata.get("tokenizer.ggml.tokens")
    vocabulary = [str(each) for each in tokens] if isinstance(tokens, list | tuple) else []
    ids = {name: metadata.get(f"tokenizer.ggml.{key}_token_id") for name, key in TOKENS.items()}
    special = {name: number for name, number in ids.items() if isinstance(number, int) and 0 <= number < len(vocabulary)}
    token_ids = {f"{name}_token_id": number for name, number in special.items() if name != "unk"}
    template = metadata.get("tokenizer.chat_template")
    configuration = {
        "model_type": MODEL_TYPES.get(architecture, architecture),
        **{name: size for name, size in sizes.items() if isinstance(size, int)},
        **({"vocab_size": len(vocabulary)} if vocabulary else {}),
        **token_ids,
    }
    texts = {f"{name}_token": vocabulary[number] for name, number in special.items()}
    return {
        CONFIGURATION: json_bytes(configuration),
        GENERATION: json_bytes(token_ids),
        TOKENIZER_CONFIGURATION: json_bytes(texts),
        **({CHAT_TEMPLATE: template.encode(errors="replace")} if isinstance(template, str) else {}),
    }
