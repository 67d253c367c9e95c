"""Records where an extension created a node (file, line and function), for messages about the node.

An operation that an extension makes may turn out to be impossible only when it is lowered, far from the code at fault.
"""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from pathlib import Path
from types import CodeType
from weakref import WeakKeyDictionary

from xdsl.ir import Operation

from moir import errors
from moir.extensions.failures import shown

_NOT_EXTENSIONS = tuple(
    {f"{Path(errors.__file__).parent}/", *(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "purelib", "platlib")), "<"}
)

_PLACES: WeakKeyDictionary[Operation, tuple[CodeType, int]] = WeakKeyDictionary()


def is_outside(filename: str) -> bool:
    """Whether a file belongs neither to moir nor to a package, so that it is one of an extension or of a program."""
    return not filename.startswith(_NOT_EXTENSIONS)


def note_place(op: Operation) -> None:
    """Store the current line of the extension in an operation, as the place where it was created."""
    frame = inspect.currentframe()
    while frame is not None and not is_outside(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None:
        _PLACES[op] = frame.f_code, frame.f_lineno


def place_of(op: Operation) -> str | None:
    """`file:line (Class.function)`, the place where an operation was created; None if it is not known."""
    if op not in _PLACES:
        return None
    code, line = _PLACES[op]
    return f"{shown(Path(code.co_filename))}:{line} ({code.co_qualname})"


def place_of_function(function: object) -> str | None:
    """`file:line`, the place where a function begins; None if its file does not belong to an extension."""
    code = getattr(function, "__code__", None)
    return f"{shown(Path(code.co_filename))}:{code.co_firstlineno}" if code is not None and is_outside(code.co_filename) else None


def passed_outside(error: BaseException | None) -> bool:
    """Whether the traceback of a caught exception, or of one of its causes, contains a file of an extension."""
    while error is not None:
        if any(is_outside(frame.filename) for frame in traceback.extract_tb(error.__traceback__)):
            return True
        error = error.__cause__
    return False
