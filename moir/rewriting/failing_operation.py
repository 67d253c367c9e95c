"""Which operation an exception is about."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from xdsl.ir import Operation


def failing_operation(trace: TracebackType | None) -> Operation | None:
    """The operation that was worked on: the innermost one that is a variable of a function on the stack, or what one is a view of."""
    found: Operation | None = None
    while trace is not None:
        for value in list(trace.tb_frame.f_locals.values()):
            op = _operation(value)
            if op is not None and op.parent is not None and not op.name.endswith(".model"):
                found = op
        trace = trace.tb_next
    return found


def _operation(value: Any) -> Operation | None:
    if isinstance(value, Operation):
        return value
    # A view of an operation: a node that is lowered, or one of a graph, which may not be complete yet.
    for attribute in ("op", "_subject") if type(value).__name__ == "Node" else ():
        try:
            viewed = object.__getattribute__(value, attribute)
        except AttributeError:
            continue
        if isinstance(viewed, Operation):
            return viewed
    return None
