"""The companions of the IR of a language model, from a folder of Hugging Face."""

from __future__ import annotations

from pathlib import Path

from moir.language_models.companions import Companions


def companions(path: Path, has_tokenizer: bool) -> Companions:
    """The companions of the IR of a language model.

    Args:
        path: the folder of the model.
        has_tokenizer: whether the tokenizer is converted. Its files are copied in any case.

    Raises ModelFileError for files that are missing or damaged, ConversionError for a tokenizer that operations of
    OpenVINO Tokenizers cannot express.
    """
    from moir.language_models.huggingface import companions_of_folder

    return companions_of_folder(path, has_tokenizer)
