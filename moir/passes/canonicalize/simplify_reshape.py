"""`simplify-reshape`: computed target shapes of Reshape become constants, and the model remains reshapable.

    %t = opset1.Concat(Gather(ShapeOf(%x), [0]), [12], Gather(ShapeOf(%x), [2]), [64])
    %y = opset1.Reshape(%x, %t)
->  %y = opset1.Reshape(%x, [0, 12, -1, 64]) {special_zero = true}

An entry that always equals the dimension of the data at the same position becomes 0. An entry that constants of the
model determine becomes that number. One remaining entry may become -1. An entry that is known only from the present
shape of an input is not replaced by its number, because the model would break when that shape is changed. (For data
without elements -1 is ambiguous; then a Reshape may compute another shape, as it does in the converters of the
frameworks.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions, Token
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import element_of, rank_of
from moir.dialects.symbols import Symbol
from moir.errors import InferenceError
from moir.passes.canonicalize.refined_types import is_refined, refine_users
from moir.rewriting.dimension_patterns import DimensionsPattern
from moir.rewriting.driver import Rewriter, rewrite
from moir.rewriting.reporting_pass import ReportingPass


class ConstantTarget(DimensionsPattern):
    """Replaces the computed target of a Reshape by a constant of zeros, numbers and at most one -1."""

    roots = (Reshape,)

    def __init__(self, known: Dimensions) -> None:
        super().__init__(known)
        self.refined: list[SSAValue] = []
        """The results with dimensions that were unknown before."""

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Reshape)
        data, target = op.operands
        if isinstance(target.owner, Constant):
            return
        entries = self.known.elements(target)
        if entries is None or entries.ndim != 1:
            return
        pattern = constant_target(self.known.tokens(data) or (), entries.tolist(), op.flag("special_zero"))
        if pattern is None:
            return
        reshaped = _reshape(rewriter, data, pattern)
        # The declared result shape may be more precise than the one inferred from the constant target.
        if reshaped is not None and rank_of(reshaped) == rank_of(op.results[0]) and element_of(reshaped) == element_of(op.results[0]):
            if is_refined(reshaped.type, op.results[0].type):
                self.refined.append(reshaped)
            rewriter.replace_with(op, reshaped)


def constant_target(source: Sequence[Token], entries: Sequence[Token], special_zero: bool) -> list[int] | None:
    """A constant target shape of a Reshape equivalent to `entries` for all sizes; None if there is none.

    `source` are the dimensions of the data, and `special_zero` says that a 0 in `entries` copies one.
    """
    pattern: list[int] = []
    for position, entry in enumerate(entries):
        if isinstance(entry, Symbol):
            pattern.append(0 if position < len(source) and source[position] is entry else -1)
        elif entry == 0 and not special_zero:
            return None
        else:
            pattern.append(int(entry))
    return pattern if pattern.count(-1) <= 1 else None


def _reshape(rewriter: Rewriter, data: SSAValue, pattern: list[int]) -> SSAValue | None:
    try:
        return rewriter.op.Reshape(data, np.array(pattern, np.int64), special_zero=True)
    except InferenceError:
        return None


class SimplifyReshapePass(ReportingPass):
    """Makes the target shapes of Reshapes constant."""

    name = "simplify-reshape"

    KEEPS_DIMENSIONS = True

    ROOTS = (Reshape,)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if all(isinstance(each.operands[1].owner, Constant) for each in analyses.operations(Reshape)):
            return False
        known = analyses.dimensions()
        pattern = ConstantTarget(known)
        changed = rewrite(module, [pattern], known=known, analyses=analyses)
        if pattern.refined:
            refine_users(pattern.refined)
            analyses.invalidate()
        return changed
