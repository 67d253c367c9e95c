"""The operation that an exception is about, found on the stack."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from xdsl.ir import Operation

from moir.errors import ConversionError

VIEWS = {"LoweringNode": "op", "MoLoweringNode": "op", "GraphNode": "_subject"}
"""The names of classes that wrap one operation, each with the attribute that holds the operation.

The classes are given by name because their modules may not be imported.
"""


def failing_operation(trace: TracebackType | None) -> Operation | None:
    """The operation that was processed when an exception was raised; None if no function on the stack has one.

    It is the operation, or wrapped operation, in a local variable of the innermost function that has one.
    """
    failing: Operation | None = None
    while trace is not None:
        for value in list(trace.tb_frame.f_locals.values()):
            op = _operation(value)
            if op is not None and op.parent is not None and not op.name.endswith(".model"):
                failing = op
        trace = trace.tb_next
    return failing


def subject_of(error: ConversionError) -> Operation | None:
    """The operation of the module that an error is about; None if the error names none, or if the operation no longer
    exists.
    """
    if isinstance(error.subject, Operation):
        return error.subject
    if error.operation is None:
        return None
    op = failing_operation(error.__traceback__)
    return op if op is not None and op.name == error.operation else None


def _operation(value: Any) -> Operation | None:
    if isinstance(value, Operation):
        return value
    attribute = VIEWS.get(type(value).__name__)
    if attribute is None:
        return None
    try:
        # Not `getattr`, which a node of a graph redefines. An exception in `__init__` leaves the attribute unset.
        viewed = object.__getattribute__(value, attribute)
    except AttributeError:
        return None
    return viewed if isinstance(viewed, Operation) else None
