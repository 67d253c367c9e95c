"""Conversions on a cluster of Dask: `moir --cluster tcp://scheduler:8786`.

If a worker ends during a conversion, Dask runs the conversion again on another one; here this is limited to two times.
The workers see the same files under the same paths.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from moir.errors import ConversionError, UsageError
from moir.parameters.extension import EXTENSIONS
from moir.tools.batch.absolute_paths import absolute, as_given
from moir.tools.batch.cluster_worker import WorkerLimits, converted_on_worker, end_run
from moir.tools.batch.fingerprint import difference, fingerprint
from moir.tools.batch.memory import need_of
from moir.tools.batch.outcome import failed
from moir.tools.batch.work import Conversion, Ended, Outcome, Work

if TYPE_CHECKING:
    from typing import TypeAlias

    # The package need not be installed.
    Client: TypeAlias = Any
    Future: TypeAlias = Any

MEMORY = "memory"
"""The name of the resource by which a worker offers bytes of memory for conversions."""

_PATIENCE = 10
"""Timeout in seconds for connecting to the scheduler, and for disconnecting from it."""

_PATIENCE_FOR_WORKERS = 60
"""Seconds to wait for a first worker, which a queue may have to start."""

_MOST_RUNS = 3
"""How often a conversion is begun if workers end while they run it."""

_REFRESH = 1.0
"""The number of seconds between two requests to the scheduler for the list of workers."""

_UNLIMITED = WorkerLimits()

_AHEAD = 2
"""The number of conversions submitted for each thread of the cluster, so that no thread waits for the next one."""


def converted_on_cluster(works: Sequence[Work], convert: Conversion, address: str, limits: WorkerLimits = _UNLIMITED) -> Generator[Ended]:
    """Convert models on the workers of a cluster, and yield the result of each conversion when it has ended.

    If the caller leaves the generator, conversions that have not begun are cancelled, and those that run are ended,
    without partial files.

    Args:
        works: the conversions, which are submitted in this order.
        convert: converts one model; its exceptions fail that model.
        address: the address of the scheduler.
        limits: the limits of each conversion.

    Raises UsageError if Dask is not installed, if the scheduler cannot be reached or has no workers, or if a worker has
    other versions; ConversionError if the connection to the scheduler is lost.
    """
    sent = [absolute(work) for work in works]
    with _client(address) as client:
        versions = _checked_workers(client, address, _extensions(sent))
        with closing(_Run(client, address, sent, convert, versions, limits).results()) as results:
            for each in results:
                yield each.with_fields(outcome=as_given(each.outcome, works[each.number]))


class _Run:
    """A run of conversions on a cluster.

    Args:
        client: the connection to the scheduler.
        address: its address.
        works: the conversions.
        convert: converts one model.
        versions: the fingerprint that workers must have.
        limits: the limits of each conversion.
    """

    def __init__(
        self, client: Client, address: str, works: Sequence[Work], convert: Conversion, versions: Mapping[str, str], limits: WorkerLimits
    ) -> None:
        from uuid import uuid4

        self._client = client
        self._address = address
        self._works = works
        self._arguments = (convert, limits, versions, _extensions(works))
        self._name = f"moir-{uuid4().hex}"
        self._waiting = list(range(len(works)))[::-1]
        self._numbers: dict[Future, int] = {}
        self._submissions = [0] * len(works)
        self._begun = [0.0] * len(works)
        self._workers: Mapping[str, Any] = {}
        self._workers_known = -_REFRESH
        self._is_lost = False
        """Whether the connection to the scheduler is lost."""
        self._completed = _distributed().as_completed(loop=client.loop)

    def results(self) -> Generator[Ended]:
        """The result of each conversion when it has ended; those that have not begun are cancelled at the end."""
        try:
            self._submit()
            while self._numbers:
                future = next(self._completed)
                number = self._numbers.pop(future)
                outcome = self._outcome(future, number)
                if outcome is None:
                    self._waiting.append(number)
                self._submit()
                if outcome is not None:
                    yield Ended(number, outcome, time.perf_counter() - self._begun[number])
        finally:
            # A scheduler that is lost lets each request wait for a connection.
            if not self._is_lost:
                with suppress(Exception):
                    self._client.cancel(list(self._numbers))
                    self._client.run(end_run, self._name, on_error="ignore")
                    self._client.set_metadata([self._name], None)

    def _submit(self) -> None:
        if time.monotonic() >= self._workers_known + _REFRESH:
            self._workers = self._client.scheduler_info(n_workers=-1)["workers"]
            self._workers_known = time.monotonic()
        workers = self._workers
        limit = max(1, _AHEAD * sum(each["nthreads"] for each in workers.values()))
        while self._waiting and len(self._numbers) < limit:
            number = self._waiting.pop()
            self._submissions[number] += 1
            self._begun[number] = self._begun[number] or time.perf_counter()
            counter, work = (self._name, str(number)), self._works[number]
            future = self._client.submit(
                _outcome_on_worker,
                work,
                counter,
                *self._arguments,
                key=f"{self._name}-{number}-{self._submissions[number]}",
                resources=_resources(work, workers),
            )
            self._numbers[future] = number
            self._completed.add(future)

    def _outcome(self, future: Future, number: int) -> Outcome | None:
        """The outcome of conversion `number`, from its future; None if the conversion has to be submitted again.

        When a worker ends, Dask counts a failure for each task that was sent to it, also for tasks that had not begun.
        Raises ConversionError if the connection to the scheduler is lost.
        """
        if future.status in ("cancelled", "lost"):
            self._is_lost = True
            hint = "what is done stays done: run again with --resume or --cache"
            raise ConversionError("the connection to the scheduler is lost", location=self._address, hint=hint)
        error: BaseException | None = future.exception()
        if error is None:
            return cast("Outcome", future.result())
        work, name = self._works[number], type(error).__name__
        if name != "KilledWorker":
            return failed(work, name, f"the cluster could not run the conversion: {name}: {error}")
        runs: int = self._client.get_metadata([self._name, str(number)], 0)
        if runs < _MOST_RUNS and self._submissions[number] <= _MOST_RUNS:
            return None
        return _ended_workers(work, runs)


def _outcome_on_worker(
    work: Work,
    counter: tuple[str, str],
    convert: Conversion,
    limits: WorkerLimits,
    versions: Mapping[str, str],
    extensions: Sequence[str],
) -> Outcome:
    """Convert a model, on a worker.

    Args:
        work: the conversion.
        counter: the key under which the scheduler counts how often the conversion has begun: the name of the run, and
            the number of the conversion.
        convert: converts one model.
        limits: the limits of the conversion.
        versions: the fingerprint of the machine that has sent it; a worker that has come later was not checked before.
        extensions: the extensions of all conversions.
    """
    if text := difference(versions, fingerprint(extensions)):
        return failed(work, "OtherVersion", f"a worker has other versions: {text}", "install the same on all workers")
    client = _distributed().get_client()
    runs: int = client.get_metadata([*counter], 0)
    if runs >= _MOST_RUNS:
        return _ended_workers(work, runs)
    client.set_metadata([*counter], runs + 1)
    return converted_on_worker(counter[0], work, convert, limits)


def _ended_workers(work: Work, runs: int) -> Outcome:
    hint = "they may have run out of memory: give them more, or fewer threads"
    return failed(work, "WorkersEnded", f"{runs} workers have ended during the conversion", hint)


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise UsageError("Dask is not installed", hint="install it: pip install 'moir[dask]'") from error


@contextmanager
def _client(address: str) -> Generator[Client]:
    distributed = _distributed()
    # Of a lost connection it prints tracebacks; what is to be said is in the ConversionError.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        hint = "start one: dask scheduler; its address is in what it prints"
        raise UsageError(f"the scheduler cannot be reached: {error}", location=address, hint=hint) from error
    try:
        yield client
    finally:
        with suppress(Exception):  # of a scheduler that is lost
            client.close(timeout=_PATIENCE)


def _checked_workers(client: Client, address: str, extensions: Sequence[str]) -> Mapping[str, str]:
    """The fingerprint of this machine. Raises UsageError if there are no workers, or if one has another fingerprint."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_FOR_WORKERS)
    except _distributed().TimeoutError as error:
        raise UsageError("the cluster has no workers", location=address, hint=f"start some: dask worker {address} --nthreads 1") from error
    own = fingerprint(extensions)
    others: Mapping[str, Any] = client.run(fingerprint, extensions, on_error="return")
    for worker, other in others.items():
        text = f"{type(other).__name__}: {other}" if isinstance(other, BaseException) else difference(own, other)
        if text:
            raise UsageError(f"the worker {worker} cannot be used: {text}", location=address, hint="install the same on all workers")
    return own


def _resources(work: Work, workers: Mapping[str, Any]) -> dict[str, int]:
    """The memory that a conversion reserves on its worker, if all workers offer memory; at most as much as the largest
    of them offers.
    """
    offers = [each["resources"].get(MEMORY) for each in workers.values()]
    if not offers or None in offers:
        return {}
    return {MEMORY: min(need_of(work), int(max(offers)))}


def _extensions(works: Sequence[Work]) -> list[str]:
    """The extensions that the options of all conversions name, each once."""
    return list(dict.fromkeys(str(each) for work in works for each in work.conversion[EXTENSIONS]))
