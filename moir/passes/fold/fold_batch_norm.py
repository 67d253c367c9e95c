"""`fold-batch-norm`: a batch normalization with constant statistics becomes a Multiply and an Add.

    %y = opset5.BatchNormInference(%x, %gamma, %beta, %mean, %variance) {epsilon = 1e-5}
->  %0 = opset1.Multiply(%x, gamma / sqrt(variance + epsilon))
    %y = opset1.Add(%0, beta - mean * gamma / sqrt(variance + epsilon))    // unless all of these are 0

`fold-scales` can then multiply the factor into the weights of a convolution.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import FLOATS, stored, weight_of
from moir.dialects.element_types import to_numpy
from moir.dialects.opset.normalization import BatchNormInference, along_channels
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class BatchNorm(Pattern):
    """Replaces a normalization by a scale and a shift of every channel, which are computed in f64 and rounded once."""

    roots = (BatchNormInference,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, BatchNormInference)
        data = op.operands[0]
        element, rank = element_of(data), rank_of(data)
        vectors = [weight_of(operand) for operand in op.operands[1:]]
        if element not in FLOATS or rank is None or any(vector is None for vector in vectors):
            return
        gamma, beta, mean, variance = (np.asarray(vector, np.float64) for vector in vectors)
        with np.errstate(all="ignore"):
            scale = gamma / np.sqrt(variance + op.number("epsilon"))
            shift = beta - mean * scale
        dtype = to_numpy(element)
        scale, shift = (stored(along_channels(each, rank)[np.newaxis], dtype) for each in (scale, shift))
        if scale is None or shift is None:
            return
        scaled = rewriter.op.Multiply(data, rewriter.op.constant(scale, element))
        is_shifted = bool(np.any(np.asarray(shift)))
        rewriter.replace_with(op, rewriter.op.Add(scaled, rewriter.op.constant(shift, element)) if is_shifted else scaled)


class FoldBatchNormPass(PatternPass):
    """Replaces batch normalizations by a scale and a shift."""

    name = "fold-batch-norm"

    PATTERNS = (BatchNorm,)
