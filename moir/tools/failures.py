"""Exit statuses of the tools, and failures as one line on stderr.

The exit statuses are:

    0    done
    1    the model cannot be read, converted or written, or there is a bug
    2    the command line is wrong
    130  interrupted
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from moir.errors import ConversionError, InternalError, UsageError

FAILED, USAGE, INTERRUPTED = 1, 2, 130
_LONGEST_MESSAGE = 4000


def report_failures(tool: str, body: Callable[[], int], *, debug: bool = False) -> int:
    """Run the body of a tool; returns the exit status. A failure is reported as a line on stderr.

    Args:
        tool: name of the tool, with which the line begins.
        body: the function that does the work and returns the exit status.
        debug: whether to print the traceback, too.
    """
    try:
        status = body()
        # Flushed here, where a closed pipe can be handled, and not at exit.
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print(f"{tool}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone. Redirected, so that the rest of the buffer does not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except Exception as error:
        if debug:
            traceback.print_exc()
        print(f"{tool}: error: {one_line(describe(error))}", file=sys.stderr)
        return USAGE if isinstance(error, UsageError) else FAILED


def one_line(text: str) -> str:
    """Text on one line, without control characters: names in a model come from untrusted sources."""
    text = " ".join(text.split())
    if len(text) > _LONGEST_MESSAGE:
        text = f"{text[:_LONGEST_MESSAGE]}…"
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def describe(error: BaseException) -> str:
    """The description of an error for the user."""
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    if isinstance(error, ParseError):
        return f"{error.span.get_location()}: {error.msg}"
    if isinstance(error, ConversionError | UsageError | DiagnosticException):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "the model is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, InternalError) and error.__cause__ is not None:
        return _internal(error.__cause__, f" in {error.stage}")
    return _internal(error, "")


def _internal(error: BaseException, stage: str) -> str:
    return f"internal error{stage}{_operation_at(error.__traceback__)}: {type(error).__name__}: {error}; run with --debug for the traceback"


def _operation_at(trace: TracebackType | None) -> str:
    """The operation that was processed when an exception was raised, as the end of a message."""
    from moir.dialects.names import name_of
    from moir.rewriting.failing_operation import failing_operation

    op = failing_operation(trace)
    return "" if op is None else f" on {op.name} {name_of(op) or 'without name'!r}"
