"""The files beside that of a model of MXNet: its symbol, or its parameters."""

from __future__ import annotations

import re
from pathlib import Path

from moir.files.recognition import beginning_of
from moir.frameworks.record import is_text

_NUMBERED = re.compile(r"-\d{4,}$")


def names_of_parts(path: Path) -> list[str]:
    """Glob patterns for the names of the file or files that belong to an MXNet file.

    For a text file, taken to be a symbol, those of its .params files; for any other file, taken to be a .params file,
    the name of its symbol file.
    """
    if not is_text(beginning_of(path)):
        return [f"{_NUMBERED.sub('', path.stem)}-symbol.json"]
    prefix = path.name.removesuffix(".json").removesuffix("-symbol")
    # The newest is read: the last by its name. A server that lists nothing is asked for the first one.
    return [f"{prefix}-*.params", f"{prefix}-0000.params", f"{prefix}.params"]
