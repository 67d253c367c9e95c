"""Runs conversions on the workers of a cluster, each in a process that a worker starts beside itself.

The worker can end such a process at any time: when a conversion takes too long, or when the run is interrupted. It
keeps the process for the next model of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from moir.support.records import Record
from moir.tools.batch.conversion_process import ConversionProcess, wait_for
from moir.tools.batch.outcome import failed
from moir.tools.batch.work import Conversion, Outcome, Work

_LONGEST_WAIT = 1.0
"""The interval in seconds at which a waiting thread checks whether its process has been interrupted."""


class WorkerLimits(Record):
    """The limits of each conversion on a worker: seconds, and bytes of memory; None for no limit."""

    timeout: float | None = None
    memory: int | None = None


class _Run:
    """The processes that one run of `moir` uses on this worker."""

    def __init__(self) -> None:
        self.idle: list[ConversionProcess] = []
        self.busy: set[ConversionProcess] = set()
        self.has_ended = False


_RUNS: dict[str, _Run] = {}
_LOCK = Lock()


def converted_on_worker(run: str, work: Work, convert: Conversion, limits: WorkerLimits) -> Outcome:
    """Convert a model on this worker, in a separate process; returns the outcome.

    Args:
        run: the name of the run.
        work: the conversion.
        convert: converts one model.
        limits: the limits of the conversion.
    """
    with _LOCK:
        state = _RUNS.setdefault(run, _Run())
        # Of runs whose client was killed, before it could end them.
        idle_elsewhere = [each.idle.pop() for each in _RUNS.values() if each is not state for _ in range(len(each.idle))]
        process = state.idle.pop() if state.idle else None
    _close(idle_elsewhere)
    process = process or ConversionProcess(convert, limits.timeout, limits.memory)
    with _LOCK:
        state.busy.add(process)
        has_ended = state.has_ended
    if has_ended:
        _close([process])
        return failed(work, "Interrupted", "the run was interrupted")
    process.begin(0, work)
    while not wait_for([process], _LONGEST_WAIT):
        pass
    outcome = process.ended().outcome
    with _LOCK:
        state.busy.discard(process)
        is_kept = process.is_usable and not state.has_ended
        if is_kept:
            state.idle.append(process)
    if not is_kept:
        _close([process])
    return outcome


def end_run(run: str) -> None:
    """End the processes of a run on this worker, even those that are converting a model; further conversions of the run
    are refused.
    """
    with _LOCK:
        state = _RUNS.setdefault(run, _Run())
        state.has_ended = True
        idle, state.idle = state.idle, []
        busy = list(state.busy)
    for each in busy:
        each.interrupt()
    # They end on their own; this function must not wait, because the worker answers nothing meanwhile.
    for each in idle:
        each.connection.close()


def _close(processes: Sequence[ConversionProcess]) -> None:
    for each in processes:
        each.close()
