"""Dumps: a folder with the module after each pass that changed it, complete, so that `moir-opt` can read it back.

    DIR/000-import.mlir   DIR/002-lower-onnx.mlir   DIR/006-eliminate-dead.mlir   …   DIR/weights.bin   DIR/dumps.json

The number is the position of the pass in the pipeline; `moir-opt DIR/002-lower-onnx.mlir --resume-after 002-lower-onnx
-t ir -o m.xml` runs the remaining passes. `dumps.json` lists the files with their fingerprints: a later conversion that
dumps to the folder replaces these, unless they were edited, and touches nothing else.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from moir.analysis.provenance import traced_locations
from moir.conversion import Observer
from moir.errors import ConversionError
from moir.files.source_files import check_not_read
from moir.tools.optimizer.text import print_module
from moir.tools.optimizer.weights_file import WeightsWriter

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

WEIGHTS, MANIFEST = "weights.bin", "dumps.json"
_UNFINISHED = "unfinished"
"""The fingerprint of a file of weights that is still being written, or whose writer was killed."""


class DumpWriter(Observer):
    """Writes the dumps of one conversion.

    Nothing is written or removed before the model has been read.

    Args:
        folder: the folder; it is created if it does not exist.
        provenance: whether to print the nodes of the framework from which each operation comes.

    Raises ConversionError if the folder cannot be written, or if a file would be replaced that this tool did not write,
    or that was edited since.
    """

    def __init__(self, folder: Path, *, provenance: bool = False) -> None:
        self.folder = folder
        self._provenance = provenance
        self._last = ""
        self._file: BinaryIO | None = None
        self._weights: WeightsWriter | None = None
        self._fingerprints: dict[str, str] = {}

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        try:
            if self._weights is None:
                check_not_read(module, [self.folder / name for name in (WEIGHTS, MANIFEST, *_read_manifest(self.folder))])
                self._weights = self._open()
            text = io.StringIO()
            print_module(module, text, self._weights, locations=traced_locations(module) if self._provenance else None)
            assert self._file is not None
            self._file.flush()
            if text.getvalue() != self._last:
                self._last = text.getvalue()
                self._write(f"{number:03}-{stage}.mlir", self._last)
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error

    def close(self) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
            with suppress(FileNotFoundError):
                self._fingerprints[WEIGHTS] = _fingerprint(self.folder / WEIGHTS)
            self._write_manifest()
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error

    def _open(self) -> WeightsWriter:
        """Remove the dumps of an earlier conversion, whose weights are replaced, and create the file of weights."""
        if self.folder.exists() and not self.folder.is_dir():
            raise self._error("this is a file, not a folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        earlier = _read_manifest(self.folder)
        present = {name: fingerprint for name, fingerprint in earlier.items() if (self.folder / name).exists()}
        for name, fingerprint in present.items():
            if fingerprint != _UNFINISHED and _fingerprint(self.folder / name) != fingerprint:
                raise self._error(f"{name} was changed since it was written", "move it away, or choose another folder")
        if (self.folder / WEIGHTS).exists() and WEIGHTS not in present:
            raise self._error(f"{WEIGHTS} would be overwritten, which is not a dump", "choose another folder")
        for name in present:
            (self.folder / name).unlink()
        # A new file rather than a truncated one: another process may have mapped the old one.
        self._file = (self.folder / WEIGHTS).open("xb")
        self._fingerprints = {WEIGHTS: _UNFINISHED}
        self._write_manifest()
        return WeightsWriter(self._file, WEIGHTS)

    def _write(self, name: str, text: str) -> None:
        """Write a dump. Raises ConversionError if there is a file of another origin."""
        try:
            with (self.folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError as error:
            raise self._error(
                f"{name} would be overwritten, which is not a dump of an earlier conversion", "choose another folder"
            ) from error
        self._fingerprints[name] = _fingerprint(self.folder / name)
        self._write_manifest()

    def _write_manifest(self) -> None:
        (self.folder / MANIFEST).write_text(json.dumps({"files": self._fingerprints}, indent=1) + "\n", encoding="utf-8")

    def _error(self, reason: str, hint: str | None = None) -> ConversionError:
        return ConversionError(f"dumps cannot be written: {reason}", location=str(self.folder), hint=hint)


def dump_files(folder: Path) -> Iterator[Path]:
    """The files in a folder of dumps that belong to all stages: the manifest and the weights."""
    yield from (folder / WEIGHTS, folder / MANIFEST)


def _read_manifest(folder: Path) -> dict[str, str]:
    """The files that the manifest of a folder lists, with their fingerprints.

    Raises ConversionError for a damaged manifest.
    """
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise ConversionError(f"cannot be read: {error}", location=str(folder / MANIFEST), hint="choose another folder") from error
    files = cast("dict[str, object]", content).get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict):
        raise ConversionError("this is not a list of dumps", location=str(folder / MANIFEST), hint="choose another folder")
    names = cast("dict[str, object]", files)
    return {name: str(fingerprint) for name, fingerprint in names.items() if Path(name).name == name}


def _fingerprint(path: Path) -> str:
    """A digest of the content of a file, by which an edit is noticed."""
    with path.open("rb") as file:
        return f"sha256:{file_digest(file, 'sha256').hexdigest()}"
