"""Sparse tensors that the CPU plugin handles wrongly."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.element_types import si32
from moir.dialects.opset.sparse import SparseFillEmptyRows
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


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


FORMS = (Form("convert-empty-rows", "Makes booleans of what says which rows were empty.", lambda: [EmptyRows()]),)
