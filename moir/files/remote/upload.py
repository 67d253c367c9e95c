"""Uploading the files of a converted model: all of them appear, or none that could be taken for a model.

To S3, each file is sent in parts, which the store puts together when all parts of all files have arrived. Then the
older `.xml` is removed, and the new files appear, the `.xml` last. So whenever the process or the store ends, there is
the older model, the new one, or files without an `.xml`. In other stores the older `.xml` is removed before the files
are sent, one after the other.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from moir.errors import EmissionError, MoirError, UsageError
from moir.files.output import ONNX_FILE
from moir.files.remote.addresses import folder_of, is_whole_bucket, joined, name_of, shown
from moir.files.remote.download_folder import downloads
from moir.files.remote.local_files import Progress
from moir.files.remote.messages import named
from moir.files.remote.store import RemoteFile, Store, described
from moir.files.staging import staging_folder
from moir.frameworks.record import SAMPLE
from moir.frameworks.records import OPENVINO_IR

_SMALLEST_PART = 16 << 20
_MOST_PARTS = 9_000
"""The largest number of parts that a file is sent in: stores allow 10,000 parts, of 5 MiB and more each."""


@contextmanager
def uploaded_folder(output: str, sources: Iterable[RemoteFile], progress: Progress | None) -> Generator[Path]:
    """A context with the path for a model's main file in a temporary folder, whose files are uploaded when the context
    ends.

    The arguments are those of `local.local_output`.
    """
    store = _writable(output)
    _check_replaceable(store, output, sources)
    # Not in the folder for temporary files, which may be in memory.
    with staging_folder(downloads(), "output-") as folder:
        local = folder / name_of(output)
        with named(folder, shown(folder_of(output))):
            yield local
        # The .xml is last: without it the other files are no model.
        paths = sorted((each for each in folder.rglob("*") if each.is_file()), key=lambda each: (each == local, each))
        _upload(store, folder_of(output), folder, paths, progress)


def _writable(output: str) -> Store:
    """The store of an address. Raises UsageError if nothing can be written there."""
    store = Store(output)
    if store.is_web:
        raise UsageError("a server of the web is only read", location=shown(output), hint="write to a store, such as s3://")
    if is_whole_bucket(output):
        raise UsageError("this is no place for a model", location=shown(output), hint="give a folder in it")
    return store


def _check_replaceable(store: Store, output: str, sources: Iterable[RemoteFile]) -> None:
    """Raises EmissionError if a file at the address is one of `sources`, the files of the model that is converted, or
    is not a model.
    """
    is_onnx = output.lower().endswith(".onnx")
    own = {output, *([] if is_onnx else [f"{output[:-4]}.bin"])}
    if own & {each.address for each in sources}:
        raise EmissionError("this file belongs to the model that is converted", location=shown(output), hint="choose another output")
    try:
        file = store.file(output)
        beginning = b"" if file is None else store.beginning(file, SAMPLE)
    except MoirError as error:
        raise EmissionError(f"the file in its place {error.reason}", location=error.location, hint=error.hint) from None
    if beginning and not (beginning.startswith(_beginning_of_onnx()) if is_onnx else OPENVINO_IR.begins(beginning)):
        kind = ONNX_FILE.name if is_onnx else "an OpenVINO IR"
        hint = "choose another output, or remove the file"
        raise EmissionError(f"the file would be overwritten, but it is not {kind}", location=shown(output), hint=hint)


def _beginning_of_onnx() -> bytes:
    assert isinstance(ONNX_FILE.beginning, bytes)
    return ONNX_FILE.beginning


def _upload(store: Store, base: str, folder: Path, paths: Sequence[Path], progress: Progress | None) -> None:
    """Send the files of a model in order; the last one (the `.xml`) makes the others a model. Raises EmissionError.

    Args:
        store: the store.
        base: the address of the folder.
        folder: the local folder that the names of the files are relative to.
        paths: the local files.
        progress: is called after each part.
    """
    addresses = [joined(base, each.relative_to(folder).as_posix()) for each in paths]
    current = addresses[-1]
    try:
        if store.stages:
            with _discarded_after_failure() as writers:
                for path, current in zip(paths, addresses, strict=True):
                    writers.append(_sent(store, path, current, progress))
                store.remove(current)
                while writers:
                    writers[0].commit()
                    writers.pop(0)
            return
        store.remove(current)
        for path, current in zip(paths, addresses, strict=True):
            store.put(path, current)
    except MoirError as error:
        raise EmissionError(f"the model cannot be written: {error.reason}", location=error.location, hint=error.hint) from None
    except Exception as error:
        failure = described(current, error, "the model cannot be written")
        raise EmissionError(failure.reason, location=failure.location, hint=failure.hint) from None


@contextmanager
def _discarded_after_failure() -> Generator[list[Any]]:
    """A context with a list of writers: files of writers that are still in the list at its end are discarded."""
    writers: list[Any] = []
    try:
        yield writers
    finally:
        for writer in writers:
            with suppress(Exception):  # of a store that does not answer any more
                writer.discard()


def _sent(store: Store, path: Path, address: str, progress: Progress | None) -> Any:
    """The writer of a file that was sent completely but is not visible yet. After a failure the file is discarded."""
    size, done = path.stat().st_size, 0
    writer = store.writer(address, max(_SMALLEST_PART, -(-size // _MOST_PARTS)))
    with _discarded_after_failure() as unfinished, path.open("rb") as source:
        unfinished.append(writer)
        while piece := source.read(writer.blocksize):
            writer.write(piece)
            done += len(piece)
            if progress is not None:
                progress(address, done, size)
        writer.close()
        unfinished.clear()
    return writer
