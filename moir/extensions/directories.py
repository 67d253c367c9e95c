"""Finding extensions: directories, and installed packages with an entry point in the group `moir.extensions`.

    DIR/ops/*.py                     operations
    DIR/front/*.py                   transformations of every framework's models
    DIR/front/onnx/*.py              lowerings and transformations for one framework; also front/onnx/extractors/*.py
    DIR/middle/*.py, DIR/back/*.py   transformations of the later phases

Tests beside them (`*_test.py`) are not extensions: they are not loaded, as in Model Optimizer.

An entry point is `name = package`, or `package.module:attribute` where the attribute is a path. Its name can be given
wherever the path of a directory can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from moir.errors import ConversionError
from moir.extensions.failures import reason_of
from moir.frameworks import FRAMEWORKS
from moir.support.suggestions import did_you_mean

ENTRY_POINTS = "moir.extensions"
"""The group of the entry points by which installed packages announce extensions."""

PHASE_DIRECTORIES = ("ops", "front", "middle", "back")


@dataclass(frozen=True)
class ExtensionPath:
    """A file of an extension.

    Args:
        path: the file.
        phase: `front`, `middle` or `back`; None for operations.
        framework: the framework it is for, None for all.
    """

    path: Path
    phase: str | None
    framework: str | None


def find_directory(name: str | Path) -> Path:
    """The directory of an extension, given its path or the name of an entry point.

    Raises ConversionError if there is no such directory or entry point, or the directory holds no extension.
    """
    path = Path(name)
    if not path.is_dir():
        installed = _installed(str(name))
        if installed is None:
            reason = "is not a directory" if path.exists() else "there is no such directory"
            raise ConversionError(f"an extension cannot be loaded: {reason}", location=str(name), hint=_hint(path))
        path = installed
    if not any((path / each).is_dir() for each in PHASE_DIRECTORIES):
        hint = f"extensions have at least one of the directories {', '.join(PHASE_DIRECTORIES)}"
        if path.resolve().name in PHASE_DIRECTORIES:
            hint += f"; did you mean {path.parent}?"
        raise ConversionError("the directory holds no extension", location=str(name), hint=hint)
    return path


def _hint(path: Path) -> str | None:
    from importlib.metadata import entry_points

    siblings = [str(path.parent / each.name) for each in path.parent.iterdir() if each.is_dir()] if path.parent.is_dir() else []
    otherwise = f"give a directory, or the name of an entry point of the group {ENTRY_POINTS}"
    return did_you_mean(str(path), [*siblings, *entry_points(group=ENTRY_POINTS).names], otherwise)


def _installed(name: str) -> Path | None:
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS, name=name):
        try:
            if point.attr:
                return Path(point.load())
            spec = util.find_spec(point.module)
        except Exception as error:
            raise ConversionError(f"its entry point {point.value} cannot be loaded: {reason_of(error)}", location=name) from error
        if spec is not None and spec.submodule_search_locations:
            return Path(next(iter(spec.submodule_search_locations)))
        raise ConversionError(f"its entry point {point.value} is not a package", location=name)
    return None


def files_of(directory: Path, framework: str | None) -> Iterator[ExtensionPath]:
    """The files of a directory in the order in which they are loaded.

    Args:
        directory: the directory.
        framework: directories for single frameworks are read for this framework only; None for all frameworks.
    """
    frameworks = list(FRAMEWORKS) if framework is None else [framework]
    yield from _files(directory, "ops", None, None)
    yield from _files(directory, "front", "front", None)
    for each in frameworks:
        yield from _files(directory, f"front/{each}", "front", each)
        yield from _files(directory, f"front/{each}/extractors", "front", each)
    yield from _files(directory, "middle", "middle", None)
    yield from _files(directory, "back", "back", None)


def unread_folders(directory: Path) -> Iterator[Path]:
    """The folders in `front` that contain files but are not named after a framework that moir reads."""
    front = directory / "front"
    for folder in sorted(front.iterdir()) if front.is_dir() else ():
        if folder.name not in FRAMEWORKS and folder.is_dir() and any(_loadable(path) for path in folder.iterdir()):
            yield folder


def _loadable(path: Path) -> bool:
    if path.suffix != ".py" or path.name.startswith((".", "__init__.")) or path.stem.endswith("_test"):
        return False
    return path.is_file()


def _files(directory: Path, below: str, phase: str | None, framework: str | None) -> Iterator[ExtensionPath]:
    folder = directory / below
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if _loadable(path):
                yield ExtensionPath(path, phase, framework)
