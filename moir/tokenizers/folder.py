"""The tokenizer of a folder: `tokenizer.json`, and the files beside it that `moir.tokenizers.settings` reads."""

from __future__ import annotations

from pathlib import Path

from moir.errors import ConversionError
from moir.tokenizers.definition import TokenizerDefinition
from moir.tokenizers.settings import read_object, read_settings
from moir.tokenizers.tokenizer_json import definition_of


def read_folder(path: Path) -> TokenizerDefinition:
    """The tokenizer of a folder. Raises ModelFileError if it is damaged, ConversionError if it cannot be expressed."""
    file = path / "tokenizer.json"
    if not file.is_file():
        raise ConversionError("the folder has no tokenizer.json", location=str(path), hint="convert with --no-tokenizers")
    return definition_of(read_object(file), read_settings(path))
