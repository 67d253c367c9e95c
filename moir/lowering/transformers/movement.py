"""Splits and concatenations of the features of each token."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.lowering.table import Replacement
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder


@transformers.lowers("Split")
def split(op: OpBuilder, x: SSAValue, *, groups: int, widths: tuple[int, ...]) -> Replacement:
    """transformers.Split(x) {groups, widths} -> VariadicSplit(x, 2, widths), within each group

    x is [batch, tokens, groups * sum(widths)], a result [batch, tokens, groups * width].
    """
    if groups == 1:
        return list(op.VariadicSplit.parts(len(widths), x, op.constant(2), op.constant(np.array(widths, np.int64))))
    grouped = op.Reshape(x, [0, 0, groups, sum(widths)], special_zero=True)
    parts = op.VariadicSplit.parts(len(widths), grouped, op.constant(3), op.constant(np.array(widths, np.int64)))
    return [op.Reshape(each, [0, 0, groups * width], special_zero=True) for each, width in zip(parts, widths, strict=True)]


@transformers.lowers("Concat")
def concat(op: OpBuilder, *parts: SSAValue) -> SSAValue:
    """transformers.Concat(parts) -> Concat(parts, 2)"""
    return op.Concat(*parts, axis=2)
