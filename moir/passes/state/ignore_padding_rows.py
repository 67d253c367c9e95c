"""`ignore-padding-rows`: a Select after an attention that zeroes the rows whose keys are all masked is removed.

    %a = opset13.ScaledDotProductAttention(%q, %k, %v, %mask, …)
    %r = opset1.Select(%any, %a, 0.0)                       // %any: [batch, 1, tokens, 1]
->  %m = opset1.Select(%mask, 0.0, -3.4e38)
    %r = opset13.ScaledDotProductAttention(%q, %k, %v, %m, …)

PyTorch's attention is zero in these rows. In a program that generates texts they are those of padding, which no other
row sees; all they have to be is finite. OpenVINO GenAI's paged backend replaces the attention with its mask, and fails
if something else reads the mask of the tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import boolean, describe
from moir.dialects.moir import models_of
from moir.dialects.opset.attention import ScaledDotProductAttention
from moir.dialects.opset.comparison import Select
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase
from moir.rewriting.reporting_pass import ReportingPass

_MASK = 3
"""The index of the mask among the operands of attention."""


@dataclass(frozen=True)
class IgnorePaddingRowsPass(ReportingPass):
    """Removes the Select after an attention that zeroes the rows whose keys are all masked."""

    name = "ignore-padding-rows"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        attentions = [op for model in models_of(module) for op in model.block.ops if isinstance(op, ScaledDotProductAttention)]
        finite: dict[SSAValue, SSAValue] = {}
        return sum(_ignore(op, finite) for op in attentions) > 0


def _ignore(attention: ScaledDotProductAttention, finite: dict[SSAValue, SSAValue]) -> bool:
    """Replace the Select that zeroes some rows of an attention by the attention; returns whether there was one.

    Args:
        attention: the attention.
        finite: the finite mask that has been built for each boolean mask.
    """
    result = attention.results[0]
    [reader, *others] = [use.operation for use in result.uses] or [None]
    if others or not isinstance(reader, Select) or len(attention.operands) <= _MASK or attention.flag("causal"):
        return False
    condition, *branches = reader.operands
    other = constant_of(branches[branches[0] is result])
    shape = shape_of(condition)
    if other is None or np.any(other) or shape is None or len(shape) != 4 or shape[-1] != 1:
        return False
    mask = attention.operands[_MASK]
    if mask not in finite:
        assert attention.parent is not None
        finite[mask] = _finite(OpBuilder(KnownValues(), attention.parent, attention), mask, result)
    attention.operands[_MASK] = finite[mask]
    reader.results[0].replace_all_uses_with(result)
    erase(reader)
    return True


def _finite(op: OpBuilder, mask: SSAValue, result: SSAValue) -> SSAValue:
    """An additive mask without infinities, given a boolean mask or an additive one."""
    row = describe(element_of(result))
    lowest = op.constant(np.array(np.finfo(row.numpy).min, row.numpy), row.attribute)
    if element_of(mask) != boolean:
        return op.Maximum(mask, lowest)
    return op.Select(mask, op.constant(np.zeros((), row.numpy), row.attribute), lowest)
