"""The language models that are damaged: folders of Hugging Face Transformers and files in GGUF, with their tokenizers."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from moir.frontends.gguf.block_types import TYPES
from tests.fuzz.files.sample import Sample, made
from tests.unit.frontends.gguf.test_blocks import random_rows
from tests.unit.frontends.gguf.written_files import Stored, llama_tensors, metadata, write_file
from tests.unit.language_models.folders import WORDS, weights, write_folder, write_tensors
from tests.unit.tokenizers import small_tokenizers

TOKENIZERS: dict[str, Callable[[], Any]] = {
    "byte-level": small_tokenizers.byte_level,
    "bytes of unknown characters": small_tokenizers.byte_fallback,
    "Unigram": small_tokenizers.unigram,
    "WordPiece": small_tokenizers.word_pieces,
}

TEMPLATE = "{% for each in messages %}<{{ each['role'] }}> {{ each['content'] }}{{ eos_token }}{% endfor %}"

GENERATION = {"bos_token_id": 0, "eos_token_id": [1, 2], "do_sample": True, "temperature": 0.6, "top_p": 0.9, "top_k": 50, "max_length": 20}

BLOCKS = ("Q4_0", "Q8_0", "Q4_1", "MXFP4", "Q4_K")
"""The types of matrices."""

BY_NAME = {each.name: each for each in TYPES.values()}

NUMBERS = {each.name: number for number, each in TYPES.items()}


def _folder(folder: Path, tokenizer: Callable[[], Any] | None = None, shards: int = 1, template: str = "") -> Path:
    write_folder(folder / "m")
    (folder / "m" / "generation_config.json").write_text(json.dumps(GENERATION))
    if tokenizer is not None:
        (folder / "m" / "tokenizer.json").write_text(json.dumps(tokenizer()))
    (folder / "m" / "special_tokens_map.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": {"content": "</s>"}}))
    if template:
        settings = {"bos_token": "<s>", "eos_token": "</s>", "padding_side": "left", "model_max_length": 32, "chat_template": TEMPLATE}
        settings |= {"added_tokens_decoder": {"0": {"content": "<s>", "special": True}}, "clean_up_tokenization_spaces": False}
        (folder / "m" / "tokenizer_config.json").write_text(json.dumps(settings))
        (folder / "m" / template).write_text(TEMPLATE if template.endswith("jinja") else json.dumps({"chat_template": TEMPLATE}))
    if shards > 1:
        (folder / "m" / "model.safetensors").unlink()
        tensors = list(weights().items())
        places: dict[str, str] = {}
        for number in range(shards):
            name = f"model-{number + 1:05}-of-{shards:05}.safetensors"
            write_tensors(folder / "m" / name, dict(tensors[number::shards]))
            places |= {each: name for each, _ in tensors[number::shards]}
        (folder / "m" / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": places}))
    return folder / "m"


@cache
def folder_samples() -> list[Sample]:
    """Folders: weights in one file and in several, each kind of tokenizer, templates of conversations in each file."""
    return [
        made("a folder", _folder),
        made("a folder with shards", lambda folder: _folder(folder, shards=3)),
        made("a folder with a template", lambda folder: _folder(folder, template="chat_template.jinja")),
        made("a folder with an older template", lambda folder: _folder(folder, template="chat_template.json")),
        *(made(f"a folder with {name}", lambda folder, make=make: _folder(folder, make)) for name, make in TOKENIZERS.items()),
    ]


def _quantized(path: Path, name: str) -> Path:
    """A file of a llama of one layer whose matrices have a type, with as many columns as one block."""
    kind = BY_NAME[name]
    size = max(32, kind.count)
    matrices = {
        "token_embd": (len(WORDS), size), "blk.0.attn_q": (size, size), "blk.0.attn_k": (size // 2, size),
        "blk.0.attn_v": (size // 2, size), "blk.0.attn_output": (size, size), "blk.0.ffn_gate": (size, size),
        "blk.0.ffn_up": (size, size), "blk.0.ffn_down": (size, size),
    }  # fmt: skip
    tensors: dict[str, Stored] = {
        f"{each}.weight": np.ones(size, np.float32) for each in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm")
    }
    for each, (rows, columns) in matrices.items():
        content = np.resize(random_rows(name, 4, columns // kind.count), rows * columns // kind.count * kind.size).tobytes()
        tensors[f"{each}.weight"] = (NUMBERS[name], (rows, columns), content)
    keys = {"embedding_length": size, "feed_forward_length": size}
    return write_file(path, metadata(keys=keys), tensors)


@cache
def gguf_samples() -> list[Sample]:
    """Files: numbers, each kind of blocks, other alignments, and a model in several files."""

    def split(folder: Path) -> Path:
        tensors = list(llama_tensors().items())
        for number in range(2):
            values = {"split.no": number, "split.count": 2, **({} if number else metadata())}
            write_file(folder / f"m-{number + 1:05}-of-00002.gguf", values, dict(tensors[number::2]))
        return folder / "m-00001-of-00002.gguf"

    further = {"tokenizer.chat_template": TEMPLATE, "general.sampling.temp": 0.6, "general.alignment": 64}
    return [
        made("a GGUF file", lambda folder: write_file(folder / "m.gguf")),
        made("a GGUF file with a template", lambda folder: write_file(folder / "m.gguf", {**metadata(), **further}, alignment=64)),
        made("a GGUF file in parts", split),
        *(made(f"a GGUF file with {name}", lambda folder, name=name: _quantized(folder / "m.gguf", name)) for name in BLOCKS),
    ]
