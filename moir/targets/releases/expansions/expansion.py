"""Expansions: functions that build what an operation computes from operations of older operation sets.

A function has the builder and the operation, and returns the values that replace its results; None if it declines. A
function may build newer operations than the release reads: these are expanded in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter

Expansion: TypeAlias = Callable[[OpBuilder, OpsetOp], "SSAValue | Sequence[SSAValue] | None"]


class ExpansionPattern(Pattern):
    """Replaces an operation by its expansion.

    Args:
        operation: the name of the operation.
        expansion: builds what replaces it.
        when: a condition on the operation; by default all are replaced.
    """

    def __init__(self, operation: str, expansion: Expansion, when: Callable[[OpsetOp], bool] | None = None) -> None:
        self.roots = (operation,)
        self.expansion = expansion
        self.when = when

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, OpsetOp)
        return self.when is None or self.when(op)

    def __str__(self) -> str:
        return f"expansion of {self.roots[0]}"

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        values = self.expansion(rewriter.op, op)
        if values is not None:
            rewriter.replace_with(op, values)
