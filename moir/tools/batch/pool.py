"""A pool of processes; each converts one model after the other.

A process that is killed fails the model that it converts, and another one takes its place.

The package `pebble` has such a pool, too. Its processes end at SIGTERM without an exception, so that a conversion would
leave its temporary files; and it begins tasks in the order in which they come, whether or not their memory is free.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from moir.support.records import Record
from moir.tools.batch.conversion_process import ConversionProcess, wait_for
from moir.tools.batch.queue import Queue
from moir.tools.batch.work import Conversion, Ended, Work


class Limits(Record):
    """The limits of a pool.

    Args:
        jobs: the largest number of processes at a time.
        timeout: the seconds that a conversion may take; None for any.
        memory: the memory in bytes that the conversions at a time may need together, and each of them may allocate;
            None for any.
    """

    jobs: int
    timeout: float | None = None
    memory: int | None = None


def converted(works: Sequence[Work], convert: Conversion, limits: Limits) -> Generator[Ended]:
    """Convert models, and yield the result of each conversion when it has ended.

    Args:
        works: the conversions, which are begun in this order; with a limit of memory the largest that fits first.
        convert: converts one model; its exceptions fail that model.
        limits: the limits of the pool.
    """
    queue = Queue(works, limits.memory)
    idle: list[ConversionProcess] = []
    busy: list[ConversionProcess] = []

    def begin() -> None:
        while len(busy) < limits.jobs and (number := queue.begin()) is not None:
            worker = idle.pop() if idle else ConversionProcess(convert, limits.timeout, limits.memory)
            busy.append(worker)
            worker.begin(number, works[number])

    try:
        begin()
        while busy:
            results: list[Ended] = []
            for worker in wait_for(busy):
                results.append(worker.ended())
                busy.remove(worker)
                queue.end(worker.number)
                if worker.is_usable:
                    idle.append(worker)
                else:
                    worker.close()
            # Begun before the results are yielded: the consumer may take long with them.
            begin()
            yield from results
    finally:
        for worker in (*idle, *busy):
            worker.connection.close()
            # The other processes end on their own when the connection closes.
            if worker in busy:
                worker.process.terminate()
        for worker in (*idle, *busy):
            worker.close()
