"""Reshape · Transpose · Reshape, as which frameworks without an operation for it write that elements are regrouped.

A pass that fuses a kind of regrouping is a `RegroupingPass` with a `RegroupingPattern` that says what the three
operations are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from moir.analysis.dimensions import Dimensions, Tokens
from moir.analysis.uses import has_one_live_use
from moir.dialects.moir import all_blocks
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter, rewrite


class Regrouping(NamedTuple):
    """The data, its dimensions, those between the first Reshape and the Transpose, the order of that, and those of the
    result.
    """

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
    order = transpose.permutation(known)
    source, parts, target = (known.tokens(value) for value in (first.operands[0], first.results[0], op.results[0]))
    if order is None or source is None or parts is None or target is None:
        return None
    return Regrouping(first.operands[0], source, parts, order, target)


def has_regroupings(module: Operation) -> bool:
    """Whether a Reshape follows a Transpose anywhere in a module."""
    ops = (op for block in all_blocks(module) for op in block.ops)
    return any(isinstance(op, Reshape) and isinstance(op.operands[0].owner, Transpose) for op in ops)


class RegroupingPattern(Pattern):
    """Replaces the last Reshape of a regrouping by the operation that `fused` builds."""

    roots = (Reshape,)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(rewriter, Rewriter)
        found = regrouping_of(op, self.known)
        value = None if found is None else self.fused(found, rewriter.op)
        if value is not None:
            rewriter.replace_with(op, value)

    def fused(self, found: Regrouping, op: OpBuilder) -> SSAValue | None:
        """The one operation that does the same; None, and nothing built, if there is none."""
        raise NotImplementedError


@dataclass(frozen=True)
class RegroupingPass(ModulePass):
    """A pass that fuses regroupings of one kind."""

    PATTERN: ClassVar[type[RegroupingPattern]]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if has_regroupings(op):
            known = Dimensions(static=True).scan(op)
            rewrite(op, [self.PATTERN(known)], known=known)
