"""Loop counters of a While operation, and the trip count that its condition computes from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import integer_of, kind_of, origin, origin_of_kind
from moir.dialects.opset.control_flow import results_of
from moir.dialects.opset.infrastructure import Constant

DEEPEST_BOUND = 32
"""The maximum number of dependent operations by which a condition computes a bound."""


class Counters:
    """The loop variables of a While that start at a constant and grow by 1 in each iteration.

    Args:
        op: the While.
        cond: the block of its condition region.
        variables: for each loop variable, its initial value, its Parameter in the condition, its Parameter in the body,
            and the value that the body yields for the next iteration.
    """

    def __init__(self, op: FrameworkOp, cond: Block, variables: Sequence[tuple[SSAValue, SSAValue, SSAValue, SSAValue]]) -> None:
        self.op, self.cond = op, cond
        self.starts: dict[SSAValue, int] = {}
        """The start of each counter, keyed by its Parameters in the condition and in the body."""
        self.invariants: dict[SSAValue, SSAValue] = {}
        """The operand of the While for each loop-invariant Parameter of the condition and of the body."""
        for initial, condition, parameter, value in variables:
            if origin(value) is parameter:
                self.invariants[condition] = self.invariants[parameter] = initial
        for initial, condition, parameter, value in variables:
            if (start := integer_of(initial)) is not None and self._is_next(value, parameter):
                self.starts[condition] = self.starts[parameter] = start

    def start(self, value: SSAValue) -> int | None:
        """The first value of a counter, or of a counter plus or minus a constant; None for any other value."""
        if (first := self.starts.get(origin(value))) is not None:
            return first
        op = origin_of_kind(value, "AddV2", "Add", "Sub")
        if op is None:
            return None
        (a, b), sign = op.operands, -1 if kind_of(op) == "Sub" else 1
        for counter, other in ((a, b), (b, a)) if sign > 0 else ((a, b),):
            start, constant = self.starts.get(origin(counter)), self._integer(other)
            if start is not None and constant is not None:
                return start + sign * constant
        return None

    def _integer(self, value: SSAValue) -> int | None:
        """The integer of a constant, or of a loop-invariant variable that is a constant; None for any other value."""
        return integer_of(self.invariants.get(origin(value), value))

    def _is_next(self, value: SSAValue, parameter: SSAValue) -> bool:
        """Whether a value is a Parameter plus 1, so that the Parameter is a counter."""
        addition = origin_of_kind(value, "AddV2", "Add")
        if addition is None:
            return False
        a, b = addition.operands
        return (origin(a) is parameter and self._integer(b) == 1) or (origin(b) is parameter and self._integer(a) == 1)

    def bounds(self) -> list[tuple[int, SSAValue]]:
        """The bounds of all counters, as (start of the counter, bound), if the condition only compares counters.

        An empty list if the condition contains anything else. The bounds are defined before the While.
        """
        bounds: dict[SSAValue, int] = {}
        for condition in _conjuncts(results_of(self.cond)[0]):
            bound = self._bound(condition)
            if bound is None:
                return []
            start, value = bound
            bounds[value] = max(start, bounds.get(value, start))
        return [(start, value) for value, start in bounds.items()]

    def _bound(self, condition: SSAValue) -> tuple[int, SSAValue] | None:
        comparison = origin_of_kind(condition, "Less", "LessEqual", "Greater", "GreaterEqual")
        if comparison is None:
            return None
        counter, bound = comparison.operands if kind_of(comparison).startswith("Less") else reversed(comparison.operands)
        start = self.starts.get(origin(counter))
        if start is None or (outside := self._outside(bound)) is None:
            return None
        return start - kind_of(comparison).endswith("Equal"), outside

    def _outside(self, value: SSAValue, depth: int = 0) -> SSAValue | None:
        """Clone the computation of a loop-invariant value of the condition before the While, and return the clone's
        value.

        Returns None if the value is not loop-invariant, or its computation has more than `DEEPEST_BOUND` levels;
        `depth` is the level of the value.
        """
        value = origin(value)
        if value in self.invariants:
            return origin(self.invariants[value])
        op = value.owner
        if not isinstance(op, FrameworkOp | Constant) or op.regions or depth > DEEPEST_BOUND:
            return None
        operands: dict[SSAValue, SSAValue] = {}
        for operand in op.operands:
            outside = self._outside(operand, depth + 1)
            if outside is None:
                return None
            operands[operand] = outside
        clone = op.clone(operands)
        assert self.op.parent is not None
        self.op.parent.insert_op_before(clone, self.op)
        return clone.results[op.results.index(value)]


def _conjuncts(value: SSAValue) -> Iterator[SSAValue]:
    """The operands of the logical ands that compute a boolean value; constants that are true are left out."""
    pending = [value]
    while pending:
        current = origin(pending.pop())
        conjunction = origin_of_kind(current, "LogicalAnd")
        if conjunction is not None:
            pending.extend(reversed(conjunction.operands))
        elif not _is_true(current):
            yield current


def _is_true(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, Constant) and owner.value.array.size == 1 and bool(owner.value.array.all())
