"""The local files that a conversion reads and writes, for models and results at remote addresses and for local paths.

For a local path, no other module of this folder is imported.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moir.files.remote.addresses import is_address
from moir.files.remote.local_files import LocalModel, LocalOutput, Progress

if TYPE_CHECKING:
    from moir.files.remote.store import RemoteFile


@contextmanager
def local_model(model: str, progress: Progress | None = None) -> Generator[LocalModel]:
    """A context with the local files of a model: the model itself, or a downloaded copy; errors in the context name its
    address.

    Args:
        model: its path, or its address.
        progress: is called after each block that is downloaded.

    Raises UsageError for an address that cannot be that of a model, and ModelFileError.
    """
    if not is_address(model):
        yield LocalModel(Path(model))
        return
    from moir.files.remote.models import downloaded_model

    with downloaded_model(model, progress) as local:
        yield local


@contextmanager
def local_file(file: str) -> Generator[Path]:
    """A context with a local copy of a file such as a manifest: the file itself, or a downloaded copy.

    Raises as `local_model` does.
    """
    if not is_address(file):
        yield Path(file)
        return
    from moir.files.remote.models import downloaded_file

    with downloaded_file(file) as path:
        yield path


@contextmanager
def local_output(output: str, sources: Iterable[RemoteFile] = (), progress: Progress | None = None) -> Generator[LocalOutput]:
    """A context with the place where a conversion writes: the path itself, or a temporary folder that is uploaded at
    the end.

    Args:
        output: the path or the address of the `.xml` or `.onnx`.
        sources: the files that the model was read from, which are not overwritten.
        progress: is called after each part that is uploaded.

    Raises UsageError for an address to which nothing can be written, and EmissionError; then no model appears.
    """
    if not is_address(output):
        yield LocalOutput(Path(output))
        return
    from moir.files.remote.upload import uploaded_folder

    with uploaded_folder(output, sources, progress) as path:
        yield LocalOutput(path, output)
