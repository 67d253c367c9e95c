"""The cache of conversions, a folder:

    <key[:2]>/<key>.json     the entry of a conversion: summary, digests of the files read, digests of the IR's files
    files/<digest>           the .xml and the .bin of IRs, each once
    new-*/                   files that are being written

Files are renamed to their names when they are complete, so that processes may share a folder and may be killed. The
content of a file is compared with its digest whenever it is used; a damaged or removed file counts as missing, and is
written again. Everything in the folder may be removed at any time. The modification time of an entry is the time of
its last use.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from moir.conversion import Observer, write_checked
from moir.emit.files import replacing, weights_path
from moir.emit.write import WrittenModel
from moir.errors import EmissionError
from moir.files.reading import record_read
from moir.files.source_files import files_read
from moir.files.staging import staging_folder
from moir.files.unchanged_files import FileState
from moir.options import ConversionOptions
from moir.tools.batch.cache_folder import CacheFolder
from moir.tools.batch.cache_key import key_of
from moir.tools.batch.digests import ABSENT, Digests, copied
from moir.tools.summary import Summary

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class _UnusableEntry(Exception):
    """Raised for an entry of the cache that is damaged, or that names a damaged file."""


class CachedConversion:
    """A conversion whose result may be in the cache.

    Args:
        place: the path or the address of the folder of the cache, which need not exist.
        model: the model.
        options: the options of the conversion.
        passes: the pipeline, if it is not the default one.
    """

    def __init__(self, location: str, model: Path, options: ConversionOptions, passes: str | None) -> None:
        self._cache = CacheFolder(location)
        self._folder = self._cache.path
        self._model = model
        self._digests = Digests()
        self._options = options
        self._passes = passes
        self._key = key_of(model, options, passes, self._digests)
        self.modules = ImportedModules() if options.needs_extensions else None
        """The observer that a conversion with extensions needs, so that the entry has the modules that they import."""

    def restored(self, output: Path) -> tuple[Summary, WrittenModel] | None:
        """Write the IR from the cache, and return its summary; None if it is missing or incomplete.

        Raises EmissionError if the output cannot be written; then older files are unchanged.
        """
        if self._key is None:
            return None
        try:
            entry = self._entry()
            summary = Summary.from_json(entry["summary"])
            read = {self._path(name): digest for name, digest in entry["read"].items()}
            # A conversion reports the error that its output is a file of the model.
            if {output.resolve(), weights_path(output).resolve()} & read.keys():
                return None
            if any(self._digests.file(path) != digest for path, digest in read.items()):
                return None
            with replacing(output) as files:
                for digest, target in ((entry["xml"], files.xml.buffer), (entry["bin"], files.weights)):
                    with self._opened(digest) as source:
                        if copied(source, target) != digest:
                            raise _UnusableEntry
            for path in read:
                record_read(path)
            written = WrittenModel(output, weights_path(output), int(entry["layers"]), int(entry["weights_bytes"]))
        except (_UnusableEntry, KeyError, TypeError, ValueError):
            return None
        with suppress(OSError):
            os.utime(self._entry_path)
        return summary, written

    def save(
        self,
        module: ModuleOp,
        output: Path,
        summary: Callable[[int], Summary],
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[WrittenModel, list[str]]:
        """Write a converted module to the cache and to its output; returns notes for the user, too.

        An error in writing to the cache does not end the conversion. Raises as `save_model` does.

        Args:
            module: the converted module.
            output: the `.xml` to write.
            summary: makes the summary, from the size of the weights in bytes.
            progress: called with the bytes of the weights that are written, and with their sum.
        """
        if self._key is None or (read := self._files_read(module)) is None:
            return write_checked(module, output, progress=progress), []
        notes: list[str] = []
        try:
            with self._new_folder() as folder:
                emitted = write_checked(module, folder / "model.xml", progress=progress)
                entry = {
                    "summary": summary(emitted.weights_bytes).to_json(),
                    "read": read,
                    "xml": self._keep(emitted.xml_path),
                    "bin": self._keep(emitted.bin_path),
                    "layers": emitted.layers,
                    "weights_bytes": emitted.weights_bytes,
                }
                content = folder / "entry.json"
                content.write_text(json.dumps(entry), encoding="utf-8")
                self._entry_path.parent.mkdir(exist_ok=True)
                content.replace(self._entry_path)
        except OSError as error:
            notes.append(f"the cache cannot be written: {error.strerror or error}: {error.filename or self._folder}")
        except EmissionError as error:
            # The module is at fault, which saving says again, or the folder is.
            notes.append(f"the cache cannot be written: {error}")
        else:
            if (restored := self.restored(output)) is not None:
                note = self._cache.publish(f"files/{entry['xml']}", f"files/{entry['bin']}", self._entry_name)
                return restored[1], [] if note is None else [note]
        return write_checked(module, output, progress=progress), notes

    @property
    def _entry_name(self) -> str:
        assert self._key is not None
        return f"{self._key[:2]}/{self._key}.json"

    @property
    def _entry_path(self) -> Path:
        return self._folder / self._entry_name

    def _entry(self) -> Mapping[str, Any]:
        try:
            entry = json.loads(self._cache.present(self._entry_name).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise _UnusableEntry from error
        if not isinstance(entry, dict) or not isinstance(cast("dict[str, object]", entry).get("read"), dict):
            raise _UnusableEntry
        return cast("dict[str, Any]", entry)

    def _opened(self, digest: object) -> BinaryIO:
        if not isinstance(digest, str) or not digest.isalnum():
            raise _UnusableEntry
        try:
            return self._cache.present(f"files/{digest}").open("rb")
        except OSError as error:
            raise _UnusableEntry from error

    def _keep(self, path: Path) -> str:
        """Move a new file of an IR from its temporary folder into the cache; returns its digest, under which the cache
        has it.

        Raises OSError if the file has changed.
        """
        digest = self._digests.file(path)
        if digest == ABSENT:
            raise OSError(f"{path} has changed")
        # Replaces an existing file of this digest, too: it may be damaged.
        path.replace(self._folder / "files" / digest)
        return digest

    @contextmanager
    def _new_folder(self) -> Generator[Path]:
        (self._folder / "files").mkdir(parents=True, exist_ok=True)
        with staging_folder(self._folder, "new-") as folder:
            yield folder

    def _files_read(self, module: ModuleOp) -> dict[str, str] | None:
        """The digests of the files that were read, by path: relative to the folder of the model if they are in it.

        None if a file has changed since, or if the key is not that of the content that was read.
        """
        states: dict[Path, FileState | None] = dict(files_read(module))
        states |= dict.fromkeys([] if self.modules is None else self.modules.paths)
        digests: dict[str, str] = {}
        folder = self._model.resolve().parent
        for path, state in states.items():
            name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
            digests[name] = self._digests.file(path, state)
        if ABSENT in digests.values() or key_of(self._model, self._options, self._passes, self._digests) != self._key:
            return None
        return digests

    def _path(self, name: str) -> Path:
        return (self._model.resolve().parent / name).resolve()


class ImportedModules(Observer):
    """An observer that records the files of the modules that extensions import and that are not installed packages:
    those beside the folders of the extensions.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.paths: set[Path] = set()
        self._installed = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix, Path(__file__).parents[2])}

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        # Also those that an earlier conversion of the process has imported.
        for name in sys.modules.keys() - self._seen:
            self._seen.add(name)
            file = getattr(sys.modules[name], "__file__", None)
            if isinstance(file, str) and not any(Path(file).resolve().is_relative_to(each) for each in self._installed):
                self.paths.add(Path(file).resolve())
