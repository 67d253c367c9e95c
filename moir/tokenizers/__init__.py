"""Tokenizers and detokenizers: from the files of a model to modules with operations of OpenVINO Tokenizers."""

from __future__ import annotations

from moir.tokenizers.definition import TokenizerDefinition
from moir.tokenizers.folder import read_folder
from moir.tokenizers.gguf import read_gguf
from moir.tokenizers.module import detokenizer_module, tokenizer_module

__all__ = ["TokenizerDefinition", "detokenizer_module", "read_folder", "read_gguf", "tokenizer_module"]
