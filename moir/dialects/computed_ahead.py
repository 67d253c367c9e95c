"""An ordered iterator over results that worker threads compute before they are asked for.

numpy releases the interpreter while it computes, so that threads use all processors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from moir.support.processors import processors

T = TypeVar("T")
R = TypeVar("R")

LARGEST_COUNT = 8
"""The largest number of threads; each of them holds blocks in memory."""


def computed_ahead(function: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
    """Yields each item with the result of a function for it, in order; with several processors, threads compute a few
    results ahead.

    Exceptions of the function are raised where its result would be yielded.
    """
    count = min(LARGEST_COUNT, processors())
    if count < 2:
        for item in items:
            yield item, function(item)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    pending: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(count) as pool:
        try:
            for item in items:
                pending.append((item, pool.submit(function, item)))
                if len(pending) > count:
                    first, result = pending.popleft()
                    yield first, result.result()
            while pending:
                first, result = pending.popleft()
                yield first, result.result()
        finally:
            for _, result in pending:
                result.cancel()
