"""The key of a conversion in the cache: a digest of everything on which its result depends, as far as it is known
before the conversion.

It is the version and the code of moir, the versions of the libraries whose results go into the IR, the name and the
content of the model, the options with the content of the files that they name, the passes, and the environment
variables that choose transformations. Files that only the model names, such as external data, are not known yet: the
entry of the cache lists them with their digests (moir/tools/batch/cache.py).
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import ConversionError
from moir.files.recognition import framework_of_file
from moir.options import DISABLED_VARIABLE, ENABLED_VARIABLE, ConversionOptions
from moir.targets.registry import ENVIRONMENT
from moir.tools.batch.digests import Digests, of_text
from moir.tools.batch.named_files import named_paths
from moir.version import VERSION

if TYPE_CHECKING:
    from moir.frameworks.record import Framework

FORMAT = 1
"""The version of the format of keys and entries; entries of other versions are ignored."""

_OUTPUT_SUFFIXES = (".xml", ".bin")


def key_of(model: Path, options: ConversionOptions, passes: str | None, digests: Digests) -> str | None:
    """The key of a conversion; None if the model cannot be read or an extension cannot be found, which the conversion
    will report.
    """
    try:
        framework = framework_of_file(model)
        named = {
            each.name: [digests.any(path) for path in named_paths(each.name, each.kind.plain(value))]
            for each, value in options.given.items()
            if each.kind.is_private
        }
    except (ConversionError, OSError):
        return None
    parts = {
        "format": FORMAT,
        "moir": [VERSION, _code()],
        "libraries": [platform.python_version(), *versions_of_libraries().values()],
        # A program of PaddlePaddle without suffix is named like its folder.
        "model": [model.name or model.resolve().name, "" if model.suffix else model.resolve().parent.name, digests.any(model)],
        "beside": _names_beside(model) if _has_companions(framework) else [],
        "options": {
            each.name: each.recorded(value) if each.kind.is_private else each.kind.plain(value) for each, value in options.given.items()
        },
        "named": named,
        "passes": passes or "",
        "environment": [os.environ.get(each, "") for each in (ENABLED_VARIABLE, DISABLED_VARIABLE, *ENVIRONMENT)],
    }
    return of_text(json.dumps(parts, sort_keys=True))


@cache
def _code() -> str:
    """A digest of moir's installed files, so that results of another state of the code are not used."""
    root = Path(__file__).parents[2]
    states = [(each.relative_to(root).as_posix(), each.stat()) for each in sorted(root.rglob("*.py"))]
    return of_text("".join(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n" for name, status in states))


@cache
def versions_of_libraries() -> Mapping[str, str]:
    """The versions of the distributions that moir requires, without its extras: their results are part of an IR."""
    needed = [each for each in requires("moir") or () if "extra ==" not in each]
    names = sorted({match[0] for each in needed if (match := re.match(r"[\w.-]+", each)) is not None})
    return {name: _version(name) for name in names}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _has_companions(framework: Framework) -> bool:
    """Whether the reader looks for further files in the folder of the model by their names."""
    return bool(framework.completions or framework.folder_files or any(each.is_path for each in framework.options))


def _names_beside(model: Path) -> list[str]:
    """The names of the files in the folder of a model among which a reader may choose; IRs are left out."""
    names = os.listdir(model.resolve().parent)
    return sorted(each for each in names if not each.startswith(".") and not each.endswith(_OUTPUT_SUFFIXES))
