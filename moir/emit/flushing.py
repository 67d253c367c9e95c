"""Flushing a large file to disk while it is being written, so that less is left to flush at the end."""

from __future__ import annotations

import os
from threading import Thread
from types import TracebackType
from typing import BinaryIO, Self

FLUSHED_SIZE = 1 << 23
"""Number of bytes after which a flush starts, unless another one is still running."""


class FlushedFile:
    """A context that writes to a file while a thread flushes the part that is already written.

    Leaving the context waits for the thread and raises the OSError of a failed flush, which the system reports only
    once.

    Args:
        file: the file; the caller flushes the rest after the context.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._written = 0
        self._thread: Thread | None = None
        self._error: OSError | None = None

    def __enter__(self) -> Self:
        return self

    def write(self, piece: memoryview) -> None:
        """Write the bytes `piece` to the file. Raises OSError."""
        self._file.write(piece)
        self._written += len(piece)
        if self._written >= FLUSHED_SIZE and (self._thread is None or not self._thread.is_alive()):
            self._check()
            self._written = 0
            self._thread = Thread(target=self._flush)
            self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._thread is not None:
            self._thread.join()
        if error is None:
            self._check()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _flush(self) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            self._error = error
