"""Exit statuses of the tools, and failures as one line on stderr.

The exit statuses are:

    0    done
    1    the model cannot be read, converted or written, or there is a bug
    2    the command line is wrong
    130  interrupted
    141  the reader of the output has closed the pipe, as `head` does
    143  terminated
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from moir.errors import ConversionError, InternalError, UsageError
from moir.tools.streams import STANDARD_OUTPUT, discard_output, prepare_standard_streams

if TYPE_CHECKING:
    from moir.conversion_result import FailureDescription

FAILED, USAGE, INTERRUPTED, PIPE_CLOSED, TERMINATED = 1, 2, 130, 141, 143
_LONGEST_MESSAGE = 4000


class Terminated(KeyboardInterrupt):
    """SIGTERM as an exception, so that older files are restored and temporary ones are removed."""


def report_failures(tool: str, body: Callable[[], int], *, debug: bool = False, failed: int = FAILED) -> int:
    """Run the body of a tool; returns the exit status. A failure is reported as a line on stderr.

    Args:
        tool: name of the tool, with which the line begins.
        body: the function that does the work and returns the exit status.
        debug: whether to print the traceback, too.
        failed: the exit status for a failure that is no mistake in the command line.
    """
    prepare_standard_streams()
    try:
        try:
            from moir.files.reading import recorded_files
            from moir.files.unchanged_files import check_not_shrunken

            with raised_termination(), recorded_files():
                status = body()
            check_not_shrunken()
        except SystemExit as end:  # of --help and --version
            status = end.code if isinstance(end.code, int) else FAILED if end.code else 0
        # Flushed here, where a failure can be handled, and not at exit.
        sys.stdout.flush()
        return status
    except Terminated:
        print_error(f"{tool}: terminated")
        return TERMINATED
    except KeyboardInterrupt:
        print_error(f"{tool}: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return PIPE_CLOSED
    except Exception as error:
        if debug:
            import traceback

            print_error(traceback.format_exc().rstrip())
        print_error(f"{tool}: error: {one_line(describe(error))}")
        if isinstance(error, OSError) and error.filename is None:
            discard_output()
        return USAGE if isinstance(error, UsageError) else failed


@contextmanager
def raised_termination() -> Generator[None]:
    """A context in which SIGTERM raises Terminated, unless the process has a handler of its own or ignores the
    signal.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise_terminated(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


def print_error(text: str) -> None:
    """Print a line to standard error, whose reader may be gone."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def one_line(text: str) -> str:
    """Text on one line, without control characters: names in a model come from untrusted sources."""
    text = " ".join(text.split())
    if len(text) > _LONGEST_MESSAGE:
        # Messages begin with the location and end with the reason, so the middle is left out.
        text = f"{text[: _LONGEST_MESSAGE // 2]}…{text[-_LONGEST_MESSAGE // 2 :]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def failure_of(error: BaseException, model: str | None = None) -> FailureDescription:
    """The description of an exception as a record.

    Args:
        error: the exception.
        model: the model that was converted, which is the location of an error that has none.
    """
    from moir.conversion_result import FailureDescription

    return FailureDescription.of(error, one_line(describe(error)), USAGE if isinstance(error, UsageError) else FAILED, model)


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
        # The tools add the name of a file to an error; an error without one is about standard output.
        return f"{error.filename or STANDARD_OUTPUT}: {error.strerror}"
    if isinstance(error, InternalError) and error.__cause__ is not None:
        location = f"{error.location}: " if error.location else ""
        return location + _internal(error.__cause__, f" in {error.stage}")
    return _internal(error, "")


def _internal(error: BaseException, stage: str) -> str:
    return f"internal error{stage}{_operation_at(error.__traceback__)}: {type(error).__name__}: {error}; run with --debug for the traceback"


def _operation_at(trace: TracebackType | None) -> str:
    """The operation that was processed when an exception was raised, as the end of a message: " on onnx.Conv 'conv1'".

    An empty text if there is no traceback, or no operation is found in it.
    """
    from moir.dialects.names import name_of
    from moir.rewriting.failing_operation import failing_operation

    op = failing_operation(trace)
    return "" if op is None else f" on {op.name} {name_of(op) or 'without name'!r}"
