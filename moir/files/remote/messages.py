"""Makes errors about a downloaded model name its address instead of the path of the local copy."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from moir.errors import MoirError


@contextmanager
def named(folder: Path, address: str) -> Generator[None]:
    """A context in which errors name addresses: the path of the local folder `folder` is replaced by `address`."""
    try:
        yield
    except MoirError as error:
        for field in ("reason", "location", "hint", "model"):
            text: str | None = getattr(error, field)
            if text is not None:
                setattr(error, field, text.replace(str(folder), address.rstrip("/")))
        raise
