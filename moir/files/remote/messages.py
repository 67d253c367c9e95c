"""What errors of the rest of moir say of a model that lies elsewhere: its address, not the path on this machine."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from moir.errors import MoirError


@contextmanager
def named(folder: Path, address: str) -> Generator[None]:
    """Replace the path of a local folder in errors of the context by the address of what is in it."""
    try:
        yield
    except MoirError as error:
        for field in ("reason", "location", "hint", "model"):
            text: str | None = getattr(error, field)
            if text is not None:
                setattr(error, field, text.replace(str(folder), address.rstrip("/")))
        raise
