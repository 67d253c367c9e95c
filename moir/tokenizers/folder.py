"""The tokenizer of a folder: `tokenizer.json`, or else a file of SentencePiece, and the settings beside it."""

from __future__ import annotations

from pathlib import Path

from moir.errors import ConversionError
from moir.tokenizers.definition import TokenizerDefinition
from moir.tokenizers.sentence_piece import FILES, read_pieces
from moir.tokenizers.settings import read_object, read_settings
from moir.tokenizers.tokenizer_json import definition_of

TOKENIZER = "tokenizer.json"


def has_tokenizer_file(path: Path) -> bool:
    """Whether a folder has a tokenizer."""
    return any((path / name).is_file() for name in (TOKENIZER, *FILES))


def read_folder(path: Path) -> TokenizerDefinition:
    """The tokenizer of a folder. Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed."""
    file = path / TOKENIZER
    if file.is_file():
        return definition_of(read_object(file), read_settings(path))
    for name in FILES:
        if (path / name).is_file():
            return read_pieces(path / name)
    raise ConversionError(f"the folder has neither {TOKENIZER} nor {FILES[0]}", location=str(path), hint="convert with --no-tokenizers")
