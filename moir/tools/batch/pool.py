"""A pool of processes; each converts one model after the other.

A process that is killed, for example because the system is out of memory, fails the model that it converts, and
another one takes its place.
"""

from __future__ import annotations

import gc
import logging
import signal
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, TypeAlias

from moir.errors import UsageError
from moir.records import Record
from moir.tools.batch.work import Failure, Success, Work
from moir.tools.failures import FAILED, INTERRUPTED, USAGE, describe, one_line, raised_termination

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

Conversion: TypeAlias = Callable[[Work], Success]
"""A function that other processes import by its name."""

_PATIENCE = 5.0
"""Seconds that a process has to remove its temporary files when it is ended."""


class Ended(Record):
    """A conversion that has ended: its number among all, its result, and its duration in seconds."""

    number: int
    result: Success | Failure
    seconds: float


def converted(works: Sequence[Work], convert: Conversion, jobs: int) -> Generator[Ended]:
    """Convert models, and yield the result of each conversion when it has ended.

    Args:
        works: the conversions, which are begun in this order.
        convert: converts one model; its exceptions fail that model.
        jobs: the largest number of processes at a time.
    """
    pending = list(enumerate(works))[::-1]
    workers = [_Worker(convert) for _ in range(min(jobs, len(works)))]
    busy: list[_Worker] = []
    try:
        for worker in workers:
            worker.begin(*pending.pop())
            busy.append(worker)
        while busy:
            ready = wait([worker.connection for worker in busy])
            for worker in [each for each in busy if each.connection in ready]:
                ended = worker.ended()
                if ended is None:
                    ended = worker.killed()
                    workers.remove(worker)
                    busy.remove(worker)
                    if pending:
                        worker = _Worker(convert)
                        workers.append(worker)
                        busy.append(worker)
                if pending:
                    worker.begin(*pending.pop())
                elif worker in busy:
                    busy.remove(worker)
                yield ended
    finally:
        for worker in workers:
            worker.connection.close()
            # The others end by themselves.
            if worker in busy:
                worker.process.terminate()
        for worker in workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


class _Worker:
    """A process of the pool, as seen by the process that started it."""

    def __init__(self, convert: Conversion) -> None:
        # A new interpreter: a copy of this process would have its threads' locks, and what its caller has imported.
        context = get_context("spawn")
        self.connection, other = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(other, convert), daemon=True)
        with _interrupts_blocked():
            self.process.start()
        other.close()
        self._number = 0
        self._begun = 0.0

    def begin(self, number: int, work: Work) -> None:
        """Give the process a model to convert."""
        self._number = number
        self._begun = time.perf_counter()
        with suppress(OSError):  # of a process that is no more, which `ended` says
            self.connection.send(work)

    def ended(self) -> Ended | None:
        """The result that it has sent; None if the process has died."""
        try:
            return Ended(self._number, self.connection.recv(), time.perf_counter() - self._begun)
        except (EOFError, OSError):
            return None

    def killed(self) -> Ended:
        """The result for the model of a process that was killed."""
        self.connection.close()
        self.process.join()
        status = self.process.exitcode or 0
        reason = f"the process has ended with status {status}"
        if status < 0:
            name = next((each.name for each in signal.Signals if each == -status), f"signal {-status}")
            advice = "; it may have run out of memory: try --jobs 1" if name == "SIGKILL" else ""
            reason = f"the process was ended by {name}{advice}"
        return Ended(self._number, Failure(reason, FAILED), time.perf_counter() - self._begun)


@contextmanager
def _interrupts_blocked() -> Generator[None]:
    """Block Ctrl-C for the processes that are started in the context: the process that started them ends them.

    They would print a traceback, above all during their imports.
    """
    if sys.platform == "win32":
        yield
        return
    # It is started with the first process otherwise, and unblocks the signal then.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, convert: Conversion) -> None:
    """Convert each model that arrives over a connection, and send back its result, until the connection is closed."""
    try:
        with raised_termination():
            while True:
                try:
                    work = connection.recv()
                except EOFError:
                    return
                connection.send(_result(convert, work))
                gc.collect()
    except (KeyboardInterrupt, BrokenPipeError):
        # The process that began this one says so.
        sys.exit(INTERRUPTED)


def _result(convert: Conversion, work: Work) -> Success | Failure:
    from moir.files.reading import recorded_files
    from moir.files.unchanged_files import check_not_shrunken

    try:
        with recorded_files(), _collected_warnings() as warnings:
            success = convert(work)
        check_not_shrunken()
    except Exception as error:
        from traceback import format_exc

        return Failure(one_line(describe(error)), USAGE if isinstance(error, UsageError) else FAILED, format_exc())
    return success.with_fields(summary=success.summary.with_fields(notes=[*success.summary.notes, *warnings]))


@contextmanager
def _collected_warnings() -> Generator[list[str]]:
    """Collect the warnings in moir's log, which do not name the model."""
    found: list[str] = []

    class Collecting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    logger, handler = logging.getLogger("moir"), Collecting(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
