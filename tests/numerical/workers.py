"""Worker processes that are expected to die: what crashes or hangs the runtime costs one item, not the run."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Say = Callable[[str], None]
"""Tells the parent which stage an item has reached."""

Task = Callable[[Item, Say], Answer]
"""What a worker does with an item. A function of a module: it is found by its name in another process."""

MEMORY_LIMIT = 12 << 30
START_SECONDS = 90.0
"""What a new worker may take before its first item: imports, and whatever the task loads once."""


@dataclass(frozen=True)
class Died:
    """An item whose worker ended without an answer, twice.

    Args:
        stage: the stage it had reached.
        hung: whether the worker was ended because there was no answer in time.
        reason: signal, exit status or time limit.
    """

    stage: str
    hung: bool
    reason: str


@dataclass
class _Worker(Generic[Item]):
    process: BaseProcess
    connection: Connection
    item: Item | None = None
    stage: str = ""
    deadline: float = 0.0
    served: int = 0


def _serve(connection: Connection, task: Task[Any, Any]) -> None:
    """What a worker process does: answer items until there is none. What libraries print is dropped."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (received := connection.recv()) is not None:
        try:
            answer = task(received[0], lambda stage: connection.send(("stage", stage)))
        except Exception:
            connection.send(("error", traceback.format_exc()))
        else:
            connection.send(("answer", answer))


@dataclass
class Workers(Generic[Item, Answer]):
    """A number of workers with one task.

    Args:
        task: what they do.
        count: how many there are.
        limit: seconds an item may take.
    """

    task: Task[Item, Answer]
    count: int = 2
    limit: float = 60.0
    died_once: list[Item] = field(default_factory=list)
    """Items whose worker died, and which a fresh worker answered: the fault may be that of an item before."""

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Answer | Died]]:
        """The answer to each item, in the order in which they come. Raises RuntimeError if the task itself fails."""
        waiting, again = iter(items), list[Item]()
        workers: list[_Worker[Item]] = []
        retried: list[Item] = []
        try:
            while True:
                while len(workers) < self.count and (item := again.pop() if again else next(waiting, None)) is not None:
                    idle = self._start()
                    workers.append(idle)
                    self._give(idle, item)
                if not workers:
                    return
                ready = wait([worker.connection for worker in workers], timeout=0.5)
                for worker in list(workers):
                    item = worker.item
                    assert item is not None
                    answered = False
                    if worker.connection in ready:
                        try:
                            kind, content = worker.connection.recv()
                        except (EOFError, OSError):
                            worker.process.join()
                            died = Died(worker.stage, False, _status(worker.process.exitcode))
                        else:
                            if kind == "stage":
                                worker.stage = content
                                continue
                            if kind == "error":
                                raise RuntimeError(f"the task failed on {item!r}:\n{content}")
                            answered, died = True, None
                            yield item, content
                    elif time.monotonic() > worker.deadline:
                        died = Died(worker.stage, True, f"no answer after {self.limit:.0f} s")
                    else:
                        continue
                    following = None
                    if answered:
                        if item in retried:
                            self.died_once.append(item)
                        following = again.pop() if again else next(waiting, None)
                    elif item in retried:
                        assert died is not None
                        yield item, died
                    else:
                        retried.append(item)
                        again.append(item)
                    if following is None:
                        workers.remove(worker)
                        self._end(worker)
                    else:
                        self._give(worker, following)
        finally:
            for worker in workers:
                self._end(worker)

    def _start(self) -> _Worker[Item]:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, self.task), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)

    def _give(self, worker: _Worker[Item], item: Item) -> None:
        worker.item, worker.stage = item, ""
        worker.deadline = time.monotonic() + self.limit + (0.0 if worker.served else START_SECONDS)
        worker.served += 1
        worker.connection.send((item,))

    def _end(self, worker: _Worker[Item]) -> None:
        worker.process.kill()
        worker.process.join()
        worker.connection.close()


def _status(code: int | None) -> str:
    """How a process ended."""
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"
