"""What has to be true before a module can be written: every operation in it belongs to OpenVINO IR."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from moir.dialects.assembly import name_of
from moir.dialects.moir import NoneOp
from moir.dialects.opset.base import OpsetOp
from moir.errors import EmissionError

_SHOWN = 3


def check_lowered(block: Block) -> None:
    """Raise an EmissionError that lists, by kind, all operations of a block and of the bodies in it that the IR does not have."""
    foreign: dict[str, list[str]] = {}
    pending = [block]
    while pending:
        for op in pending.pop().ops:
            if not isinstance(op, OpsetOp | NoneOp):
                foreign.setdefault(_kind(op), []).append(name_of(op) or "unnamed")
            elif op.regions:
                pending.extend(inner for region in op.regions for inner in region.blocks)
    if foreign:
        kinds = "; ".join(f"{kind} ({_names(names)})" for kind, names in sorted(foreign.items()))
        raise EmissionError(f"operations are left that are none of OpenVINO IR: {kinds}", hint="lower them, or cut the model before them")


def _kind(op: Operation) -> str:
    unregistered = op.attributes.get("op_name__")
    return op.name if unregistered is None else str(unregistered)


def _names(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return f"{shown}, and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
