"""`moir.convert_models`: the conversion of many models from Python."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from typing import Any

from moir.conversion_result import ConversionResult
from moir.errors import ArgumentError
from moir.files.remote.addresses import without_secrets
from moir.options import ConversionOptions
from moir.parameters import expected_keywords, expected_of_further_keywords
from moir.parameters.arguments import PATH, Expected, checked, shown
from moir.parameters.interface import MODEL_NAME
from moir.support.processors import processors
from moir.tools.batch.executor import converted_on
from moir.tools.batch.pool import Limits, converted
from moir.tools.batch.work import Work, check_outputs
from moir.tools.output_path import check_name, output_path

PIPELINE = Expected("a pipeline as text", lambda value: isinstance(value, str)).or_none()
JOBS = Expected("an iterable of moir.Job", lambda value: isinstance(value, Iterable) and not isinstance(value, str | bytes))
EXECUTOR = Expected("a concurrent.futures.Executor", lambda value: isinstance(value, Executor)).or_none()
COUNT = Expected("an integer from 1 on", lambda value: isinstance(value, int) and not isinstance(value, bool) and value > 0).or_none()
SECONDS = Expected("a number of seconds above 0", lambda value: isinstance(value, int | float) and value > 0).or_none()


def _expected_options() -> dict[str, Expected]:
    return {**expected_keywords(), **expected_of_further_keywords()}


class Job:
    """A model that is to be converted, for `convert_models`.

    Args:
        model: the path or the address of the model: a file, or the folder of a SavedModel or of a language model.
        output: the path or the address of the `.xml` to write, or a folder, in which the IR is named like the model
            (default: the current folder).
        passes: the pipeline as text, if it is not the default one.
        options: the options of `convert_model`, by their names.

    Raises UsageError for a mistake in the options (ArgumentError for one that is unknown or of a wrong type).
    """

    __slots__ = ("_work",)

    @checked(_expected_options, model=PATH, output=PATH, passes=PIPELINE)
    def __init__(self, model: str | Path, output: str | Path = "", *, passes: str | None = None, **options: Any) -> None:
        conversion = ConversionOptions(**options)
        conversion.check()
        check_name(conversion[MODEL_NAME])
        target = output_path(os.fspath(output), os.fspath(model), conversion, is_single=False)
        self._work = Work(os.fspath(model), target, conversion, passes)

    @property
    def model(self) -> str:
        """The path of the model."""
        return self._work.model

    @property
    def output(self) -> str:
        """The path of the `.xml`."""
        return self._work.output

    def __repr__(self) -> str:
        return f"Job({self._work.label!r}, {without_secrets(self.output)!r})"

    def work(self, cache: str | None) -> Work:
        """The conversion as a record that is sent between processes; `cache` is the folder of the cache, None for no
        cache.
        """
        return self._work.with_fields(cache=cache)


@checked(jobs=JOBS, executor=EXECUTOR, jobs_at_a_time=COUNT, cache=PATH.or_none(), timeout=SECONDS, memory=COUNT)
def convert_models(
    jobs: Iterable[Job],
    *,
    executor: Executor | None = None,
    jobs_at_a_time: int | None = None,
    cache: str | Path | None = None,
    timeout: float | None = None,
    memory: int | None = None,
) -> Generator[ConversionResult]:
    """Convert models, several at a time, and write their IRs.

    A model that fails does not stop the others; its result says why. If the caller leaves the loop over the results,
    what runs is ended, without partial files.

    Args:
        jobs: the models with their outputs and options.
        executor: runs the conversions, in processes or on machines that have moir and see the files; by default
            processes are started, of which one that dies fails its own model alone.
        jobs_at_a_time: how many models are converted at a time (default: as many as there are processors; with an
            executor all are submitted at once).
        cache: the folder of a cache: what is in it is not converted again.
        timeout: the seconds that a conversion may take, the start of a process included.
        memory: bytes that the conversions at a time may need together: how many run is chosen by what each needs, and
            one that needs more than all fails.

    Returns a generator of results, each when its model is done, in the order in which they end.

    Raises UsageError if two models have one output, and ArgumentError for arguments that do not fit.
    """
    given: list[Any] = list(jobs)
    wrong = next((each for each in given if not isinstance(each, Job)), None)
    if wrong is not None:
        raise ArgumentError(f"argument jobs of convert_models must have moir.Job, not {shown(wrong)}", hint='moir.Job("model.onnx", "ir")')
    if executor is not None and (timeout is not None or memory is not None):
        raise ArgumentError("arguments timeout and memory are for processes that moir starts", hint="leave executor out")
    works = [each.work(None if cache is None else os.fspath(cache)) for each in given]
    check_outputs(works)
    return _results(works, executor, jobs_at_a_time, timeout, memory)


def _results(
    works: list[Work], executor: Executor | None, jobs: int | None, timeout: float | None, memory: int | None
) -> Generator[ConversionResult]:
    from moir.tools.file_conversion import converted_in_pool

    if executor is None:
        results = converted(works, converted_in_pool, Limits(jobs or processors(), timeout, memory))
    else:
        results = converted_on(executor, works, converted_in_pool, jobs)
    with closing(results):
        for each in results:
            yield each.outcome.result
