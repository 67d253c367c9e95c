"""A process that converts one model after the other, in the pool of this machine or beside a worker of a cluster.

If it is killed, for example because the system is out of memory, the model that it converts fails. A conversion that
takes too long is ended with its process.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import current_process, get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING

from moir.tools.batch.memory import limit_memory
from moir.tools.batch.outcome import failed, outcome_of
from moir.tools.batch.work import Conversion, Ended, Outcome, Work
from moir.tools.failures import INTERRUPTED, raised_termination

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

_PATIENCE = 5.0
"""The number of seconds that a process has for removing its temporary files when it is ended."""

_WITHOUT_MEMORY = ("SIGABRT", "SIGSEGV")
"""The signals by which a process ends if there is not even enough memory to raise an exception."""

_STARTING = Lock()
"""A lock that is held while a process is started, because that changes the state of the whole process for a moment."""


def wait_for(busy: Sequence[ConversionProcess], longest: float | None = None) -> list[ConversionProcess]:
    """Wait until processes send results or end, and end processes that take too long.

    Args:
        busy: processes that convert.
        longest: the largest number of seconds to wait; None for no limit.

    Returns the processes whose `ended` is to be called; none if the time is over, or a process has been ended.
    """
    limits = [max(0.0, each.deadline - time.perf_counter()) for each in busy if each.deadline is not None]
    limits += [] if longest is None else [longest]
    ready = wait([each.connection for each in busy], min(limits, default=None))
    now = time.perf_counter()
    for worker in busy:
        if worker.deadline is not None and worker.deadline <= now and worker.connection not in ready:
            worker.expire()
    return [each for each in busy if each.connection in ready]


class ConversionProcess:
    """A process that converts one model after the other, as seen by the process that started it.

    Args:
        convert: converts one model; its exceptions fail that model.
        timeout: the seconds that a conversion may take; None for any.
        memory: the memory in bytes that the process may allocate; None for any.
    """

    def __init__(self, convert: Conversion, timeout: float | None, memory: int | None) -> None:
        # `spawn`: a forked process would inherit held locks of threads, and all modules that the caller has imported.
        context = get_context("spawn")
        self.connection, other = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(other, convert, memory), daemon=True)
        with _STARTING, _interrupts_blocked(), _main_module_hidden(), _children_allowed():
            self.process.start()
        other.close()
        self.number = 0
        self.deadline: float | None = None
        """The time at which the process is ended."""
        self.is_usable = True
        """Whether the process can convert a further model."""
        self._timeout = timeout
        self._is_limited = memory is not None
        self._is_expired = False
        self._is_interrupted = False
        self._work: Work | None = None
        self._begun = 0.0

    def begin(self, number: int, work: Work) -> None:
        """Let the process convert a model; `number` identifies the conversion in its result."""
        self.number = number
        self._work = work
        self._begun = time.perf_counter()
        self.deadline = None if self._timeout is None else self._begun + self._timeout
        with suppress(OSError):  # of a process that is no more, which `ended` says
            self.connection.send(work)

    def expire(self) -> None:
        """End the process because its conversion takes too long; it is killed if it does not end in time."""
        if self._is_expired:
            self.process.kill()
            self.deadline = None
            return
        self._is_expired = True
        self.is_usable = False
        self.process.terminate()
        self.deadline = time.perf_counter() + _PATIENCE

    def interrupt(self) -> None:
        """End the process, as if its conversion had taken too long."""
        self._is_interrupted = True
        with suppress(OSError, AttributeError):  # of a process that is no more
            self.expire()

    def ended(self) -> Ended:
        """The result that the process has sent, or that of a process that has died."""
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            self.is_usable = False
            outcome = self._died()
        return Ended(self.number, outcome, time.perf_counter() - self._begun)

    def close(self) -> None:
        """Wait for the end of the process, and kill it if it does not end."""
        self.connection.close()
        self.process.join(_PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _died(self) -> Outcome:
        self.connection.close()
        self.process.join()
        assert self._work is not None
        if self._is_interrupted:
            return failed(self._work, "Interrupted", "the conversion was interrupted")
        if self._is_expired:
            return failed(self._work, "TimeLimitExceeded", f"the conversion took longer than {self._timeout:g} s", "raise the time limit")
        status = self.process.exitcode or 0
        if status >= 0:
            return failed(self._work, "ProcessEnded", f"the process has ended with status {status}")
        name = next((each.name for each in signal.Signals if each == -status), f"signal {-status}")
        advice = "it may have run out of memory: try --jobs 1" if name == "SIGKILL" else None
        if self._is_limited and name in _WITHOUT_MEMORY:
            advice = "it may have run out of memory: raise the limit"
        return failed(self._work, "ProcessEnded", f"the process was ended by {name}", advice)


@contextmanager
def _main_module_hidden() -> Generator[None]:
    """A context in which started processes do not run the program of the caller again.

    A spawned process imports the main module of its parent, of which it needs nothing here: a program without
    `if __name__ == "__main__"` would convert its models once more, and one from standard input has no file.
    """
    name = "__main__"
    main = sys.modules[name]
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        sys.modules[name] = main


@contextmanager
def _children_allowed() -> Generator[None]:
    """A context in which a process may start others although that is not allowed to it, as to a worker of Dask."""
    process = current_process()
    if not process.daemon:
        yield
        return
    process.daemon = False
    try:
        yield
    finally:
        process.daemon = True


@contextmanager
def _interrupts_blocked() -> Generator[None]:
    """A context in which processes are started that ignore Ctrl-C: the process that started them will end them.

    Otherwise each of them would print a traceback.
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


def _serve(connection: Connection, convert: Conversion, memory: int | None) -> None:
    """Convert each model that arrives over a connection, and send back its result, until the connection is closed.

    `memory` is the largest number of bytes that the process may allocate; None for no limit.
    """
    if memory is not None:
        limit_memory(memory)
    # Garbage is looked for between conversions only.
    gc.disable()
    is_first = True
    try:
        with raised_termination():
            while True:
                try:
                    work = connection.recv()
                except EOFError:
                    return
                connection.send(outcome_of(convert, work))
                gc.collect()
                if is_first:
                    # What the first conversion leaves are modules and tables: looking for garbage among them, too,
                    # takes longer than the conversion of a small model.
                    gc.freeze()
                    is_first = False
    except (KeyboardInterrupt, BrokenPipeError):
        # The parent process reports the interrupt.
        sys.exit(INTERRUPTED)
