"""Models that lie elsewhere, with the files beside them, as local paths.

The record of its framework says which files belong to a model: `beside` and `parts` of a file, `folder_content` of a
folder. A model may only name files in its own folder.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from moir.errors import ModelFileError, UsageError
from moir.files.recognition import framework_of_file
from moir.files.remote.addresses import folder_of, is_inside, is_whole_bucket, joined, name_of, shown
from moir.files.remote.local_files import LocalModel, Progress
from moir.files.remote.messages import named
from moir.files.remote.mirror import Mirror
from moir.files.remote.store import RemoteFile, Store
from moir.frameworks import load, readable
from moir.frameworks.record import Framework

_MOST_ROUNDS = 4
"""The largest number of rounds in which downloaded files name further files."""

_MOST_NAMES = 10_000
"""The largest number of files that a model may name."""


@contextmanager
def downloaded_model(model: str, progress: Progress | None = None) -> Generator[LocalModel]:
    """The local copy of the model at an address; errors in the context name the address. See `local.local_model`."""
    store = Store(model)
    if is_whole_bucket(model):
        hint = "give the address of a model in it"
        raise UsageError("this is all that somebody has stored, which is not listed", location=shown(model), hint=hint)
    with _fetched_model(store, model, progress) as (mirror, path, folder), named(mirror.folder, folder):
        yield LocalModel(path, {(mirror.folder / name).resolve(): file for name, file in mirror.files.items()})


@contextmanager
def downloaded_file(file: str) -> Generator[Path]:
    """The local copy of the file at an address; errors in the context name the address. See `local.local_file`."""
    store = Store(file)
    mirror = Mirror(store, file, "file")
    if (version := store.file(file)) is None:
        raise _absent(file)
    with mirror.used():
        with mirror.locked():
            path = mirror.fetch(name_of(file), version)
        with named(mirror.folder, shown(folder_of(file))):
            yield path


@contextmanager
def _fetched_model(store: Store, model: str, progress: Progress | None) -> Generator[tuple[Mirror, Path, str]]:
    """A context with a downloaded model: its mirror, its local path, and the designation of its folder for messages."""
    version = store.file(model)
    if version is None and not store.is_web and (content := store.files(model)):
        mirror = Mirror(store, model, name_of(model))
        with mirror.used():
            with mirror.locked(), named(mirror.folder, shown(model)):
                _fetch_folder(mirror, content, progress)
                mirror.remove_others()
            yield mirror, mirror.folder, shown(model)
        return
    for ending in (each for framework in readable() for each in framework.completions):
        if version is None:
            version = store.file(joined(folder_of(model), name_of(model) + ending))
    if version is None:
        raise _absent(model)
    name, folder = name_of(version.address), folder_of(model)
    # A program of PaddlePaddle without suffix is named like its folder.
    mirror = Mirror(store, model, _name_of_folder(folder))
    with mirror.used():
        with mirror.locked(), named(mirror.folder, shown(folder)):
            path = mirror.fetch(name, version, progress)
            _fetch_beside(store, mirror, path, folder, progress)
            mirror.remove_others()
        # The reader completes the name itself.
        yield mirror, mirror.folder / name_of(model), shown(folder)


def _fetch_folder(mirror: Mirror, content: dict[str, RemoteFile], progress: Progress | None) -> None:
    """Fetch the files of a folder that belong to a model. Raises ModelFileError if none of them marks a model."""
    framework = _framework_of_names(content)
    if framework is None:
        raise ModelFileError("the folder is not a model", location=str(mirror.folder), hint="give the address of one of its files")
    patterns = framework.folder_content
    for name, file in content.items():
        if is_inside(name) and (not patterns or ("/" not in name and any(fnmatch(name, each) for each in patterns))):
            mirror.fetch(name, file, progress)


def _fetch_beside(store: Store, mirror: Mirror, path: Path, folder: str, progress: Progress | None) -> None:
    """Fetch the files that belong to the file of a model, and the files that these name.

    Args:
        store: the store of the model.
        mirror: its local files.
        path: the local path of the model, which is there.
        folder: the address of its folder.
        progress: is called after each block; may be None.
    """
    framework = framework_of_file(path)
    listing: dict[str, RemoteFile] | None = None
    asked: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        patterns = [each.replace("{stem}", path.stem) for each in framework.beside]
        patterns += [] if framework.parts is None else load(framework.parts)(path)
        if len(patterns) > _MOST_NAMES:
            raise ModelFileError(f"it names more than {_MOST_NAMES} files", location=str(path), hint="the file is damaged")
        new = [each for each in dict.fromkeys(patterns) if each not in asked]
        if not new:
            return
        asked.update(new)
        for pattern in new:
            name: str | None = pattern
            if "*" in pattern:
                listing = ({} if store.is_web else store.files(folder, depth=1)) if listing is None else listing
                name = max((each for each in listing if fnmatch(each, pattern)), default=None)
            # The frontend reports files that are missing or outside of the folder.
            if name is None or name in mirror.files or not is_inside(name):
                continue
            if (file := store.file(joined(folder, name))) is not None:
                mirror.fetch(name, file, progress)


def framework_at(address: str) -> Framework | None:
    """The framework of a model at an address, without a download: by the suffix of its name, or else by the files in
    its folder.

    None if these do not tell. Raises UsageError for an address that cannot be that of a model, and ModelFileError.
    """
    name = name_of(address).lower()
    if (framework := next((each for each in readable() if name.endswith(tuple(each.suffixes))), None)) is not None:
        return framework
    store = Store(address)
    if store.is_web or is_whole_bucket(address) or store.file(address) is not None:
        return None
    return _framework_of_names(store.files(address, depth=1))


def _framework_of_names(names: Iterable[str]) -> Framework | None:
    """The framework of a folder by the names of the files in it; None if no framework has a mark among them."""
    present = set(names)
    return next((each for each in readable() if present & set(each.folder_files)), None)


def _name_of_folder(folder: str) -> str:
    try:
        return name_of(folder)
    except UsageError:
        return "model"


def _absent(address: str) -> ModelFileError:
    return ModelFileError("there is no such file or folder", location=shown(address), hint="check the address, and who may read it")
