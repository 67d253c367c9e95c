"""Which operation an exception is about."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from xdsl.ir import Operation

VIEWS = {"LoweringNode": "op", "MoLoweringNode": "op", "GraphNode": "_subject"}
"""Classes of views of one operation, by name since their modules may not be loaded -> the attribute with the operation.
"""


def failing_operation(trace: TracebackType | None) -> Operation | None:
    """The operation that was worked on: the innermost one that is a variable of a function on the stack, or what one is
    a view of.
    """
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
    attribute = VIEWS.get(type(value).__name__)
    if attribute is None:
        return None
    try:
        # Not `getattr`, which a node of a graph redefines. An exception in `__init__` leaves the attribute unset.
        viewed = object.__getattribute__(value, attribute)
    except AttributeError:
        return None
    return viewed if isinstance(viewed, Operation) else None
