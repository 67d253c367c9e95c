"""What is wrong with an extension: errors that name the file and the line, and a transformation that fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

from moir.errors import ConversionError

OwnsFile = Callable[[str], bool]
"""Whether a file is one of an extension."""


def line_of(error: BaseException, owns: OwnsFile) -> str | None:
    """`file:line` of the innermost place in an extension that an exception came through, None if there is none."""
    if isinstance(error, SyntaxError) and error.filename and owns(error.filename):
        return f"{shown(Path(error.filename))}:{error.lineno or 1}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if owns(frame.filename)]
    return f"{shown(Path(frames[-1].filename))}:{frames[-1].lineno}" if frames else None


def shown(path: Path) -> str:
    """A path as a user knows it: relative to the current folder if it is in there."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def reason_of(error: BaseException) -> str:
    """An exception in a clause."""
    if isinstance(error, ConversionError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def loading_failure(path: Path, error: BaseException, owns: OwnsFile) -> ConversionError:
    """The error for a file that cannot be imported."""
    line = line_of(error, owns) or shown(path)
    through = "" if line.startswith(shown(path)) else f", which {shown(path)} imports,"
    return ConversionError(f"the file{through} cannot be loaded: {reason_of(error)}", location=line)


def failure(error: Exception, what: str, owns: OwnsFile) -> ConversionError:
    """The error for code of an extension that failed: `what` it is, where, at which node, why."""
    from moir.dialects.names import name_of
    from moir.rewriting.failing_operation import failing_operation

    line = line_of(error, owns)
    location = f"{what} ({line})" if line is not None else what
    operation, node, reason, hint = None, None, reason_of(error), None
    if isinstance(error, ConversionError):
        operation, node, hint = error.operation, error.node, error.hint
        reason = f"{error.location}: {error.reason}" if error.location else error.reason
    if operation is None and node is None and (op := failing_operation(error.__traceback__)) is not None:
        operation, node = op.name, name_of(op)
    return ConversionError(reason, operation=operation, node=node, location=location, hint=hint)
