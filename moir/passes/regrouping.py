"""Reshape · Transpose · Reshape, as which frameworks without an operation for it write that elements are regrouped."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.passes.cancel_transposes import order_of
from moir.passes.dimensions import Dimensions, Tokens
from moir.passes.rewriting import all_blocks
from moir.passes.uses import has_one_live_use


class Regrouping(NamedTuple):
    """The data, its dimensions, those between the first Reshape and the Transpose, the order of that, and those of the result."""

    value: SSAValue
    source: Tokens
    parts: Tokens
    order: tuple[int, ...]
    target: Tokens


def regrouping_of(op: Operation, known: Dimensions) -> Regrouping | None:
    """What ends in a Reshape, if its intermediate values have no other uses; None for anything else."""
    if not isinstance(op, Reshape) or not isinstance(transpose := op.operands[0].owner, Transpose):
        return None
    first = transpose.operands[0].owner
    if not isinstance(first, Reshape) or not has_one_live_use(first.results[0]) or not has_one_live_use(transpose.results[0]):
        return None
    order = order_of(transpose, known)
    source, parts, target = (known.tokens(value) for value in (first.operands[0], first.results[0], op.results[0]))
    if order is None or source is None or parts is None or target is None:
        return None
    return Regrouping(first.operands[0], source, parts, order, target)


def has_regroupings(module: Operation) -> bool:
    """Whether a Reshape follows a Transpose anywhere in a module."""
    ops = (op for block in all_blocks(module) for op in block.ops)
    return any(isinstance(op, Reshape) and isinstance(op.operands[0].owner, Transpose) for op in ops)
