"""Errors of extensions, which name the file and the line: files that cannot be loaded, transformations that fail."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path

from moir.errors import ConversionError
from moir.frameworks import load
from moir.support.suggestions import did_you_mean

OwnsFile = Callable[[str], bool]
"""A predicate on file names: whether the file belongs to an extension."""


def line_of(error: BaseException, owns: OwnsFile) -> str | None:
    """`file:line` of the innermost frame of a traceback that is in an extension, None if there is none.

    `owns` says whether a file belongs to an extension.
    """
    if isinstance(error, SyntaxError) and error.filename and owns(error.filename):
        return f"{shown(Path(error.filename))}:{error.lineno or 1}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if owns(frame.filename)]
    return f"{shown(Path(frames[-1].filename))}:{frames[-1].lineno}" if frames else None


def shown(path: Path) -> str:
    """A path for messages: relative to the current directory if it is inside of that."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def reason_of(error: BaseException) -> str:
    """An exception as a clause of a message: its type and its text; for a ConversionError only its text."""
    if isinstance(error, ConversionError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    if isinstance(error, SystemExit):
        return f"SystemExit({error.code!r}) would end the process"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def loading_failure(path: Path, error: BaseException, owns: OwnsFile) -> ConversionError:
    """The error for a file that an exception prevents from being imported, with the line; `owns` says whether a file
    belongs to an extension.
    """
    line = line_of(error, owns) or shown(path)
    if isinstance(error, ImportError) and len(missing := missing_names(Path(line.rpartition(":")[0] or line))) > 1:
        listed = "; ".join(f"line {number}: {name}" for number, name in missing)
        return ConversionError(f"the file cannot be loaded, since moir lacks {len(missing)} names that it imports: {listed}", location=line)
    hint = nearest_attribute(error)
    through = "" if line.startswith(shown(path)) else f", which {shown(path)} imports,"
    return ConversionError(f"the file{through} cannot be loaded: {reason_of(error)}", location=line, hint=hint)


def nearest_attribute(error: BaseException) -> str | None:
    """A hint for an AttributeError: the most similar attribute that the object has. None for any other error."""
    if not isinstance(error, AttributeError) or not error.name or error.obj is None:
        return None
    return did_you_mean(error.name, [name for name in dir(error.obj) if not name.startswith("_")])


MISSING_NAMES = "moir.model_optimizer.missing_names:missing_names"
"""The function that lists the imports of a file from Model Optimizer which moir does not have.

It is in a layer above this module and therefore loaded by name.
"""


def missing_names(path: Path) -> list[tuple[int, str]]:
    """The line and the name of each import of a file from Model Optimizer that moir does not have."""
    return load(MISSING_NAMES)(path)


def failure(error: BaseException, what: str, owns: OwnsFile) -> ConversionError:
    """The error for an exception in an extension's code.

    Args:
        error: the exception.
        what: the part of the extension that failed, for the message: `run_after of transformation …`.
        owns: whether a file belongs to an extension.

    Returns an error with line, operation and node as far as the traceback contains them.
    """
    from moir.dialects.names import name_of
    from moir.rewriting.failing_operation import failing_operation

    line = line_of(error, owns)
    location = f"{what} ({line})" if line is not None else what
    operation, node, reason, hint = None, None, reason_of(error), nearest_attribute(error)
    if isinstance(error, ConversionError):
        operation, node, hint = error.operation, error.node, error.hint
        reason = f"{error.location}: {error.reason}" if error.location else error.reason
    if operation is None and node is None and (op := failing_operation(error.__traceback__)) is not None:
        operation, node = op.name, name_of(op)
    return ConversionError(reason, operation=operation, node=node, location=location, hint=hint)


def failure_in_program(error: BaseException, what: str) -> ConversionError | None:
    """The error for an exception in the user's own program: a lowering, a pattern or a pass that stands in a script.

    `what` is the part that failed, for the message. Returns None if no frame of the traceback is in a file outside of
    moir, the standard library and installed packages.
    """
    return None if line_of(error, _is_of_program) is None else failure(error, what, _is_of_program)


def _is_of_program(file: str) -> bool:
    """Whether a file exists and is neither a module of moir, nor of Python, nor of an installed package."""
    return not any(file.startswith(folder) for folder in _library_folders()) and Path(file).is_file()


@cache
def _library_folders() -> tuple[str, ...]:
    """The folders of moir, of the standard library and of installed packages, each with a separator at its end."""
    installed = sysconfig.get_paths()
    folders = {installed[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(f"{folder}{os.sep}" for folder in (*sorted(folders), str(Path(__file__).parents[1])))
