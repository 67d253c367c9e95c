"""Operations that a stage should have replaced, listed for an error message."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from moir.dialects.framework import decode_kind
from moir.dialects.moir import all_blocks
from moir.dialects.names import name_of

NAMES_SHOWN = 3
"""Maximum number of nodes that are named for each kind of operation."""


def remaining_operations(root: Operation, is_wanted: Callable[[Operation], bool]) -> dict[str, list[str]]:
    """The operations of a module, or of a model, that satisfy a predicate: lists of node names by operation name."""
    remaining: dict[str, list[str]] = {}
    for block in all_blocks(root):
        for op in block.ops:
            if is_wanted(op):
                unregistered = op.attributes.get("op_name__")
                remaining.setdefault(op.name if unregistered is None else str(unregistered), []).append(name_of(op) or "")
    return remaining


def kinds_and_names(operations: dict[str, list[str]]) -> str:
    """Operation names, as the framework spells them, with the names of the first nodes of each.

    `tf.A ('x', 'y', 'z', … 5 in all); keras.zoo>B ('w')`
    """
    parts: list[str] = []
    for kind, names in sorted(operations.items()):
        more = f", … {len(names)} in all" if len(names) > NAMES_SHOWN else ""
        parts.append(f"{decode_kind(kind)} ({', '.join(map(repr, names[:NAMES_SHOWN]))}{more})")
    return "; ".join(parts)
