"""Normalizations of the value of each token, or of parts of it."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import vector
from moir.rewriting.builder import OpBuilder


@transformers.lowers("RMSNorm")
def rms_norm(
    node: LoweringNode, op: OpBuilder, x: SSAValue, weight: SSAValue | None = None, *, epsilon: float, offset: float = 0.0, part: int = -1
) -> SSAValue:
    """transformers.RMSNorm(x, weight) {epsilon, offset, part} -> x / Sqrt(ReduceMean(x²) + epsilon) * (weight + offset)

    Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019. The mean is over the last dimension, or over each
    `part` of it. The weights are those of one part, of each part, or of the whole dimension.
    """
    parts, width = parts_of(node, op, x, part)
    mean = op.ReduceMean(op.Power(parts, 2.0), [-1], keep_dims=True)
    normed = op.Multiply(parts, op.Divide(1.0, op.Sqrt(op.Add(mean, epsilon))))
    if weight is not None:
        shape = shape_of(weight) or (part,)
        if width is not None and shape == (width,):
            shape = (width // part, part)
        normed = op.Multiply(normed, vector(op, weight, offset, (1,) * (_rank(parts) - len(shape)) + shape))
    return normed if width is None else op.Reshape(normed, [0, 0, width], special_zero=True)


@transformers.lowers("LayerNorm")
def layer_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    *,
    epsilon: float,
    offset: float = 0.0,
    part: int = -1,
) -> SSAValue:
    """transformers.LayerNorm(x, weight, bias) {epsilon, offset, part} -> MVN(x) * (weight + offset) + bias

    Ba, Kiros and Hinton, "Layer Normalization", 2016. The mean is over the last dimension, or over each `part` of it.
    """
    parts, width = parts_of(node, op, x, part)
    normed = op.MVN(parts, [-1], normalize_variance=True, eps=epsilon, eps_mode="INSIDE_SQRT")
    if weight is not None:
        normed = op.Multiply(normed, vector(op, weight, offset, shape_of(weight) or (part,)))
    if bias is not None:
        normed = op.Add(normed, vector(op, bias, 0.0, shape_of(bias) or (part,)))
    return normed if width is None else op.Reshape(normed, [0, 0, width], special_zero=True)


def parts_of(node: LoweringNode, op: OpBuilder, x: SSAValue, part: int) -> tuple[SSAValue, int | None]:
    """x with its last dimension split into parts of size `part`, and the size of that dimension before.

    x itself and None if there is a single part. Raises ConversionError if the dimension is dynamic or not a multiple of
    `part`.
    """
    shape = shape_of(x)
    if part < 0 or (shape is not None and shape[-1] == part):
        return x, None
    if shape is None or shape[-1] < 0 or shape[-1] % part:
        node.fail(f"the last dimension of its operand does not consist of parts of {part}")
    return op.Reshape(x, [0, 0, shape[-1] // part, part], special_zero=True), shape[-1]


def _rank(x: SSAValue) -> int:
    return len(shape_of(x) or ())
