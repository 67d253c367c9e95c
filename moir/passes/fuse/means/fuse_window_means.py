"""`fuse-window-means`: sums of windows that are divided by the numbers of their elements become means.

    %p = opset14.AvgPool(%x) {kernel = [3, 3], "exclude-pad" = false}
    %y = opset1.Divide(opset1.Multiply(%p, 9.0), 9.0)
->  %p

    %y = opset1.Divide(opset1.Multiply(%p, 9.0), %count)    // how many elements of the data each window has
->  %y = opset14.AvgPool(%x) {kernel = [3, 3], "exclude-pad" = true}

JAX has no mean of windows: its programs sum windows (here a mean times the size of a window) and divide by this size,
or by the sums of windows of ones. A Transpose may be between.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.analysis.dimensions import Dimensions
from moir.analysis.uses import has_one_live_use
from moir.dialects.data import Array
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.pooling import AvgPoolOp
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.properties import boolean_attribute
from moir.dialects.shapes import shape_of
from moir.dialects.symbols import same
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Rewriter
from moir.rewriting.reporting_pass import Needs, all_of, needs_of_roots
from moir.support.records import Record


class WindowSum(Record):
    """The sum of each window, given by an AvgPool that counts padding and by the order of a Transpose after it."""

    pool: AvgPoolOp
    order: Sequence[int] | None


def _window_sum(value: SSAValue, known: Dimensions) -> WindowSum | None:
    """The sum of windows that a value is: a mean of windows times their size, perhaps transposed; None for other
    values.
    """
    order = None
    if isinstance(value.owner, Transpose):
        order = value.owner.permutation(known)
        if order is None or not has_one_live_use(value):
            return None
        value = value.owner.operands[0]
    if not isinstance(value.owner, Multiply) or not has_one_live_use(value):
        return None
    for pooled, number in (value.owner.operands, tuple(reversed(value.owner.operands))):
        pool = pooled.owner
        if isinstance(pool, AvgPoolOp) and scalar_of(number) == prod(pool.integers("kernel")) and has_one_live_use(pooled):
            return None if pool.flag("exclude-pad") or pool.text("auto_pad") != "explicit" else WindowSum(pool, order)
    return None


class MeanOfWindows(DimensionsPattern):
    """Replaces a sum of windows by a mean if it is divided by the window size, or by the numbers of elements of the
    data in the windows.
    """

    roots = (Divide,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Transpose | Multiply)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        total = _window_sum(op.operands[0], self.known)
        if total is None:
            return
        pool, build = total.pool, rewriter.op
        mean, counts = pool.results[0], constant_of(op.operands[1])
        if counts is None or not np.all(counts == prod(pool.integers("kernel"))):
            is_counted = _are_counts_of(counts, total) if counts is not None else _counts_ones(op.operands[1], total, self.known)
            if not is_counted:
                return
            mean = build.create(type(pool), pool.operands, {**pool.properties, "exclude-pad": boolean_attribute(True)}).results[0]
        elif counts.ndim > len(shape_of(op.results[0]) or ()):
            return
        rewriter.replace_with(op, mean if total.order is None else build.transposed(mean, total.order))


def _counts_ones(value: SSAValue, total: WindowSum, known: Dimensions) -> bool:
    """Whether a value is the sum of windows of a tensor of ones, with the windows and spatial sizes of `total`."""
    window_sum = _window_sum(value, known)
    if window_sum is None or window_sum.order != total.order or not _are_ones(window_sum.pool.operands[0]):
        return False
    sizes, ones = known.tokens(total.pool.operands[0]), known.tokens(window_sum.pool.operands[0])
    if sizes is None or ones is None or len(sizes) != len(ones) or not all(map(same, sizes[2:], ones[2:])):
        return False
    kernels = (each.windows(each.integers("kernel")) for each in (total.pool, window_sum.pool))
    return len(set(kernels)) == 1 and all(one == 1 or same(size, one) for size, one in zip(sizes[:2], ones[:2], strict=True))


def _are_ones(value: SSAValue) -> bool:
    """Whether all elements are 1."""
    while isinstance(value.owner, Broadcast | Transpose):
        value = value.owner.operands[0]
    array = constant_of(value)
    return array is not None and bool(np.all(array == 1))


def _are_counts_of(counts: Array, total: WindowSum) -> bool:
    """Whether an array, broadcast and transposed like the sum `total`, holds the number of elements of the data in each
    window.
    """
    wanted, rank = _elements_of_windows(total.pool), len(shape_of(total.pool.results[0]) or ())
    if wanted is None or counts.ndim > rank:
        return False
    wanted = wanted if total.order is None else np.transpose(wanted, total.order)
    aligned = counts.reshape((1,) * (rank - counts.ndim) + counts.shape)
    if any(size not in (1, number) and number != 1 for size, number in zip(aligned.shape, wanted.shape, strict=True)):
        return False
    first, second = np.broadcast_arrays(wanted, aligned)
    return bool(np.array_equal(first, second))


def _elements_of_windows(pool: AvgPoolOp) -> Array | None:
    """The number of elements of the data in each window, [1, 1, …]; None if the sizes of the data are dynamic."""
    shape = shape_of(pool.operands[0])
    if shape is None or min(shape[2:], default=0) < 1:
        return None
    counts: Array = np.ones((1, 1))
    for axis, window in enumerate(pool.windows(pool.integers("kernel"))):
        begins = np.arange(0, shape[2 + axis] + window.pad_begin + window.pad_end - window.extent + 1, window.stride) - window.pad_begin
        positions: Array = begins[:, None] + np.arange(pool.integers("kernel")[axis]) * window.dilation
        inside: Array = np.logical_and(positions >= 0, positions < shape[2 + axis]).sum(1)
        counts = counts[..., None] * inside
    result = shape_of(pool.results[0]) or ()
    return counts if tuple(counts.shape[2:]) == tuple(result[2:]) and counts.all() else None


class FuseWindowMeansPass(DimensionsPass):
    """Fuses sums of windows that are divided by the numbers of their elements to one AvgPool."""

    name = "fuse-window-means"

    PATTERNS = (MeanOfWindows,)

    STATIC = True

    @classmethod
    def needs(cls) -> Needs | None:
        return all_of(map(needs_of_roots, ((AvgPoolOp,), (Divide,), (Multiply,))))
