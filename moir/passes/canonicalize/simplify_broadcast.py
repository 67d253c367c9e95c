"""`simplify-broadcast`: redundant Broadcasts are removed, and computed targets become constants.

    %b = opset3.Broadcast(%x, ShapeOf(%y))
    %z = opset1.Add(%b, %y)
->  %z = opset1.Add(%x, %y)

    %b = opset3.Broadcast(%x, [Gather(ShapeOf(%x), [0]), 1, 8])       // x: (?, 4, 1)
->  %b = opset3.Broadcast(%x, [1, 1, 8]) {mode = "bidirectional"}

    %b = opset3.Broadcast(1.0, %target)
    %z = opset1.Multiply(%b, %x)
->  %z = opset3.Broadcast(%x, %target) {mode = "bidirectional"}
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.traits import Commutative

from moir.analysis.constants import values_of
from moir.analysis.dimensions import Token, Tokens
from moir.analysis.uses import live_uses
from moir.dialects.opset.comparison import Select
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.elementwise import BroadcastingOp
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.shapes import rank_of, shape_of
from moir.dialects.symbols import Symbol, same
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Pattern, Rewriter

MODES = ("numpy", "bidirectional")


class RedundantBroadcast(DimensionsPattern):
    """Removes a Broadcast that keeps the shape, or whose users broadcast the original value to the same shapes."""

    roots = (Broadcast,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Broadcast)
        if op.text("mode") not in MODES or not op.results[0].uses:
            return
        if _keeps_shape(op):
            rewriter.replace_with(op, op.operands[0])
        elif all(self._is_redundant(use.operation, op) for use in live_uses(op.results[0])):
            # The name of the result is dropped, since the data are another tensor.
            rewriter.substitute(op, op.operands[:1])

    def _is_redundant(self, user: Operation, op: Broadcast) -> bool:
        if not isinstance(user, BroadcastingOp | Select) or user.text("auto_broadcast") != "numpy":
            return False
        others = [operand for operand in user.operands if operand is not op.results[0]]
        if _has_sizes_already(op, others):
            return True
        target = self._target(op)
        shapes = [self.known.tokens(value) for value in (op.operands[0], *others)]
        without = [shape for shape in shapes if shape is not None]
        if target is None or len(without) < len(shapes):
            return False
        return _factors(without) == _factors([*without, target])

    def _target(self, op: Broadcast) -> Tokens | None:
        entries = self.known.elements(op.operands[1])
        return None if entries is None else tuple(entries.ravel().tolist())


def _keeps_shape(op: Broadcast) -> bool:
    """Whether each element of a constant target is the size of the data, or 1 in a bidirectional Broadcast."""
    shape, values = shape_of(op.operands[0]), values_of(op.operands[1])
    if op.text("mode") != "bidirectional" or shape is None or values is None or values.size > len(shape):
        return False
    target: list[int] = np.asarray(values).ravel().tolist()
    sizes = shape[len(shape) - len(target) :]
    return all(entry in (1, size) for entry, size in zip(target, sizes, strict=True))


def _has_sizes_already(op: Broadcast, others: Sequence[SSAValue]) -> bool:
    """Whether a bidirectional Broadcast with a constant target is a no-op, as each size other than 1 is a size of the
    data or of another operand.
    """
    values = values_of(op.operands[1])
    shapes = [shape_of(value) for value in (op.operands[0], *others)]
    if op.text("mode") != "bidirectional" or values is None or any(shape is None for shape in shapes):
        return False
    target: list[int] = np.asarray(values).ravel().tolist()
    return all(
        entry == 1 or any(len(shape or ()) >= index and (shape or ())[-index] == entry for shape in shapes)
        for index, entry in enumerate(reversed(target), 1)
    ) and len(target) <= max(len(shape or ()) for shape in shapes)


def _factors(shapes: Sequence[Tokens]) -> list[set[int | Symbol]]:
    """For each axis of the broadcast result, counted from the last one, the set of sizes other than 1."""
    rank = max(map(len, shapes))
    return [{shape[-axis] for shape in shapes if len(shape) >= axis and not same(shape[-axis], 1)} for axis in range(1, rank + 1)]


class BroadcastNeutralElement(Pattern):
    """Replaces an operation with a broadcast neutral element, as TensorFlow's `ones_like`, by a Broadcast."""

    roots = (BroadcastingOp,)

    def may_start_at(self, operation: type[Operation]) -> bool:
        return issubclass(operation, BroadcastingOp) and operation.NEUTRAL is not None

    def may_match(self, op: Operation) -> bool:
        return any(isinstance(operand.owner, Broadcast) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, BroadcastingOp)
        if op.text("auto_broadcast") != "numpy":
            return
        first, second = op.operands
        for kept, other in ((first, second), (second, first)):
            if (kept is first or op.has_trait(Commutative)) and self._is_neutral(other, op.NEUTRAL):
                assert isinstance(other.owner, Broadcast)
                rewriter.replace_with(op, rewriter.op.Broadcast(kept, other.owner.operands[1], mode="bidirectional"))
                return

    @staticmethod
    def _is_neutral(value: SSAValue, neutral: float | None) -> bool:
        """Whether a value is a Broadcast of a constant that equals `neutral`, to a target with as many elements as its
        rank.
        """
        if not isinstance(value.owner, Broadcast) or value.owner.text("mode") not in MODES:
            return False
        values, target = values_of(value.owner.operands[0]), shape_of(value.owner.operands[1])
        if values is None or values.size != 1 or target is None or rank_of(value) != target[0]:
            return False
        return bool(np.asarray(values).reshape(()) == neutral)


class ConstantTarget(DimensionsPattern):
    """Replaces the computed target of a Broadcast by a constant, with a 1 where the target is the dimension of the
    data.
    """

    roots = (Broadcast,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Broadcast)
        data, target = op.operands[:2]
        tokens, entries = self.known.tokens(data), self.known.elements(target)
        if op.text("mode") not in MODES or tokens is None or entries is None or isinstance(target.owner, Constant):
            return
        wanted: list[Token] = entries.ravel().tolist()
        lead = len(wanted) - len(tokens)
        pattern: list[int] = []
        for position, entry in enumerate(wanted):
            if not isinstance(entry, Symbol):
                pattern.append(int(entry))
            elif position >= lead and entry is tokens[position - lead]:
                pattern.append(1)
            else:
                return
        rewriter.replace_with(op, rewriter.op.Broadcast(data, np.array(pattern, np.int64), mode="bidirectional"))


class SimplifyBroadcastPass(DimensionsPass):
    """Removes Broadcasts or makes their targets constant."""

    name = "simplify-broadcast"

    KEEPS_DIMENSIONS = True

    ROOTS = (Broadcast,)

    PATTERNS = (BroadcastNeutralElement, RedundantBroadcast, ConstantTarget)

    FIXPOINT = True
