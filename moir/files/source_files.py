"""The files that a module was read from, which no output may overwrite."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from moir.errors import ConversionError, EmissionError
from moir.files.unchanged_files import FileState, check_unchanged

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_FILES: WeakKeyDictionary[ModuleOp, Mapping[Path, FileState]] = WeakKeyDictionary()
"""The files of each module, links followed, and their states when they were opened."""


class Reading:
    """The object that a context of `recorded` yields; the context has to set `module` to the module that it reads."""

    def __init__(self) -> None:
        self.module: ModuleOp | None = None


@contextmanager
def recorded(*further: Path) -> Generator[Reading]:
    """Record the files read in this context as the sources of the module that is set on the `Reading` it yields.

    Args:
        further: other files that belong to the module.

    Raises ModelFileError if a file changes before the context ends, also in the place of an error that this may cause.
    """
    from moir.files.reading import recorded_files

    reading = Reading()
    with recorded_files() as files:
        try:
            yield reading
        except ConversionError as error:
            check_unchanged(files, error)
            raise
        check_unchanged(files)
    if reading.module is not None:
        for path in further:
            if (resolved := path.resolve()).exists():
                files.setdefault(resolved, FileState.of(resolved.stat()))
        _FILES[reading.module] = files


def files_read(module: ModuleOp) -> Mapping[Path, FileState]:
    """The files that a module was read from, links followed, and their states when they were opened."""
    return _FILES.get(module, {})


def check_not_read(module: ModuleOp, paths: Iterable[Path]) -> None:
    """Check that a module was not read from files that are to be written.

    If the files of a module are not recorded, as for a copy, each file that is mapped into memory counts as one of
    them. If they are recorded, memory maps do not matter: another part of the process may have mapped a file, such as
    what runs an earlier model.

    Raises EmissionError that names the first of `paths` that the module was read from.
    """
    files = _FILES.get(module)
    for path in paths:
        if is_mapped(path) if files is None else path.resolve() in files:
            raise EmissionError("this file belongs to the model that is converted", location=str(path), hint="choose another output")


def check_as_read(module: ModuleOp) -> None:
    """Check that the files that a module was read from and maps have not changed. Raises ModelFileError."""
    check_unchanged(_FILES.get(module, {}))


def is_mapped(path: Path) -> bool:
    """Whether a file is mapped into the memory of this process; always False without `/proc/self/maps`."""
    if not path.exists():
        return False
    try:
        with open("/proc/self/maps", "rb") as maps:
            return b" " + os.fsencode(os.path.realpath(path)) + b"\n" in maps.read()
    except OSError:
        return False
