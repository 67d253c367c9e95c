"""Recognition of the framework of a model file by its content, whatever its name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from moir.errors import ModelFileError
from moir.files.json_texts import MODEL_JSON, begins_object, read_json_model
from moir.frameworks import readable
from moir.frameworks.record import SAMPLE, Framework, is_text
from moir.frameworks.records import TRANSFORMERS

_USUAL_NAMES = ("model", "saved_model")
_LARGEST_FOLDER = 10_000
"""Maximum number of entries of a folder that are examined to find a model."""


def framework_of_file(path: str | Path) -> Framework:
    """The framework of a model file or folder.

    The first bytes of a file decide; its suffix decides only if they identify nothing. A folder is recognized by its
    files.

    Raises ModelFileError if there is no such file or no frontend reads it, with what the user can do instead.
    """
    path = Path(path)
    if path.is_dir():
        return _framework_of_folder(path)
    if not path.exists():
        for framework in readable():
            if any(beside(path, suffix).is_file() for suffix in framework.completions):
                return framework
        raise _absent(path)
    beginning = beginning_of(path)
    framework = framework_of_content(path, beginning)
    if framework is not None:
        return framework
    if not beginning:
        raise ModelFileError("the file is empty", location=str(path), hint="copy or download it again")
    return _framework_of_name(path, beginning)


def framework_of_content(path: Path, beginning: bytes) -> Framework | None:
    """The framework of a file by its first bytes, of JSON by the whole text; None if it is not recognized.

    Raises ModelFileError for JSON text that is not valid, or that is a part of a model.
    """
    framework = framework_of_beginning(beginning)
    if framework is None and begins_object(beginning) and (described := read_json_model(path)) is not None:
        return described[0]
    return framework


def is_json_model(path: Path, framework: Framework) -> bool:
    """Whether a model of a framework, a file or a folder, is one that a JSON text describes."""
    file = path / MODEL_JSON if path.is_dir() else path
    return (
        bool(framework.json_keys)
        and file.is_file()
        and framework_of_beginning(beginning := beginning_of(file)) is None
        and begins_object(beginning)
    )


def framework_of_beginning(beginning: bytes) -> Framework | None:
    """The framework whose files begin with these bytes; None if there is none."""
    return next((framework for framework in readable() if framework.begins(beginning)), None)


def _framework_of_name(path: Path, beginning: bytes) -> Framework:
    """The framework of a file that its first bytes do not identify, by its name.

    Raises ModelFileError if the name does not tell either.
    """
    from moir.files.archives import kind_of_members
    from moir.files.foreign_files import GENERAL, foreign_kind

    if (folder := _folder_of_part(path)) is not None:
        raise ModelFileError("this is one file of a model in a folder", location=str(path), hint=f"give the folder: {folder}")
    kind = kind_of_members(path, beginning) or foreign_kind(beginning, path.name, by_suffix=False)
    if kind is not None:
        raise kind.error(path)
    for framework in readable():
        # If the first words of a text identify it, the name of another format is ignored.
        if path.suffix.lower() in framework.suffixes and (framework.beginning or not framework.text_beginning):
            return framework
    kind = foreign_kind(beginning, path.name) or foreign_kind(beginning, path.name, GENERAL)
    if kind is not None:
        raise kind.error(path)
    *titles, last = (framework.title for framework in readable())
    hint = f"moir reads models of {', '.join(titles)} and {last}"
    if _is_prose(beginning):
        suffixes = ", ".join(dict.fromkeys(suffix for framework in readable() for suffix in framework.suffixes))
        raise ModelFileError("this is a text, and no model", location=str(path), hint=f"give the file of the model ({suffixes}); {hint}")
    raise ModelFileError("no frontend knows this kind of file", location=str(path), hint=hint)


def _folder_of_part(path: Path) -> Path | None:
    """The folder of a model of which a file is a part, recognized by the names of both; None if there is none."""
    for framework in readable():
        belongs = any(path.match(pattern) for pattern in framework.folder_content)
        if belongs and any((path.parent / name).is_file() for name in framework.folder_files):
            return path.parent
    return None


def _is_prose(beginning: bytes) -> bool:
    """Whether the first bytes of a file are text in UTF-8, of which the last character may be cut off."""
    try:
        beginning.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return False
    return is_text(beginning)


def beginning_of(path: Path) -> bytes:
    """The first bytes of a regular file. Raises ModelFileError if it cannot be read."""
    try:
        # Opening a named pipe would block.
        if path.exists() and not path.is_file():
            raise ModelFileError("not a regular file", location=str(path))
        with path.open("rb") as file:
            return file.read(SAMPLE)
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}", location=str(path)) from error


def beside(path: Path, suffix: str) -> Path:
    """The path whose name is that of `path` with the further suffix `suffix`, in the same folder."""
    return path.with_name(path.name + suffix) if path.name else path


def _absent(path: Path) -> ModelFileError:
    """The error for a path at which there is no file; its hint lists similar names in the folder."""
    from moir.support.suggestions import alternatives, nearest

    hint = None
    try:
        names = [each.name for each in islice(path.parent.iterdir(), _LARGEST_FOLDER) if not each.name.startswith(".")]
        same = [name for name in names if name.startswith(f"{path.name}.")]
        known = [path.name + suffix for framework in readable() for suffix in framework.suffixes]
        near = [name for name in same if name in known] or names
        similar = nearest(path.name, near) if path.name else []
        hint = f"did you mean {alternatives(str(path.with_name(each)) for each in similar)}?" if similar else None
    except OSError:
        if not path.parent.exists():
            hint = f"there is no folder {path.parent}"
    return ModelFileError("cannot be read: No such file or directory", location=str(path), hint=hint)


def _framework_of_folder(path: Path) -> Framework:
    for framework in readable():
        for name in framework.folder_files:
            # Models of several frameworks have a file of this name.
            if (path / name).is_file() and (name != MODEL_JSON or framework_of_file(path / name) is framework):
                return framework
    from moir.files.archives import kind_of_folder
    from moir.support.suggestions import alternatives

    kind = kind_of_folder(path)
    if kind is not None:
        raise kind.error(path)
    try:
        models = list(islice(_models_in(path), 4))
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}", location=str(path)) from error
    hint = f"did you mean {alternatives(str(each) for each in models[:3])}?" if models else _step_of_folder(path)
    raise ModelFileError("the folder is not a model", location=str(path), hint=hint)


def _models_in(path: Path) -> Iterator[Path]:
    """The models in a folder and its subfolders: files and folders that a frontend reads."""
    for each in _entries(path):
        if each.is_dir():
            if _is_model_folder(each):
                yield each
            else:
                yield from (inner for inner in _entries(each) if _is_model_file(inner) or _is_model_folder(inner))
        elif _is_model_file(each):
            yield each


def _entries(path: Path) -> list[Path]:
    """The visible entries of a folder; entries with usual names of models come first."""
    visible = (each for each in islice(path.iterdir(), _LARGEST_FOLDER) if not each.name.startswith("."))
    return sorted(visible, key=lambda each: (each.stem not in _USUAL_NAMES, each.name))


def _is_model_folder(path: Path) -> bool:
    return any((path / name).is_file() for framework in readable() for name in framework.folder_files)


def _is_model_file(path: Path) -> bool:
    return path.suffix.lower() in {suffix for framework in readable() for suffix in framework.suffixes} and path.is_file()


def _step_of_folder(path: Path) -> str:
    """Advice for the user of a folder that contains no model."""
    from moir.files.foreign_files import foreign_kind
    from moir.support.suggestions import alternatives

    if (path / "config.json").is_file():
        weights = alternatives(reversed(TRANSFORMERS.folder_files))
        return f"it has config.json, but no {weights}: download them, or write them with save_pretrained of Transformers"
    for each in _entries(path):
        if each.is_file() and (kind := foreign_kind(beginning_of(each), each.name)) is not None:
            return f"it has {each.name}: {kind.error(each).reason.removeprefix('this is ')}; {kind.error(each).hint}"
    return "give a model file, or the folder of a SavedModel or of an export of PaddlePaddle"
