"""Normalizations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder, Operand
from moir.lowering.to_onnx.table import opset


@opset.lowers("BatchNormInference")
def batch_norm(
    op: OnnxBuilder, x: SSAValue, gamma: SSAValue, beta: SSAValue, mean: SSAValue, variance: SSAValue, *, epsilon: float
) -> SSAValue:
    """opset5.BatchNormInference(…) -> onnx.BatchNormalization(…)"""
    return op.BatchNormalization(x, gamma, beta, mean, variance, epsilon=epsilon)


@opset.lowers("opset1.BatchNormInference")
def batch_norm_1(
    op: OnnxBuilder, gamma: SSAValue, beta: SSAValue, x: SSAValue, mean: SSAValue, variance: SSAValue, *, epsilon: float
) -> SSAValue:
    """opset1.BatchNormInference(gamma, beta, x, …), whose data are the third operand ->
    onnx.BatchNormalization(x, …)
    """
    return op.BatchNormalization(x, gamma, beta, mean, variance, epsilon=epsilon)


def constant_axes(node: LoweringNode, index: int) -> list[int]:
    """The axes that are operand `index`. Raises ConversionError if they are not constant."""
    axes = node.constant_integers(index)
    if axes is None:
        node.fail("its axes are not constant")
    return list(axes)


def normalized(op: OnnxBuilder, x: SSAValue, axes: Operand, eps: float, *, divides: bool = True, eps_in_root: bool = True) -> SSAValue:
    """x minus its mean over axes; with `divides`, divided by its standard deviation.

    `eps` is added to the standard deviation, or with `eps_in_root` to the variance.
    """
    centred = op.Sub(x, op.reduced("ReduceMean", x, axes))
    if not divides:
        return centred
    variance = op.reduced("ReduceMean", op.Mul(centred, centred), axes)
    deviation = op.Sqrt(op.Add(variance, eps)) if eps_in_root else op.Add(op.Sqrt(variance), eps)
    return op.Div(centred, deviation)


@opset.lowers("MVN")
def mvn(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, _axes: SSAValue, *, eps: float, normalize_variance: bool, eps_mode: str
) -> SSAValue:
    """opset6.MVN(x, axes) -> (x - mean) / √(variance + eps), or / (√variance + eps); x - mean without
    `normalize_variance`
    """
    axes = constant_axes(node, 1)
    return normalized(op, x, axes, eps, divides=normalize_variance, eps_in_root=eps_mode == "INSIDE_SQRT")


@opset.lowers("opset2.MVN")
def mvn_2(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    *,
    eps: float = 1e-9,
    across_channels: bool = False,
    normalize_variance: bool = False,
    reduction_axes: tuple[int, ...] | None = None,
) -> SSAValue:
    """opset2.MVN(x) -> as opset6.MVN, over `reduction_axes`, or the axes after the batch, or after the channels"""
    axes = list(reduction_axes or range(1 if across_channels else 2, node.known_rank(0)))
    return normalized(op, x, axes, eps, divides=normalize_variance, eps_in_root=True)


@opset.lowers("NormalizeL2")
def normalize_l2(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _axes: SSAValue, *, eps: float, eps_mode: str) -> SSAValue:
    """opset1.NormalizeL2(x, axes) -> x / √(Σ x² + eps), or / √max(Σ x², eps)"""
    axes = constant_axes(node, 1)
    squares = op.Mul(x, x)
    total = squares if not axes else op.reduced("ReduceSum", squares, axes)
    return op.Div(x, op.Sqrt(op.Add(total, eps) if eps_mode == "add" else op.Max(total, eps)))


@opset.lowers("LRN")
def lrn(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, _axes: SSAValue, *, alpha: float, beta: float, bias: float, size: int
) -> SSAValue:
    """opset1.LRN(x, axes) -> x / (bias + alpha · mean of x² over `size` channels)^beta"""
    axes, rank = constant_axes(node, 1), rank_of(x)
    before, after = (size - 1) // 2, size // 2
    if axes in ([1], [1 - (rank or 0)]):
        if rank == 4:
            return op.LRN(x, alpha=alpha, beta=beta, bias=bias, size=size)
        # Runtimes have it for images only: the mean over channels of [batch, 1, channels, rest].
        squares = op.Reshape(op.Mul(x, x), op.joined(op.sizes(x, 0, 1), [1], op.sizes(x, 1, 2), [-1]))
        mean = op.AveragePool(squares, kernel_shape=(size, 1), pads=(before, 0, after, 0), count_include_pad=1)
        return op.Div(x, op.Pow(op.Add(op.Mul(op.Reshape(mean, op.Shape(x)), alpha), bias), beta))
    # A window over several axes: sums of squares by a mean of windows, in which padding counts.
    if rank is None or sorted(axis % rank for axis in axes) != list(range(2, rank)):
        node.fail(f"it works along axes {axes}, ONNX's along channels or all spatial dimensions")
    count = rank - 2
    mean = op.AveragePool(op.Mul(x, x), kernel_shape=(size,) * count, pads=(*(before,) * count, *(after,) * count), count_include_pad=1)
    return op.Div(x, op.Pow(op.Add(op.Mul(mean, alpha), bias), beta))


@opset.lowers("GroupNormalization")
def group_normalization(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, scale: SSAValue, bias: SSAValue, *, num_groups: int, epsilon: float
) -> SSAValue:
    """opset12.GroupNormalization(x, scale, bias) -> groups of channels normalized, times scale, plus bias

    Wu and He, "Group Normalization", 2018.
    """
    if op.version >= 21:
        return op.GroupNormalization(x, scale, bias, num_groups=num_groups, epsilon=epsilon)
    rank = node.known_rank(0)
    grouped = op.Reshape(x, [0, num_groups, -1])
    result = op.Reshape(normalized(op, grouped, [2], epsilon), op.Shape(x))
    return op.Add(op.Mul(result, _of_channels(op, scale, rank)), _of_channels(op, bias, rank))


def _of_channels(op: OnnxBuilder, value: SSAValue, rank: int) -> SSAValue:
    """A 1-D tensor with an element for each channel, reshaped to broadcast to data of rank `rank`."""
    return value if rank == 2 else op.Reshape(value, [-1, *[1] * (rank - 2)])


@opset.lowers("GRN")
def grn(op: OnnxBuilder, x: SSAValue, *, bias: float) -> SSAValue:
    """opset1.GRN(x) {bias} -> x / √(Σ x² over channels + bias)"""
    axes: Sequence[int] = [1]
    return op.Div(x, op.Sqrt(op.Add(op.reduced("ReduceSum", op.Mul(x, x), list(axes)), bias)))
