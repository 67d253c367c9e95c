"""Normalization layers of the domain com.microsoft: over groups of channels, over branches, with a gate.

    %y = onnx.com.microsoft.GroupNorm(%x, %gamma, %beta) {groups = 32, channels_last = 1, activation = 1}
->  %0 = opset12.GroupNormalization(opset1.Transpose(%x), %gamma, %beta) {num_groups = 32}
    %y = opset4.Swish(opset1.Transpose(%0))
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import reshaped_like
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

CHANNELS_FIRST, CHANNELS_LAST = [0, 3, 1, 2], [0, 2, 3, 1]


@onnx.lowers("com.microsoft.GroupNorm")
def group_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    gamma: SSAValue,
    beta: SSAValue,
    *,
    activation: int,
    groups: int,
    channels_last: bool = True,
    epsilon: float = 1e-5,
) -> SSAValue:
    """onnx.com.microsoft.GroupNorm(x, gamma, beta) {groups, channels_last, activation}
    -> opset12.GroupNormalization(x, gamma, beta) {num_groups}, and opset4.Swish for activation 1
    """
    if activation not in (0, 1):
        node.fail(f"activation {activation} is not 0 (none) or 1 (SiLU)")
    data = op.transposed(x, CHANNELS_FIRST) if channels_last else x
    scale, bias = (op.convert(each, element_of(x)) for each in (gamma, beta))
    y = op.GroupNormalization(data, scale, bias, num_groups=groups, epsilon=epsilon)
    y = op.transposed(y, CHANNELS_LAST) if channels_last else y
    return op.Swish(y) if activation else y


@onnx.lowers("com.microsoft.SkipGroupNorm")
def skip_group_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    gamma: SSAValue,
    beta: SSAValue,
    skip: SSAValue,
    bias: SSAValue | None = None,
    *,
    activation: int,
    groups: int,
    channels_last: bool = True,
    epsilon: float = 1e-5,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.SkipGroupNorm(x, gamma, beta, skip, bias) -> GroupNorm(x + skip + bias), and the sum

    `skip` has the shape of x, or has a number for each image and channel: [N, 1, 1, C] or [N, C].
    """
    rank = rank_of(skip)
    if rank is None:
        node.fail("the rank of operand 3 is dynamic", hint="give the model's inputs a static rank")
    axes = [1, 2] if channels_last else [2, 3]
    total = op.Add(x, op.Unsqueeze(skip, axes) if rank == 2 else skip)
    if bias is not None:
        total = op.Add(total, bias if channels_last else op.Unsqueeze(bias, [1, 2]))
    y = group_norm(node, op, total, gamma, beta, activation=activation, groups=groups, channels_last=channels_last, epsilon=epsilon)
    return [y, total][: node.result_count]


@onnx.lowers("com.microsoft.GatedRMSNorm")
def gated_root_mean_square_normalization(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    gate: SSAValue,
    *,
    activation: str = "silu",
    epsilon: float = 1e-5,
) -> SSAValue:
    """onnx.com.microsoft.GatedRMSNorm(x, scale, gate) {activation, epsilon}
    -> x / sqrt(mean(x²) + epsilon) * scale * Swish(gate), in f32

    The mean is that of as many elements of the last dimension as the scale has.
    """
    if activation not in ("silu", "swish", "sigmoid"):
        node.fail(f"activation {activation!r} is not silu, swish or sigmoid")
    wide = op.convert(gate, f32)
    factor = op.Sigmoid(wide) if activation == "sigmoid" else op.Swish(wide)
    y = _normalized_parts(node, op, x, scale, (shape_of(scale) or (-1,))[-1], epsilon)
    return op.convert(op.Multiply(y, factor), element_of(x))


@onnx.lowers("com.microsoft.BranchwiseRMSNorm")
def branchwise_root_mean_square_normalization(
    node: LoweringNode, op: OpBuilder, x: SSAValue, scale: SSAValue | None = None, *, num_branches: int = 0, epsilon: float = 1e-6
) -> SSAValue:
    """onnx.com.microsoft.BranchwiseRMSNorm(x, scale) {num_branches, epsilon}
    -> x / sqrt(mean(x²) + epsilon) * scale, in f32

    The mean is that of the last dimension, or of each of `num_branches` parts of it. The scale has an element for each
    element of a part, or of all parts ([branches * size] or [branches, size]).
    """
    shape = shape_of(x)
    size = -1 if shape is None else shape[-1]
    if num_branches:
        size = size // num_branches if size >= 0 else -1
    branches = num_branches or (shape[-2] if shape is not None and len(shape) > 1 else -1)
    if scale is not None and min(size, branches) >= 0 and shape_of(scale) == (branches * size,) != (size,):
        scale = op.Reshape(scale, [branches, size], special_zero=False)
    return op.convert(_normalized_parts(node, op, x, scale, size, epsilon), element_of(x))


def _normalized_parts(node: LoweringNode, op: OpBuilder, x: SSAValue, scale: SSAValue | None, size: int, epsilon: float) -> SSAValue:
    """x / sqrt(mean(x²) + epsilon) · scale in f32, where the mean is of each `size` elements of the last dimension.

    Raises ConversionError if the size is dynamic.
    """
    if size < 0:
        node.fail("the normalized dimensions are dynamic", hint="give the model's inputs a static last dimension")
    wide, shape = op.convert(x, f32), shape_of(x)
    is_whole = shape is not None and shape[-1] == size
    parts = wide if is_whole else _split_last(op, wide, size)
    squares = op.ReduceMean(op.Power(parts, 2.0), [-1], keep_dims=True)
    y = op.Divide(parts, op.Sqrt(op.Add(squares, epsilon)))
    if scale is not None:
        y = op.Multiply(y, op.convert(scale, f32))
    return y if is_whole else reshaped_like(op, y, x)


def _split_last(op: OpBuilder, x: SSAValue, size: int) -> SSAValue:
    """Split the last dimension of x into parts of `size` elements: […, parts, size]."""
    leading = op.Slice(op.ShapeOf(x), [0], [-1], [1])
    return op.Reshape(x, op.Concat(leading, op.constant([-1, size]), axis=0), special_zero=False)
