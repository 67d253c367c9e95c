"""The conversion of one of several models, and its result. Both are sent between processes."""

from __future__ import annotations

from moir.options import ConversionOptions
from moir.records import Record
from moir.tools.summary import Summary


class Work(Record):
    """One of several conversions.

    Args:
        model: the path of the model.
        output: the path of the `.xml`.
        conversion: its options.
        passes: the pipeline, if it is not the default one.
        dumps: the folder for the module after each pass, if there is one.
        cache: the folder of the cache, if there is one.
    """

    model: str
    output: str
    conversion: ConversionOptions
    passes: str | None = None
    dumps: str | None = None
    cache: str | None = None


class Success(Record):
    """The result of a conversion.

    Args:
        summary: the summary for the user.
        is_cached: whether it came from the cache.
    """

    summary: Summary
    is_cached: bool


class Failure(Record):
    """A conversion that failed.

    Args:
        reason: the error, on one line.
        status: the exit status that it would have as the only conversion.
        traceback: the traceback, for `--debug`.
    """

    reason: str
    status: int
    traceback: str = ""
