"""`simplify-indices`: negative indices are left to Gather, in place of the program's own computation from the end.

    %n = opset1.Less(%i, 0)
    %w = opset1.Select(%n, opset1.Add(%i, 50), %i)
    %c = opset1.Maximum(opset1.Minimum(%w, 49), 0)
    %y = opset8.Gather(%x, %c, 0)                     // %x: [50, 8]
->  %c = opset1.Maximum(opset1.Minimum(%i, 49), -50)
    %y = opset8.Gather(%x, %c, 0)

    %a = opset1.LogicalAnd(opset1.GreaterEqual(%w, 0), opset1.LessEqual(%w, 49))
->  %a = opset1.Equal(%c, %i)

    %z = opset1.Select(opset1.Unsqueeze(%a, 1), %y, nan)
->  %z = opset8.Gather([nan; %x], opset8.Gather([1 … 50], %i, 0), 0)    // Gather reads zeros beyond the data

    %r = opset1.Mod(%i, 6)
    %s = opset1.Select(opset1.Less(%r, 0), opset1.Add(%r, 6), %r)
->  %s = opset1.FloorMod(%i, 6)

    %l = opset1.Concat(%a, %b, %c) {axis = 0}         // each of one element
    %e = opset8.Gather(%l, [1], 0)
->  %b

JAX counts from the end, limits and checks each index of an array in this way. An Unsqueeze between %w and the
comparisons moves after them. A table that is no constant, or that something else reads too, stays as it is:

->  %z = opset1.Select(opset8.Gather(50 times true, %i, 0), opset8.Gather(%x, %i, 0), nan)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, values_of
from moir.analysis.dimensions import Dimensions
from moir.analysis.index_ranges import bounds_of, certainty, checked, limited, number_of, wrapped
from moir.analysis.uses import has_one_live_use
from moir.dialects.data import Array
from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.large_arrays import Values, computed
from moir.dialects.opset.arithmetic import Maximum, Minimum
from moir.dialects.opset.comparison import GreaterEqual, LessEqual, LogicalAnd, Select
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.interfaces.bounds import integer_limits
from moir.dialects.opset.movement import Concat
from moir.dialects.opset.shape import Unsqueeze
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.dialects.symbols import same
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Pattern, Rewriter
from moir.rewriting.rules import FusionRule, Match


def within(op: OpBuilder, index: SSAValue, size: int) -> SSAValue:
    """Clamp an index to the indices that Gather accepts for a dimension of this size: -size … size - 1."""
    return op.Maximum(op.Minimum(index, op.constant_like(size - 1, index)), op.constant_like(-size, index))


def same_shape(known: Dimensions, a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are known to have the same shape."""
    first, second = known.tokens(a), known.tokens(b)
    return first is not None and second is not None and len(first) == len(second) and all(map(same, first, second))


class NeedlessLimit(DimensionsPattern):
    """Removes a Minimum or Maximum of integers whose other operand is known to be within the limit."""

    roots = (Minimum, Maximum)

    def may_match(self, op: Operation) -> bool:
        return integer_limits(element_of(op.results[0])) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for value, limit in (op.operands, reversed(op.operands)):
            (least, most), (low, high) = bounds_of(value), bounds_of(limit)
            is_within = most <= low if isinstance(op, Minimum) else least >= high
            if is_within and same_shape(self.known, value, op.results[0]):
                rewriter.replace_with(op, value)
                return


class ConstantSelect(DimensionsPattern):
    """Replaces a Select whose condition on integers is always true or always false by the operand that it selects."""

    roots = (Select,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        if (certain := certainty(op.operands[0])) is None:
            return
        chosen = op.operands[1 if certain else 2]
        if element_of(chosen) == element_of(op.results[0]) and same_shape(self.known, chosen, op.results[0]):
            rewriter.replace_with(op, chosen)


NEGATIVE_NUMBER = FusionRule(
    name="NegativeNumber",
    pattern=lambda op, x: op.LogicalAnd(op.Less(x, 0), op.NotEqual(x, 0)),
    rewrite=lambda _, match: match.operation("Less").results[0],
    shared=True,
)
"""Removes `x != 0` from `x < 0 and x != 0`, which `x < 0` implies."""


def floored_remainder(op: OpBuilder, match: Match) -> SSAValue | None:
    """A FloorMod; None unless the divisor is positive and the operands are indices."""
    divisor = match.scalar("divisor")
    is_index = element_of(match["x"]) in (si32, si64)
    return op.FloorMod(match["x"], match["divisor"]) if is_index and divisor is not None and divisor > 0 else None


POSITIVE_REMAINDER = FusionRule(
    name="PositiveRemainder",
    pattern=lambda op, x: op.Select(
        op.Less(op.Mod(x, op.constant("divisor")), 0),
        op.Add(op.Mod(x, op.constant("divisor")), op.constant("divisor")),
        op.Mod(x, op.constant("divisor")),
    ),
    rewrite=floored_remainder,
    shared=True,
)
"""Fuses a Mod and the Select that adds the divisor to negative remainders into a FloorMod."""


class WrappedIndex(Pattern):
    """Gives a Gather the negative index itself instead of its sum with the size: Gather accepts both."""

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[1].owner, Maximum | Minimum)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        source, axis, shape = limited(op.operands[1]), number_of(op.operands[2]), shape_of(op.operands[0])
        index = wrapped(source.index)
        if index is None or axis is None or shape is None or shape[axis] != index.size:
            return
        if (source.low, source.high) == (0, index.size - 1):
            assert isinstance(op, Gather)
            indices = within(rewriter.op, index.index, index.size)
            rewriter.replace_with(op, rewriter.op.Gather(op.operands[0], indices, op.operands[2], batch_dims=op.integer("batch_dims")))


