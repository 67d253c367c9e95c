"""The companions of an exported program that becomes a language model: what its exporter wrote beside it."""

from __future__ import annotations

from pathlib import Path

from moir.language_models.companions import CONFIGURATION, Companions, tokenizer_models
from moir.language_models.huggingface import COPIED, companions_of_folder


def companions_of_program(program: Path, has_tokenizer: bool) -> Companions:
    """The companions of the IR of a program: the files of a language model that are in its folder.

    Args:
        program: the file of the program.
        has_tokenizer: whether a tokenizer is converted, if there is one.

    Raises as `companions_of_folder` does for files that are there.
    """
    from moir.tokenizers import has_tokenizer_file, read_folder

    folder = program.parent
    has_tokenizer = has_tokenizer and has_tokenizer_file(folder)
    if (folder / CONFIGURATION).is_file():
        return companions_of_folder(folder, has_tokenizer)
    copies = {name: folder / name for name in COPIED if (folder / name).is_file()}
    return Companions(tokenizer_models(lambda: read_folder(folder), has_tokenizer), {}, copies)
