"""The sequence Reshape, Transpose, Reshape, by which frameworks express a regrouping of elements.

A pass that fuses one kind of regrouping is a `RegroupingPass` with a `RegroupingPattern` that builds the operation.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions, Tokens
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Rewriter
from moir.support.records import Record


class Regrouping(Record):
    """A Reshape, Transpose and Reshape in sequence, which regroup the elements of a value.

    Args:
        value: the data.
        source: dimensions of the data.
        parts: dimensions between the first Reshape and the Transpose.
        order: permutation of the Transpose.
        target: dimensions of the result.
    """

    value: SSAValue
    source: Tokens
    parts: Tokens
    order: tuple[int, ...]
    target: Tokens


def reshapes_transposition(op: Reshape) -> bool:
    """Whether the operand of a Reshape is a Transpose whose operand is the result of another Reshape."""
    transpose = op.operands[0].owner
    return isinstance(transpose, Transpose) and isinstance(transpose.operands[0].owner, Reshape)


def regrouping_of(op: Operation, known: Dimensions) -> Regrouping | None:
    """The Reshape, Transpose and Reshape of which `op` is the last one.

    None for any other operation, if an intermediate value has other live uses, if the order is computed, or if a rank
    is dynamic.
    """
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


class RegroupingPattern(DimensionsPattern):
    """Base of the patterns that replace a Reshape, Transpose and Reshape by one operation, which `fused` builds."""

    roots = (Reshape,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        regrouping = regrouping_of(op, self.known)
        value = None if regrouping is None else self.fused(regrouping, rewriter.op)
        if value is not None:
            rewriter.replace_with(op, value)

    def fused(self, regrouping: Regrouping, op: OpBuilder) -> SSAValue | None:
        """Build the operation that computes the same as a Reshape, Transpose and Reshape.

        Returns None, with nothing built, if the pattern's operation does not.
        """
        raise NotImplementedError


class RegroupingPass(DimensionsPass):
    """Base of the passes that fuse a Reshape, Transpose and Reshape into a DepthToSpace, SpaceToDepth or
    ShuffleChannels.

    `PATTERNS` of a subclass has the `RegroupingPattern` of its operation.
    """

    ROOTS = (Reshape,)

    COMPANIONS = ((Transpose,),)

    KEEPS_DIMENSIONS = True

    STATIC = True

    def may_match(self, analyses: Analyses) -> bool:
        return any(map(reshapes_transposition, analyses.operations(Reshape)))
