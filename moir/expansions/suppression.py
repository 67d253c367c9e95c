"""Thresholds of non-maximum suppression.

The runtime suppresses a box whose overlap reaches the threshold, ONNX and TensorFlow one whose overlap exceeds it.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.shape_values import as_scalar
from moir.rewriting.builder import OpBuilder

SMALLEST = np.array(np.finfo(np.float32).tiny)
"""The smallest number that the runtime does not flush to zero."""


def exclusive(op: OpBuilder, overlap: SSAValue) -> SSAValue:
    """The threshold of the runtime for a threshold that an overlap must exceed: the next larger f32, as a scalar."""
    known = op.known.constant(overlap)
    if known is not None and known.size == 1:
        following = np.nextafter(known.astype(np.float32), np.float32(np.inf))
        return op.constant(np.maximum(following, SMALLEST).reshape(()))
    return op.Add(op.Multiply(as_scalar(op, overlap), 1 + 2**-23), float(SMALLEST))
