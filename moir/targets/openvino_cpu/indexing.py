"""Gathers, indices and sparse rows that the CPU plugin handles wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.analysis.index_ranges import limited
from moir.dialects.element_types import describe, dynamic, si32, si64, string, to_numpy
from moir.dialects.opset.indexing import Gather, NonZero, OneHotOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.sparse import SparseFillEmptyRows
from moir.dialects.shapes import element_count, element_of, is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

SHORT_LIST = 64
"""The number of integers up to which the plugin does not check indices of a list."""


class GatherOfOneBatch(Pattern):
    """Removes the batch dimensions of a Gather, all of size 1, from the indices.

        %1 = opset8.Gather(%0, %i, 1) {batch_dims = 1}       // %0: [1, 12, 4], %i: [1, 6]
    ->  %2 = opset15.Squeeze(%i, [0])
        %1 = opset8.Gather(%0, %2, 1)

    With batch dimensions the plugin reads out of bounds if the slice that each index selects is small.
    """

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op, Gather) and op.integer("batch_dims") != 0

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Gather)
        data, indices, axis = op.operands
        shape, places = shape_of(data), shape_of(indices)
        if shape is None or places is None:
            return
        count = op.integer("batch_dims")
        count = count + len(places) if count < 0 else count
        if count == 0 or {*shape[:count], *places[:count]} != {1}:
            return
        constant = constant_of(indices)
        if constant is None:
            indices = rewriter.op.Squeeze(indices, np.arange(count))
        else:
            indices = rewriter.op.constant(constant.reshape(constant.shape[count:]), element_of(indices))
        rewriter.replace_with(op, rewriter.op.Gather(data, indices, axis))


class GatherWithoutIndices(Pattern):
    """Replaces a Gather whose indices are empty by an empty Slice.

        %y = opset8.Gather(%x, %i, 1)                        // %i: [0]
    ->  %y = opset8.Slice(%x, [0], [0], [1], [1])

    If its sizes are known, the result becomes a constant. The plugin terminates the process on empty indices.
    """

    roots = ("opset1.Gather", "opset7.Gather", "opset8.Gather")

    def may_match(self, op: Operation) -> bool:
        return element_count(shape_of(op.operands[1])) in (0, None)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, indices, axis = op.operands
        shape, element = shape_of(op.results[0]), element_of(op.results[0])
        if element_count(shape_of(indices)) is None and ((known := rewriter.known.constant(indices)) is None or known.size):
            return
        if shape is not None and is_static(shape) and element not in (dynamic, string):
            rewriter.replace_with(op, rewriter.op.constant(np.zeros(shape, to_numpy(element)), element))
        elif rank_of(indices) == 1 and (along := rewriter.known.integers(axis)) is not None:
            rewriter.replace_with(op, rewriter.op.Slice(data, [0], [0], [1], list(along)))


class GatherFromList(Pattern):
    """Puts zeros between the numbers of a short constant list, and the numbers again, counted from the end.

        %y = opset8.Gather([5, 6, 7], %i, 0)
    ->  %y = opset8.Gather([5, 6, 7, 0, 0, …, 5, 6, 7], %i, 0)

    The plugin takes up to 64 numbers from a list of up to 64 integers in a way of its own: where an index is out of
    range, it reads what lies before or after the list in memory.
    """

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        described, shape = describe(element_of(op.operands[0])), shape_of(op.operands[0])
        return described.numpy.kind in "iu" and described.bits >= 16 and shape is not None and len(shape) == 1 and shape[0] <= SHORT_LIST

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (data, indices, axis), array = op.operands, constant_of(op.operands[0])
        if array is None or not array.size or constant_of(indices) is not None or (rank_of(indices) or 0) > 1:
            return
        # Other bounds do not count: the plugin computes remainders of large integers that are beyond the divisor.
        limits = limited(indices)
        if limits.low < -len(array) or limits.high >= len(array):
            filled = np.concatenate([array, np.zeros(SHORT_LIST, array.dtype), array])
            rewriter.replace_with(op, rewriter.op.Gather(rewriter.op.constant(filled, element_of(data)), indices, axis))


class GatherAlongComputedAxis(Pattern):
    """Reshapes the data to three dimensions, of which the second one is the computed axis, and gathers along that.

        %y = opset8.Gather(%x, %i, %axis)
    ->  %0 = opset1.Reshape(%x, [sizes before %axis, size along it, sizes after it])
        %y = opset1.Reshape(opset8.Gather(%0, %i, 1), [sizes before, %i, sizes after])

    The plugin does not compile a computed axis if the data have known sizes.
    """

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Gather)
        data, indices, axis = op.operands
        return not op.integer("batch_dims") and constant_of(axis) is None and None not in (rank_of(data), rank_of(indices))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.shape_values import as_list

        (data, indices, axis), build = op.operands, rewriter.op
        if rewriter.known.integers(axis) is not None:
            return
        rank, count = rank_of(data) or 0, rank_of(indices) or 0
        shape, place = build.ShapeOf(data), build.FloorMod(build.convert(as_list(build, axis), si64), rank)
        before = build.Slice(shape, [0], place, [1], [0])
        after = build.Slice(shape, build.Add(place, 1), [2**31 - 1], [1], [0])
        # The product of no dimensions is 1.
        rows, columns = (build.ReduceProd(build.Concat([1], sizes, axis=0), [0], keep_dims=True) for sizes in (before, after))
        lines = build.Reshape(data, build.Concat(rows, build.Gather(shape, place, 0), columns, axis=0), special_zero=False)
        sizes = build.Reshape(build.Concat(before, build.ShapeOf(indices), after, axis=0), [rank - 1 + count], special_zero=False)
        rewriter.replace_with(op, build.Reshape(build.Gather(lines, indices, 1), sizes, special_zero=False))


class PlacesOfScalar(Pattern):
    """Slices the result of NonZero to as many rows as the data have dimensions, if these may be a scalar.

        %y = opset3.NonZero(%x)                              // %x: of unknown rank
    ->  %0 = opset3.NonZero(%x)
        %y = opset8.Slice(%0, [0], [rank of %x], [1], [0])

    The plugin treats a scalar as a list. It also fails to compile a NonZero whose constant operand has very many
    nonzero elements; the result of such a NonZero is folded to a constant.
    """

    roots = (NonZero,)

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.operands[0]) in (0, None) or isinstance(op.operands[0].owner, Constant)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, NonZero)
        x, build, element = op.operands[0], rewriter.op, op.element("output_type")
        known = rewriter.known.constant(x)
        if known is not None and known.ndim and known.dtype != object:
            rewriter.replace_with(op, build.constant(np.stack(np.nonzero(known)).astype(to_numpy(element)), element))
        elif rank_of(x) is None:
            places = build.NonZero(x, output_type=element)
            rewriter.replace_with(op, build.Slice(places, [0], build.ShapeOf(build.ShapeOf(x)), [1], [0]))
        elif rank_of(x) == 0:
            places = build.NonZero(build.Reshape(x, [1], special_zero=False), output_type=element)
            rewriter.replace_with(op, build.Slice(places, [0], [0], [1], [0]))


class OneHotOfScalar(Pattern):
    """Reshapes indices that may be a scalar to one dimension where the depth of the OneHot is computed.

        %y = opset16.OneHot(%i, %depth, 1, 0) {axis = -1}    // %i: []
    ->  %0 = opset1.Unsqueeze(%i, [0])
        %y = opset15.Squeeze(opset16.OneHot(%0, %depth, 1, 0) {axis = -1}, [0])

    The plugin does not compile a scalar with a computed depth.
    """

    roots = ("opset1.OneHot", "opset16.OneHot")

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.operands[0]) in (0, None) and constant_of(op.operands[1]) is None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OneHotOp)
        build, axis = rewriter.op, op.integer("axis")
        if rewriter.known.integers(op.operands[1]) is not None:
            return
        properties = {**op.properties, "axis": axis + (axis >= 0)}
        listed = build.create(type(op), [build.Unsqueeze(op.operands[0], [0]), *op.operands[1:]], properties)
        rewriter.replace_with(op, build.Squeeze(listed.results[0], [0]))


class EmptyRows(Pattern):
    """Compares the result of SparseFillEmptyRows that marks empty rows with 0, so that it is a boolean for its users.

        %c, %v, %e = opset16.SparseFillEmptyRows(%x, %shape, %indices, %default)
    ->  %c, %v, %0 = opset16.SparseFillEmptyRows(%x, %shape, %indices, %default)
        %e = opset1.Greater(opset1.Convert(%0) {destination_type = si32}, 0)

    The plugin supports neither Select nor logical operations on this result.
    """

    roots = (SparseFillEmptyRows,)

    def may_match(self, op: Operation) -> bool:
        return any(use.operation.name not in ("opset1.Convert", "opset1.Result") for use in op.results[2].uses)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        indices, values, empty = build.create(SparseFillEmptyRows, list(op.operands), dict(op.properties)).results
        rewriter.replace_with(op, [indices, values, build.Greater(build.convert(empty, si32), 0)])


FORMS = (
    Form("unbatch-gather", (GatherOfOneBatch,)),
    Form(
        "complete-indices",
        (GatherWithoutIndices, GatherFromList, GatherAlongComputedAxis, PlacesOfScalar, OneHotOfScalar),
        "Rewrites Gathers with empty indices, computed axes or short lists, and indices of data that may be a scalar.",
    ),
    Form("convert-empty-rows", (EmptyRows,)),
)
