"""`moir --json`: the result of each conversion as an object of JSON on a line of standard output."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from moir.tools.streams import text_output

if TYPE_CHECKING:
    from moir.conversion_result import ConversionResult

FLAG = "--json"


def print_result(result: ConversionResult) -> None:
    """Print a result as one line, and flush the stream, because a program may wait for it."""
    from json import dumps

    output = text_output()
    output.write(f"{dumps(result.to_json(), ensure_ascii=False)}\n")
    output.flush()


@contextmanager
def failure_printed(model: str, *, wanted: bool) -> Generator[None]:
    """A context that prints a result for an exception, and raises the exception again.

    Args:
        model: the path of the model, as it was given; empty if the command line is at fault.
        wanted: whether to print it.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:
        if wanted:
            from moir.conversion_result import ConversionResult
            from moir.tools.failures import failure_of

            print_result(ConversionResult(model, "failed", failure=failure_of(error, model or None)))
        raise
