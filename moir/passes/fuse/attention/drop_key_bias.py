"""`drop-key-bias`: a constant that is added to all keys of attention is left out.

    %1 = opset1.Add(opset1.MatMul(%x, %w), %bias)         // %bias: [48]
    %2 = opset1.Reshape(%1, [0, 0, 4, 12])
    %k = opset1.Transpose(%2, [0, 2, 1, 3])
    %y = opset13.ScaledDotProductAttention(%q, %k, %v)
->  %2 = opset1.Reshape(opset1.MatMul(%x, %w), [0, 0, 4, 12])
    …

Its product with a query is one number for all keys, which does not change the softmax of the scores.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import weight_of
from moir.analysis.known_values import KnownValues
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import rank_of
from moir.dialects.symbols import same
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Rewriter

ATTENTION = "opset13.ScaledDotProductAttention"
"""The operation by its name, so that its class is imported only for models that have one."""

NOTHING_KNOWN = KnownValues()


class KeyBias(DimensionsPattern):
    """Removes the nearest Add of a constant to the keys of attention, which does not change the softmax."""

    roots = (ATTENTION,)

    def may_match(self, op: Operation) -> bool:
        # A number that is added to all scores changes their proportion to a sink.
        return len(op.operands) < 6

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        query, key, *others = op.operands
        unbiased = self.unbiased(key)
        if unbiased is None:
            return
        value, moves = unbiased
        for move in reversed(moves):
            more = {"special_zero": move.flag("special_zero")} if isinstance(move, Reshape) else {}
            value = rewriter.op[move.name](value, move.operands[1], **more)
        rewriter.replace_with(op, rewriter.op.ScaledDotProductAttention(query, value, *others, causal=op.flag("causal")))

    def unbiased(self, key: SSAValue) -> tuple[SSAValue, list[Transpose | Reshape]] | None:
        """The keys before a constant is added to all of them, and the operations that move the keys after it, the last
        one first.

        None if there is no such constant.
        """
        moves: list[Transpose | Reshape] = []
        axis = (rank_of(key) or 0) - 2
        while axis >= 0 and has_one_live_use(key):
            op = key.owner
            if isinstance(op, Add):
                data = self.without_constant(op, axis)
                return None if data is None else (data, moves)
            if isinstance(op, Transpose) and (order := op.permutation(NOTHING_KNOWN)) is not None:
                axis = order[axis]
            elif not isinstance(op, Reshape) or not self.keeps(op, axis):
                return None
            moves.append(op)
            key = op.operands[0]
        return None

    def without_constant(self, op: Add, axis: int) -> SSAValue | None:
        """The operand of an addition whose other operand is a constant that does not vary along an axis; None for other
        additions.
        """
        if op.text("auto_broadcast") != "numpy":
            return None
        for data, constant in (op.operands, reversed(op.operands)):
            values, tokens, added = weight_of(constant), self.known.tokens(data), self.known.tokens(op.results[0])
            if values is None or tokens is None or added is None or len(tokens) != len(added) or not all(map(same, tokens, added)):
                continue
            own_axis = axis - len(tokens) + values.ndim
            if own_axis < 0 or values.shape[own_axis] == 1:
                return data
        return None

    def keeps(self, op: Reshape, axis: int) -> bool:
        """Whether a Reshape keeps all dimensions before and including an axis."""
        source, result = self.known.tokens(op.operands[0]), self.known.tokens(op.results[0])
        if source is None or result is None or len(source) <= axis + 1:
            return False
        return all(map(same, source[: axis + 1], result[: axis + 1]))


class DropKeyBiasPass(DimensionsPass):
    """Leaves out constants that are added to all keys of attention."""

    name = "drop-key-bias"

    ROOTS = (ATTENTION,)

    COMPANIONS = ((Add,),)

    PATTERNS = (KeyBias,)
