"""The versions on which the result of a conversion depends, compared between the machines of a cluster."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from moir.errors import ConversionError
from moir.parameters.extension import EXTENSIONS
from moir.tools.batch.cache_key import versions_of_libraries
from moir.tools.batch.digests import ABSENT, Digests, files_in, of_text
from moir.tools.batch.named_files import named_paths
from moir.version import VERSION


def fingerprint(extensions: Sequence[str]) -> dict[str, str]:
    """The facts, by name, that have to be the same on two machines if their conversions are to give the same bytes.

    Args:
        extensions: directories of extensions, or names of installed ones.
    """
    return {
        "moir": VERSION,
        "the code of moir": _code(),
        "Python": platform.python_version(),
        **versions_of_libraries(),
        **{f"the extension {each}": _content(each) for each in extensions},
    }


def difference(own: Mapping[str, str], other: Mapping[str, str]) -> str:
    """The differences between two fingerprints, as text with the versions of both; empty if there are none."""
    names = [name for name in own if own[name] != other.get(name)]
    return ", ".join(
        name if len(own[name]) > _LONGEST_VERSION else f"{name} {other.get(name) or 'missing'} instead of {own[name]}" for name in names
    )


_LONGEST_VERSION = 40
"""The largest number of characters of a value that a message shows; longer values are digests, which say nothing to a
person.
"""


@cache
def _code() -> str:
    """A digest of the content of moir's files."""
    root, digests = Path(__file__).parents[2], Digests()
    files = [each for each in files_in(root) if each.suffix == ".py"]
    return of_text("".join(f"{each.relative_to(root).as_posix()}\0{digests.file(each)}\n" for each in files))


def _content(extension: str) -> str:
    try:
        (path,) = named_paths(EXTENSIONS.name, [extension])
    except ConversionError:
        return ABSENT
    return Digests().any(path)
