"""Makes errors about a temporary copy of a model name the original, such as standard input."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from moir.errors import MoirError


@contextmanager
def named_as(label: str, copy: Path, hint: str) -> Generator[None]:
    """A context in which errors name `label` instead of the path of a copy.

    Args:
        label: what the user knows the model as.
        copy: the path of the copy, in a temporary folder of its own.
        hint: what the user can do about an error that names another file of that folder, because the model refers to
            it.
    """
    try:
        yield
    except MoirError as error:
        folder = str(copy.parent)
        error.model = label
        error.location = error.location and error.location.replace(str(copy), label)
        error.hint = error.hint and error.hint.replace(str(copy), label)
        if folder in str(error):
            error.location = label
            error.reason = error.reason.replace(f"{folder}/", "")
            error.hint = hint
        raise
