"""TopK, Unique and SearchSorted, which the CPU plugin computes wrongly in some forms."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import boolean, si64
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.pooling import PoolingOp
from moir.dialects.opset.sort import SearchSorted, TopKOp, Unique
from moir.dialects.shapes import element_count, element_of, normalize_axis, rank_of, shape_of
from moir.rewriting.builder import Operand
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class LargestOfNone(Pattern):
    """Replaces a TopK with k = 0 by an empty slice of the data.

        %v, %i = opset11.TopK(%x, 0) {axis = 1}
    ->  %v = opset8.Slice(%x, [0], [0], [1], [1])
        %i = opset1.Convert(%v) {destination_type = si64}

    The plugin computes a TopK with k = 0 for empty data only.
    """

    roots = (TopKOp,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, TopKOp)
        known = rewriter.known.integers(op.operands[1])
        if known is None or set(known) != {0}:
            return
        build = rewriter.op
        empty = build.Slice(op.operands[0], [0], [0], [1], [op.integer("axis")])
        rewriter.replace_with(op, [empty, build.convert(empty, op.element("index_element_type"))])


class TruthOfLargest(Pattern):
    """Compares the result of a TopK with 0 instead of converting it to booleans.

        %v, %i = opset11.TopK(%x, 1)
        %y = opset1.Convert(%v) {destination_type = boolean}
    ->  %y = opset1.NotEqual(%v, 0)

    The plugin does not compile such a Convert.
    """

    roots = (Convert,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, TopKOp) and element_of(op.results[0]) == boolean

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        rewriter.replace_with(op, rewriter.op.NotEqual(op.operands[0], 0))


_OF_ITS_LAYOUT = frozenset(("AdaptiveAvgPool", "AdaptiveMaxPool", "Concat", "FakeQuantize", "LRN", "Pad", "Slice", "Softmax", "Split",
                            "StridedSlice", "VariadicSplit"))  # fmt: skip
"""Operations, besides elementwise ones, whose results the plugin may store in the memory layout of their operand."""


class LargestOfPooledChannels(Pattern):
    """Adds a first dimension to the data of a TopK along the channels of what is computed by pooling.

        %0 = opset1.AvgPool(%x)                              // [1, 64, 28, 28]
        %v, %i = opset11.TopK(%0, 3) {axis = 1}
    ->  %1 = opset1.Unsqueeze(%0, [0])
        %2, %3 = opset11.TopK(%1, 3) {axis = 2}
        %v = opset1.Squeeze(%2, [0])
        %i = opset1.Squeeze(%3, [0])

    Pooling returns channels in blocks. With a limit of the instruction set below AVX-512 (`ONEDNN_MAX_CPU_ISA`) on a
    processor that has it, the blocks have 8 channels, but TopK takes them to have 16.
    """

    roots = (TopKOp,)
    companions = ((PoolingOp,),)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, TopKOp)
        rank = rank_of(op.operands[0])
        if rank is None or rank < 3 or normalize_axis(op.integer("axis"), rank) != 1:
            return False
        values, seen = [op.operands[0]], set[SSAValue]()
        while values:
            value = values.pop()
            owner = value.owner
            if isinstance(owner, PoolingOp):
                return True
            if value in seen or not isinstance(owner, OpsetOp):
                continue
            seen.add(value)
            if owner.POINTWISE or owner.BROADCASTS or owner.KIND in _OF_ITS_LAYOUT:
                values.extend(owner.operands)
        return False

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, TopKOp)
        data, count = op.operands
        build = rewriter.op
        results = build.create(type(op), [build.Unsqueeze(data, [0]), count], {**op.properties, "axis": 2}).results
        rewriter.replace_with(op, [build.Squeeze(each, [0]) for each in results])


class DistinctSlices(Pattern):
    """Transposes the data so that Unique finds distinct slices along the first axis.

        %v, … = opset10.Unique(%x, 1)                        // %x: [4, 7]
    ->  %0 = opset1.Transpose(%x, [1, 0])
        %1, … = opset10.Unique(%0, 0)
        %v = opset1.Transpose(%1, [1, 0])

    The plugin returns wrong slices along any other axis.
    """

    roots = (Unique,)

    def may_match(self, op: Operation) -> bool:
        return len(op.operands) > 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.shape_values import rank_value

        data, axis = op.operands
        build, rank, known = rewriter.op, rank_of(data), rewriter.known.integers(axis)
        if known is None or known[0] == 0 or (rank is not None and known[0] % rank == 0):
            return
        if rank is not None:
            first_axis = known[0] % rank
            order: Operand = [first_axis, *(each for each in range(rank) if each != first_axis)]
            inverse: Operand = [*range(1, first_axis + 1), 0, *range(first_axis + 1, rank)]
        else:
            count = build.Squeeze(rank_value(build, data), [0])
            first = build.FloorMod(build.constant(known[0]), count)
            after = build.Range(build.Add(first, 1), count, 1, output_type=si64)
            order = build.Concat(build.Unsqueeze(first, [0]), build.Range(0, first, 1, output_type=si64), after, axis=0)
            inverse = build.Concat(build.Range(1, build.Add(first, 1), 1, output_type=si64), [0], after, axis=0)
        moved = build.Transpose(data, order)
        values, *indices = build.create(Unique, [moved, build.constant([0])], dict(op.properties)).results
        rewriter.replace_with(op, [build.Transpose(values, inverse), *indices])


class DistinctElements(Pattern):
    """Flattens the data of a Unique without an axis, and gives it axis 0, if its result is not sorted.

        %v, … = opset10.Unique(%x) {sorted = false}
    ->  %0 = opset1.Reshape(%x, [-1])
        %v, … = opset10.Unique(%0, 0) {sorted = false}

    Without an axis the plugin returns wrong elements if the results of indices have no uses. It terminates the process
    if the data are an empty constant; the results are then replaced by empty constants.
    """

    roots = (Unique,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Unique)
        return len(op.operands) < 2

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Unique)
        build, data = rewriter.op, op.operands[0]
        if element_count(shape_of(data)) == 0:
            elements = (op.element(name) for name in ("index_element_type", "index_element_type", "count_element_type"))
            none = [build.constant(np.zeros(0, np.int64), element) for element in elements]
            rewriter.replace_with(op, [build.constant_like(np.zeros(0), data), *none])
        elif not op.flag("sorted") and op.results[2].first_use is None:
            flat = data if rank_of(data) == 1 else build.Reshape(data, [-1], special_zero=False)
            rewriter.replace_with(op, build.create(Unique, [flat, build.constant(0)], dict(op.properties)).results)


class IndicesInEmptyRows(Pattern):
    """Multiplies the indices that a SearchSorted finds in rows by 0 if the rows are empty.

        %1 = opset15.SearchSorted(%rows, %values)            // %rows: [?]
    ->  %n = opset1.Minimum(the last size of %rows, 1)
        %1 = opset1.Multiply(opset15.SearchSorted(%rows, %values), %n)

    The plugin does not write the result if the rows have no element.
    """

    roots = (SearchSorted,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return shape is None or shape[-1] < 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, SearchSorted)
        build, element = rewriter.op, element_of(op.results[0])
        if any(
            use.operation.name == "opset1.Multiply" and _is_of_size(use.operation.operands[1 - use.index]) for use in op.results[0].uses
        ):
            return
        size = build.Gather(build.ShapeOf(op.operands[0], output_type=element), [-1], 0)
        result = build.create(SearchSorted, list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, build.Multiply(result, build.Minimum(size, 1)))


def _is_of_size(value: SSAValue) -> bool:
    """Whether a value is already Minimum(a size, 1), the factor that this form multiplies by."""
    return value.owner.name == "opset1.Minimum" if isinstance(value.owner, Operation) else False


FORMS = (
    Form(
        "search-filled-rows",
        (IndicesInEmptyRows,),
        faults=(Fault("search-empty", "SearchSorted in a row without elements", "is garbage"),),
    ),
    Form(
        "search-along-axes",
        (LargestOfNone, TruthOfLargest, LargestOfPooledChannels, DistinctSlices, DistinctElements),
        "Finds distinct elements along the first axis, and the largest ones only of data that has any and not along channels.",
        after=("compare-uint32",),
        faults=(
            Fault("top-k-empty", "TopK of no element, of data that have some", "does not run; with one thread its result has other sizes"),
            Fault("unique-axis", "Unique along another axis than the first", "finds other slices"),
            Fault(
                "unique-unsorted",
                "Unique without an axis and without sorting, of which the indices of the values are not used",
                "has other elements",
            ),
            Fault("unique-no-constant", "Unique of a constant without elements", "ends the process"),
            Fault("top-k-none", "TopK of the largest 0 elements, of data of static sizes", "is not compiled"),
            Fault(
                "largest-of-pooled-channels",
                "TopK along the channels of what AvgPool or MaxPool computes, with a limit of the instruction set below AVX-512 "
                "on a processor that has it",
                "is that of elements of other positions",
            ),
            Fault("top-k-truth", "Convert of what TopK returns to boolean", "is not compiled"),
        ),
    ),
)
