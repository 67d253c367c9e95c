"""`check-lowered`: verifies that no operation of a framework dialect is left. Changes nothing.

One error lists every remaining kind with its count and its first nodes. An operation that an extension built without a
`type` may stay if it has a function `infer`: a transformation of a later phase has to replace it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.analysis.remaining_operations import kinds_and_names, remaining_operations
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp
from moir.dialects.python_object import python_entries
from moir.errors import UnsupportedOperationError


def may_stay(op: FrameworkOp) -> bool:
    """Whether an operation was built by an extension and infers its own types."""
    return op.name.startswith(f"{MODEL_OPTIMIZER}.") and callable(python_entries(op).get("infer"))


_HINT = "write a lowering for each, see README.md, 'Adding a lowering', and docs/extending.md"
_HINT_FOR_EXTENSIONS = "give each operation a type, or replace it in a transformation that runs later, see docs/extending.md"


@dataclass(frozen=True)
class CheckLoweredPass(ModulePass):
    """Raises UnsupportedOperationError if the module contains framework operations."""

    name = "check-lowered"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        left = remaining_operations(op, lambda each: isinstance(each, FrameworkOp) and not may_stay(each))
        if not left:
            return
        raise UnsupportedOperationError(
            f"no lowering for {len(left)} kind{'s' if len(left) > 1 else ''} of operation: {kinds_and_names(left)}",
            hint=_HINT_FOR_EXTENSIONS if all(kind.startswith(f"{MODEL_OPTIMIZER}.") for kind in left) else _HINT,
        )
