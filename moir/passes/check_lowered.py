"""`check-lowered`: no operation of a framework dialect is left. Changes nothing.

The error lists every kind that is left, how often, and the first nodes of it, at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.dialects.assembly import name_of
from moir.dialects.framework import FrameworkOp
from moir.errors import UnsupportedOperationError
from moir.passes.rewriting import all_blocks

NAMES_SHOWN = 3


@dataclass(frozen=True)
class CheckLoweredPass(ModulePass):
    """Raises UnsupportedOperationError if a framework operation is left."""

    name = "check-lowered"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        left: dict[str, list[str]] = {}
        for block in all_blocks(op):
            for each in block.ops:
                if isinstance(each, FrameworkOp):
                    left.setdefault(each.name, []).append(name_of(each) or "")
        if not left:
            return
        parts: list[str] = []
        for kind, names in sorted(left.items()):
            more = f", … {len(names)} in all" if len(names) > NAMES_SHOWN else ""
            parts.append(f"{kind} ({', '.join(map(repr, names[:NAMES_SHOWN]))}{more})")
        raise UnsupportedOperationError(
            f"no lowering for {len(left)} kind{'s' if len(left) > 1 else ''} of operation: {'; '.join(parts)}",
            hint="write a lowering for each, see README.md, 'Adding a lowering'",
        )
