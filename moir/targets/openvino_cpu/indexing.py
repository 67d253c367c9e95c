"""Gathers, indices and sparse rows that the CPU plugin handles wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.index_ranges import limited
from moir.dialects.element_types import describe, dynamic, si32, si64, string, to_numpy
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.indexing import Gather, NonZero, OneHotOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.shape import Reshape
from moir.dialects.opset.sparse import SparseFillEmptyRows
from moir.dialects.shapes import element_count, element_of, is_static, rank_of, shape_of
from moir.expansions.constant_forms import constant_array, reshaped, unpacked_type
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

SHORT_LIST = 64
"""The largest length of a constant 1-D tensor for which the plugin does not check the indices of a Gather."""


class GatherOfOneBatch(Pattern):
    """Removes the batch dimensions of a Gather, all of size 1, from the indices.

        %1 = opset8.Gather(%0, %i, 1) {batch_dims = 1}       // %0: [1, 12, 4], %i: [1, 6]
    ->  %2 = opset15.Squeeze(%i, [0])
        %1 = opset8.Gather(%0, %2, 1)

    The plugin reads out of bounds in a Gather with batch dimensions if the slice that each index selects is small.
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


class GatherFromBlocks(Pattern):
    """Gives each element of a quantized table a scale if its blocks lie along another dimension than the last one.

        %t = opset1.Reshape(opset1.Multiply(opset1.Convert(%w), %s), [32, 5])   // %w: [2, 16, 5], %s: [2, 1, 5]
        %y = opset8.Gather(%t, %i, 0)
    ->  %t = opset1.Multiply(opset1.Convert(%w as [32, 5]), %s repeated as [32, 5])
        %y = opset8.Gather(%t, %i, 0)

    The plugin gathers from the integers as if the Reshape merged their last two dimensions.
    """

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        table = op.operands[0]
        if not isinstance(table.owner, Reshape) or not isinstance(table.owner.operands[0].owner, Multiply):
            return False
        shape, blocks = shape_of(table) or (), shape_of(table.owner.operands[0]) or ()
        return len(shape) == 2 and len(blocks) == 3 and shape[0] != blocks[0]

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        table, indices, axis = op.operands
        assert isinstance(table.owner, Reshape)
        blocks, shape = table.owner.operands[0], shape_of(table)
        if shape is not None and is_static(shape) and _is_dequantized(blocks):
            rewriter.replace_with(op, rewriter.op.Gather(_in_shape(rewriter.op, blocks, shape, blocks), indices, axis))


def _is_dequantized(value: SSAValue) -> bool:
    """Whether a value is a constant, or computed from constants alone by a dequantization."""
    if isinstance(value.owner, Constant):
        return True
    return isinstance(value.owner, Convert | Subtract | Multiply) and all(map(_is_dequantized, value.owner.operands))


def _in_shape(op: OpBuilder, value: SSAValue, shape: Sequence[int], like: SSAValue) -> SSAValue:
    """A value that is dequantized from constants, rebuilt with its constants in another shape of the same number of
    elements.

    Scales and zero points, which broadcast to `like`, are repeated for each element.

    Args:
        op: the builder.
        value: the value.
        shape: the new shape.
        like: a value with the old shape.
    """
    if isinstance(value.owner, Constant):
        count, sizes = element_count(shape_of(value)), shape_of(like) or ()
        array = None if count in (1, prod(shape)) else constant_array(op, value)
        if array is None:
            return reshaped(op, value, (1,) * len(shape) if count == 1 else shape)
        return op.constant(np.broadcast_to(array, sizes).reshape(shape), unpacked_type(element_of(value)))
    assert isinstance(value.owner, Convert | Subtract | Multiply)
    operands = [_in_shape(op, each, shape, like) for each in value.owner.operands]
    if isinstance(value.owner, Convert):
        return op.convert(operands[0], element_of(value))
    return op.Subtract(*operands) if isinstance(value.owner, Subtract) else op.Multiply(*operands)


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


