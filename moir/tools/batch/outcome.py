"""Converts one of several models within the process that does the conversion; a failure becomes a result."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

from moir.conversion_result import ConversionResult, FailureDescription
from moir.support.turns import in_turn
from moir.tools.batch.work import Conversion, Outcome, Work
from moir.tools.failures import FAILED, failure_of


@in_turn
def outcome_of(convert: Conversion, work: Work) -> Outcome:
    """Convert a model; an exception becomes a failed result, and moir's warnings become notes.

    Args:
        convert: converts one model.
        work: the conversion.
    """
    from moir.files.reading import recorded_files
    from moir.files.unchanged_files import check_not_shrunken

    try:
        with recorded_files(), _collected_warnings() as warnings:
            result = convert(work)
        check_not_shrunken()
    except Exception as error:
        if isinstance(error, MemoryError):
            _free(error)
        from traceback import format_exc

        return Outcome(ConversionResult(work.label, "failed", failure=failure_of(error, work.label)), format_exc())
    return Outcome(result.with_fields(notes=[*result.notes, *warnings]))


def _free(error: MemoryError) -> None:
    """Free the memory that a failed conversion holds through its traceback, because describing the failure takes
    memory, too.
    """
    import gc
    from traceback import clear_frames

    clear_frames(error.__traceback__)
    gc.collect()


def failed(work: Work, error: str, reason: str, hint: str | None = None) -> Outcome:
    """The outcome of a conversion whose process ended without sending a result.

    Args:
        work: the conversion.
        error: the name of the kind of the failure, as of a class of exceptions.
        reason: what is wrong.
        hint: what the user can do about it.
    """
    message = f"{reason}; {hint}" if hint else reason
    failure = FailureDescription(error, message, reason, location=work.label, hint=hint, exit_status=FAILED)
    return Outcome(ConversionResult(work.label, "failed", failure=failure))


class _Collecting(logging.Handler):
    """A handler of log messages that collects them in a list."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def _collected_warnings() -> Generator[list[str]]:
    """A context with a list that collects the warnings in moir's log, which do not name the model."""
    logger, handler = logging.getLogger("moir"), _Collecting()
    logger.addHandler(handler)
    try:
        yield handler.messages
    finally:
        logger.removeHandler(handler)
