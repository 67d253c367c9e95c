"""The further files of a GGUF model that is split."""

from __future__ import annotations

import re
from pathlib import Path

_FIRST = re.compile(r"(.*)-00001-of-(\d{5})\.gguf")


def names_of_parts(path: Path) -> list[str]:
    """The names of the other files of a model whose first file is `path`; empty if its name is not
    `…-00001-of-N.gguf`.
    """
    match = _FIRST.fullmatch(path.name)
    return [] if match is None else [f"{match[1]}-{number:05}-of-{match[2]}.gguf" for number in range(2, int(match[2]) + 1)]
