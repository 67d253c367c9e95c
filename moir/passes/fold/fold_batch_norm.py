"""`fold-batch-norm`: a batch normalization with constant statistics becomes a Multiply and an Add.

    %y = opset5.BatchNormInference(%x, %gamma, %beta, %mean, %variance) {epsilon = 1e-5}
->  %0 = opset1.Multiply(%x, gamma / sqrt(variance + epsilon))
    %y = opset1.Add(%0, beta - mean * gamma / sqrt(variance + epsilon))    // unless all of these are 0

`fold-scales` can then multiply the factor into the weights of a convolution.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import FLOATS, stored, weight_of
from moir.dialects.element_types import to_numpy
from moir.dialects.opset.normalization import along_channels
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def scale_and_shift(op: OpBuilder, match: Match) -> SSAValue | None:
    """The data times a scale plus a shift of each channel, computed in f64; None unless constant and finite."""
    data = match["x"]
    element, rank = element_of(data), rank_of(data)
    vectors = [weight_of(match[each]) for each in ("gamma", "beta", "mean", "variance")]
    if element not in FLOATS or rank is None or any(vector is None for vector in vectors):
        return None
    gamma, beta, mean, variance = (np.asarray(vector, np.float64) for vector in vectors)
    with np.errstate(all="ignore"):
        scale = gamma / np.sqrt(variance + match.number(match.root, "epsilon"))
        shift = beta - mean * scale
    dtype = to_numpy(element)
    scale, shift = (stored(along_channels(each, rank)[np.newaxis], dtype) for each in (scale, shift))
    if scale is None or shift is None:
        return None
    scaled = op.Multiply(data, op.constant(scale, element))
    return op.Add(scaled, op.constant(shift, element)) if np.any(np.asarray(shift)) else scaled


class FoldBatchNormPass(RulePass):
    """Replaces batch normalizations by a scale and a shift."""

    name = "fold-batch-norm"

    RULES = (
        FusionRule(
            name="BatchNorm",
            pattern=lambda op, x, gamma, beta, mean, variance: op["opset5.BatchNormInference"](x, gamma, beta, mean, variance),
            rewrite=scale_and_shift,
        ),
    )