class GatherFromVector(Pattern):
    """Extends a short constant 1-D tensor by zeros and a copy of its elements, which negative indices select.

        %y = opset8.Gather([5, 6, 7], %i, 0)
    ->  %y = opset8.Gather([5, 6, 7, 0, 0, …, 5, 6, 7], %i, 0)

    The plugin has a kernel of its own for up to 64 indices into up to 64 integers: where an index is out of range, it
    reads memory before or after the tensor.
    """

    roots = (Gather,)

    def may_match(self, op: Operation) -> bool:
        described, shape = describe(element_of(op.operands[0])), shape_of(op.operands[0])
        return described.numpy.kind in "iu" and described.bits >= 16 and shape is not None and len(shape) == 1 and shape[0] <= SHORT_LIST

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (data, indices, axis), array = op.operands, constant_of(op.operands[0])
        if array is None or not array.size or constant_of(indices) is not None or (rank_of(indices) or 0) > 1:
            return
        # Only a Maximum and a Minimum count as bounds: the plugin computes wrong remainders of large integers.
        limits = limited(indices)
        if limits.low < -len(array) or limits.high >= len(array):
            filled = np.concatenate([array, np.zeros(SHORT_LIST, array.dtype), array])
            rewriter.replace_with(op, rewriter.op.Gather(rewriter.op.constant(filled, element_of(data)), indices, axis))


class GatherAlongComputedAxis(Pattern):
    """Reshapes the data to three dimensions, of which the second one is the computed axis, and gathers along that.

        %y = opset8.Gather(%x, %i, %axis)
    ->  %0 = opset1.Reshape(%x, [sizes before %axis, size along it, sizes after it])
        %y = opset1.Reshape(opset8.Gather(%0, %i, 1), [sizes before, %i, sizes after])

    The plugin does not compile a computed axis if the data have static sizes.
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


class NonZeroOfScalar(Pattern):
    """Slices the result of NonZero to as many rows as the data have dimensions, if these may be a scalar.

        %y = opset3.NonZero(%x)                              // %x: of dynamic rank
    ->  %0 = opset3.NonZero(%x)
        %y = opset8.Slice(%0, [0], [rank of %x], [1], [0])

    The plugin treats a scalar as a 1-D tensor. It also fails to compile a NonZero whose constant operand has very many
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
    """Adds a dimension to the indices of a OneHot whose depth is computed, if their rank is 0 or dynamic, and removes
    it from the result.

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
    Form(
        "unbatch-gather",
        (GatherOfOneBatch,),
        faults=(
            Fault("gather-of-one-batch", "Gather with batch dimensions of size 1, of few elements for each index", "reads out of bounds"),
        ),
    ),
    Form(
        "complete-indices",
        (GatherFromBlocks, GatherWithoutIndices, GatherFromVector, GatherAlongComputedAxis, NonZeroOfScalar, OneHotOfScalar),
        "Rewrites Gathers with empty indices, computed axes, short lists or blocks, and indices of data that may be a scalar.",
        after=(
            "look-up-sizes",
            "move-string-indices",
            "sum-empty-products",
        ),
        faults=(
            Fault(
                "gather-blocks", "Gather from a dequantized constant table whose blocks lie along its first dimension", "has other elements"
            ),
            Fault("gather-empty", "Gather without indices", "ends the process"),
            Fault("gather-computed-axis", "Gather along a computed axis of data of static sizes", "is not compiled"),
            Fault(
                "gather-short-list",
                "Gather of up to 64 numbers from a constant list of up to 64 integers, at indices out of range",
                "reads out of bounds",
            ),
            Fault("non-zero-scalar", "NonZero of a scalar", "has the coordinate of a list"),
            Fault("one-hot-scalar", "OneHot of a scalar with a computed depth", "is not compiled"),
        ),
    ),
    Form(
        "convert-empty-rows",
        (EmptyRows,),
        faults=(
            Fault("empty-rows", "logical operations and Select by the rows that SparseFillEmptyRows says were empty", "are not compiled"),
        ),
    ),
)
