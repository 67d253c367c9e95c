"""The thresholds of non-maximum suppression, which frameworks and the runtime compare differently."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.lowering.shape_values import as_scalar
from moir.rewriting.builder import OpBuilder

SMALLEST = np.array(np.finfo(np.float32).tiny)
"""The smallest number the runtime does not take for zero."""


def exclusive(op: OpBuilder, overlap: SSAValue) -> SSAValue:
    """The threshold of an overlap as a scalar: the runtime suppresses what reaches it, ONNX and TensorFlow only what
    exceeds it.
    """
    known = op.known.constant(overlap)
    if known is not None and known.size == 1:
        following = np.nextafter(known.astype(np.float32), np.float32(np.inf))
        return op.constant(np.maximum(following, SMALLEST).reshape(()))
    return op.Add(op.Multiply(as_scalar(op, overlap), 1 + 2**-23), float(SMALLEST))
