"""The text of the error by which the handler of a kind refuses it."""

from __future__ import annotations

from inspect import unwrap
from types import FunctionType
from typing import Any, cast

from moir.dialects.framework import operation_class
from moir.errors import UnsupportedOperationError
from moir.lowering.binder import LoweringNode
from moir.lowering.table import LoweringTable


def refusal_text(table: LoweringTable, kind: str, version: int = 1) -> str:
    """The reason and the hint of the error that the handler of a refused kind raises.

    Args:
        table: the table of lowerings.
        kind: a kind whose handler always raises an error: it reads nothing of the node but the kind.
        version: the version of the operation set.
    """
    handler = cast(FunctionType, unwrap(cast(Any, table.handler(kind, version))))
    node = LoweringNode(operation_class(table.framework, kind).create(), version, cast(Any, None))
    arguments = (node, None)[: handler.__code__.co_argcount]
    try:
        handler(*arguments)
    except UnsupportedOperationError as error:
        return f"{error.reason}; {error.hint}" if error.hint else error.reason
    raise AssertionError(f"the handler of {kind} raises no error")
