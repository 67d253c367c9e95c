"""Conversions on an executor of the caller: processes, threads, MPI, or a cluster."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

from moir.tools.batch.absolute_paths import absolute, as_given
from moir.tools.batch.outcome import failed, outcome_of
from moir.tools.batch.work import Conversion, Ended, Outcome, Work


def converted_on(executor: Executor, works: Sequence[Work], convert: Conversion, jobs: int | None) -> Generator[Ended]:
    """Convert models, and yield the result of each conversion when it has ended.

    The processes of the executor may have other current folders. If the caller leaves the generator, conversions that
    have not begun are cancelled.

    Args:
        executor: runs the conversions; it stays open.
        works: the conversions, which are submitted in this order.
        convert: converts one model; its exceptions fail that model.
        jobs: how many are submitted at a time; None for all.
    """
    submitted: dict[Future[Outcome], int] = {}
    begun: dict[int, float] = {}
    waiting = list(enumerate(works))[::-1]
    try:
        while waiting or submitted:
            done: list[Ended] = []
            while waiting and (jobs is None or len(submitted) < jobs):
                number, work = waiting.pop()
                begun[number] = time.perf_counter()
                try:
                    submitted[executor.submit(outcome_of, convert, absolute(work))] = number
                except RuntimeError as error:
                    # The executor is shut down or broken: the conversions that it has done stay done.
                    done.append(Ended(number, _refused(work, error), 0.0))
            if not done and submitted:
                for future in wait(submitted, return_when=FIRST_COMPLETED).done:
                    number = submitted.pop(future)
                    outcome = as_given(_outcome(future, works[number]), works[number])
                    done.append(Ended(number, outcome, time.perf_counter() - begun[number]))
            yield from done
    finally:
        for future in submitted:
            future.cancel()


def _outcome(future: Future[Outcome], work: Work) -> Outcome:
    # A conversion's own exceptions are in its outcome; the rest comes from the executor.
    error = future.exception() if not future.cancelled() else None
    if error is not None:
        return _refused(work, error)
    return failed(work, "CancelledError", "the executor has cancelled the conversion") if future.cancelled() else future.result()


def _refused(work: Work, error: BaseException) -> Outcome:
    reason = f"the executor could not run the conversion: {type(error).__name__}: {error}"
    return failed(work, type(error).__name__, reason, "without an executor, a process that dies fails its own model alone")
