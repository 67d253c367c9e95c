"""AltUp: several residual streams per token, of which a layer computes one and corrects all.

Baykal and others, "Alternating Updates for Efficient Transformers", 2023, as in Gemma 3n.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.lowering.table import Replacement
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder

LEAST = 1e-5
"""The smallest mean square by which a value is divided."""


@transformers.lowers("MixValues")
def mix_values(op: OpBuilder, coefficients: SSAValue, *values: SSAValue) -> Replacement:
    """transformers.MixValues(coefficients [batch, tokens, n * n], n values [batch, tokens, width])
    -> Split(MatMul(Reshape(coefficients), values) + values), n results

    Row j of the coefficients has those of all values for result j.
    """
    count = len(values)
    stacked = op.Concat(*(op.Unsqueeze(each, [2]) for each in values), axis=2)
    rows = op.Reshape(coefficients, [0, 0, count, count], special_zero=True)
    return _parts(op, op.Add(op.MatMul(rows, stacked), stacked), count)


@transformers.lowers("CorrectValues")
def correct_values(op: OpBuilder, coefficients: SSAValue, computed: SSAValue, *values: SSAValue, active: int) -> Replacement:
    """transformers.CorrectValues(coefficients [batch, tokens, n], computed, n values) {active}
    -> values + (computed - the active value) * (coefficients + 1), n results
    """
    change = op.Unsqueeze(op.Subtract(computed, values[active]), [2])
    stacked = op.Concat(*(op.Unsqueeze(each, [2]) for each in values), axis=2)
    shares = op.Unsqueeze(op.Add(coefficients, 1.0), [3])
    return _parts(op, op.Add(stacked, op.Multiply(change, shares)), len(values))


@transformers.lowers("Rescale")
def rescale(op: OpBuilder, x: SSAValue, like: SSAValue) -> SSAValue:
    """transformers.Rescale(x, like) -> x * Sqrt(ReduceMean(like²) / Maximum(ReduceMean(x²), 1e-5))"""
    wanted, own = (op.ReduceMean(op.Power(each, 2.0), [-1], keep_dims=True) for each in (like, x))
    return op.Divide(op.Multiply(x, op.Sqrt(wanted)), op.Sqrt(op.Maximum(own, LEAST)))


def _parts(op: OpBuilder, stacked: SSAValue, count: int) -> Replacement:
    """Split `stacked` [batch, tokens, count, width] into `count` values [batch, tokens, width]."""
    parts = op.VariadicSplit.parts(count, stacked, op.constant(2), op.constant(np.ones(count, np.int64)))
    return [op.Squeeze(each, [2]) for each in parts]