class WrappedRange(Pattern):
    """Replaces the two comparisons of a wrapped index with the first and the last index by one comparison of the index
    itself.
    """

    roots = (LogicalAnd,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for low, high in (op.operands, reversed(op.operands)):
            if not isinstance(low.owner, GreaterEqual) or not isinstance(high.owner, LessEqual):
                continue
            value = low.owner.operands[0]
            if value is not high.owner.operands[0] or number_of(low.owner.operands[1]) != 0:
                continue
            inserted = value.owner if isinstance(value.owner, Unsqueeze) else None
            index = wrapped(value if inserted is None else inserted.operands[0])
            if index is None or number_of(high.owner.operands[1]) != index.size - 1:
                continue
            is_inside = rewriter.op.Equal(within(rewriter.op, index.index, index.size), index.index)
            rewriter.replace_with(op, is_inside if inserted is None else rewriter.op.Unsqueeze(is_inside, inserted.operands[1]))
            return


class FilledGather(Pattern):
    """Appends the filler, which a Select takes for indices out of range, to the Gather's table as a row, and removes
    the Select.

    A table that is computed keeps its Select, whose condition is then gathered from a table of booleans.
    """

    roots = (Select,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[1].owner, Gather) and values_of(op.operands[2]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        condition, gathered, filler = op.operands
        gather, fill = gathered.owner, constant_of(filler)
        assert isinstance(gather, Gather)
        data, axis, shape = gather.operands[0], number_of(gather.operands[2]), shape_of(gather.operands[0])
        if shape is None or axis is None or gather.integer("batch_dims") or fill is None or fill.size != 1 or fill.ndim > len(shape):
            return
        axis %= len(shape)
        size, limits = shape[axis], limited(gather.operands[1])
        condition_limits = checked(condition, limits.index, len(shape) - axis - 1)
        # Declines if clamping changes indices for which the Select takes the gathered element.
        if size < 1 or condition_limits is None or not condition_limits.holds(size) or not limits.keeps(size):
            return
        build, table, index = rewriter.op, values_of(data), condition_limits.index
        if len(shape) == 1 and table is None:
            # Not all targets read a zero beyond a computed 1-D tensor of integers.
            return
        if not any(fill.tobytes()):
            # Gather returns 0 for indices out of range, so a filler of 0 needs no row.
            rewriter.replace_with(op, build.Gather(data, index, axis))
        elif isinstance(table, np.ndarray) and has_one_live_use(data) and has_one_live_use(gathered):
            numbers = build.constant(np.arange(1, size + 1), element_of(index))
            rows = build.constant(with_first(fill, table, axis), element_of(data))
            rewriter.replace_with(op, build.Gather(rows, build.Gather(numbers, index, 0), axis))
        else:
            inside = build.constant(np.ones((size, *[1] * (len(shape) - axis - 1)), bool), boolean)
            rewriter.replace_with(op, build.Select(build.Gather(inside, index, 0), build.Gather(data, index, axis), filler))


def with_first(filler: Array, table: Array, axis: int) -> Values:
    """A table with a slice of `filler` inserted before its first slice along an axis; computed lazily."""
    indices: list[Array] = []
    for index, size in enumerate(table.shape):
        first = -1 if index == axis else 0
        line: Array = np.arange(first, size, dtype=np.int64)
        indices.append(np.expand_dims(line, tuple(range(1, table.ndim - index))))
    return computed(partial(filled_elements, filler.reshape(()), table, axis), *indices)


def filled_elements(filler: Array, table: Array, axis: int, *indices: Array) -> Array:
    """The elements of a table at broadcast `indices`, one array for each axis; `filler` where the index along `axis` is
    -1.
    """
    read: Sequence[Array] = [np.maximum(each, 0) if index == axis else each for index, each in enumerate(indices)]
    return np.where(indices[axis] < 0, filler, table[tuple(read)])


class ElementOfConcat(Pattern):
    """Replaces the selection of an entry from concatenated 1-D tensors of one element by the tensor that has it."""

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Concat)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        joined, index = op.operands[0].owner, number_of(op.operands[1])
        assert isinstance(joined, Concat)
        parts = list(joined.operands)
        if index is None or any(shape_of(part) != (1,) for part in parts) or not -len(parts) <= index < len(parts):
            return
        value = parts[index]
        if rank_of(op.operands[1]) == 0:
            value = rewriter.op.Squeeze(value, [0])
        if element_of(value) == element_of(op.results[0]):
            rewriter.replace_with(op, value)


class SimplifyIndicesPass(DimensionsPass):
    """Simplifies the limits and comparisons of indices, and reads elements of a Concat from its operands."""

    name = "simplify-indices"

    KEEPS_DIMENSIONS = True

    ROOTS = (Gather, LogicalAnd, Maximum, Minimum, Select)

    PATTERNS = (
        *(NEGATIVE_NUMBER, POSITIVE_REMAINDER, NeedlessLimit, ConstantSelect),
        *(WrappedIndex, WrappedRange, FilledGather, ElementOfConcat),
    )

    STATIC = True
