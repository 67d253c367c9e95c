"""Operations of the domain com.microsoft: fused activations, products and normalization layers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.activation import leaky, scaled_swish
from moir.lowering.onnx.convolution import add_bias, check_group, grouped_filters
from moir.lowering.onnx.matrix import affine_product
from moir.lowering.onnx.normalization import axes_from, layer_normalized, layer_statistics, root_mean_square_normalized
from moir.lowering.onnx.quantization.operations import convolved, grouped
from moir.lowering.onnx.sliding_window import spatial_axes
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

onnx.lowers_each(
    {
        "com.microsoft.Gelu": lambda op, x: op.Gelu(x),
        "com.microsoft.BiasGelu": lambda op, x, bias: op.Gelu(op.Add(x, bias)),
        "com.microsoft.QuickGelu": lambda op, x, *, alpha=1.702: scaled_swish(op, x, alpha),
    }
)


@onnx.lowers("com.microsoft.FastGelu")
def fast_gelu(op: OpBuilder, x: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """onnx.com.microsoft.FastGelu(x, bias) -> Gelu(x + bias) {approximation_mode = "TANH"}"""
    return op.Gelu(x if bias is None else op.Add(x, bias), approximation_mode="TANH")


@onnx.lowers("com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul")
def fused_product(node: LoweringNode, op: OpBuilder, *, alpha: float = 1.0, transA: bool = False, transB: bool = False) -> SSAValue:
    """onnx.com.microsoft.FusedMatMul(a, b) {alpha, transA, transB} -> MatMul(a, b) {transpose_a, transpose_b} * alpha

    Likewise TransposeMatMul. `transBatchA` moves the first dimension of a before the last one; `transBatchB` does so
    with b.
    """
    operands = [_batch_transposed(node, op, index, flag) for index, flag in enumerate(("transBatchA", "transBatchB"))]
    result = op.MatMul(*operands, transpose_a=transA, transpose_b=transB)
    return result if alpha == 1 else op.Multiply(result, alpha)


def _batch_transposed(node: LoweringNode, op: OpBuilder, index: int, flag: str) -> SSAValue:
    """Operand `index`; if the attribute `flag` is set, its first dimension is moved before the last one."""
    if not node.flag(flag):
        return node.operand(index)
    rank = node.known_rank(index)
    return op.Transpose(node.operand(index), [*range(1, rank - 1), 0, rank - 1])


def activated(node: LoweringNode, op: OpBuilder, x: SSAValue, parameters: Sequence[float]) -> SSAValue:
    """The activation that an attribute of a fused node names, applied to x; x itself if there is none.

    Raises ConversionError for an unknown activation.
    """
    kind = node.text("activation", "")
    first, second = [*parameters, *(0.0, 0.0)[len(parameters) :]][:2]
    if kind in ("Relu", "Sigmoid", "Tanh"):
        return getattr(op, kind)(x)
    if kind == "Elu":
        return op.Elu(x, alpha=first if parameters else 1.0)
    if kind == "LeakyRelu":
        return leaky(op, x, first if parameters else 0.01)
    if kind == "Clip":
        return op.Clamp(x, min=first, max=second)
    if kind == "HardSigmoid":
        return op.HardSigmoid(x, op.constant_like(first, x), op.constant_like(second, x))
    return x if not kind else node.fail(f"its activation {kind!r} is not known")


@onnx.lowers("com.microsoft.FusedConv")
def fused_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    z: SSAValue | None = None,
    *,
    group: int = 1,
    activation_params: tuple[float, ...] = (),
) -> SSAValue:
    """onnx.com.microsoft.FusedConv(x, w, b, z) {activation = "Relu"} -> Relu(Convolution(x, w) + b + z)

    Likewise other activations.
    """
    axes = spatial_axes(node, (1, 0))
    check_group(node, group)
    filters = w if group == 1 else grouped_filters(node, op, w, group, axes)
    result = add_bias(node, op, convolved(node, op, x, filters, group, axes), b, axes)
    return activated(node, op, result if z is None else op.Add(result, z), activation_params)


@onnx.lowers("com.microsoft.NhwcConv")
def channel_last_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    *,
    group: int = 1,
    kernel_shape: tuple[int, ...] = (),
) -> SSAValue:
    """onnx.com.microsoft.NhwcConv(x, w, b) -> Transpose(Convolution(Transpose(x), Transpose(w)) + b)

    x is [N, spatial axes, C], and w [filters, kernel, C / group]; w may also have the layout of Conv, [filters,
    C/group, kernel], which is recognized by `kernel_shape`.
    """
    axes = spatial_axes(node, (1, 0))
    check_group(node, group)
    first, last = [0, axes + 1, *range(1, axes + 1)], [0, *range(2, axes + 2), 1]
    shape = shape_of(w)
    is_channel_first = shape is not None and bool(kernel_shape) and kernel_shape == shape[2:] and kernel_shape != shape[1:-1]
    filters, array = w, op.known.constant(w)
    if not is_channel_first:
        filters = op.transposed(w, first) if array is None else op.constant(array.transpose(first), element_of(w))
    if group > 1:
        filters = grouped(node, op, filters, group, axes)
    result = convolved(node, op, op.transposed(x, first), filters, group, axes)
    return op.transposed(add_bias(node, op, result, b, axes), last)


@onnx.lowers("com.microsoft.NhwcFusedConv")
def channel_last_fused_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    z: SSAValue | None = None,
    *,
    group: int = 1,
    kernel_shape: tuple[int, ...] = (),
    activation_params: tuple[float, ...] = (),
) -> SSAValue:
    """onnx.com.microsoft.NhwcFusedConv(x, w, b, z) {activation = "Relu"} -> Relu(NhwcConv(x, w, b) + z)

    Likewise other activations.
    """
    result = channel_last_convolution(node, op, x, w, b, group=group, kernel_shape=kernel_shape)
    return activated(node, op, result if z is None else op.Add(result, z), activation_params)


@onnx.lowers("com.microsoft.FusedGemm")
def fused_general_product(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, c: SSAValue | None = None) -> SSAValue:
    """onnx.com.microsoft.FusedGemm(a, b, c) {activation = "Relu"} -> Relu(MatMul(a, b) + c), likewise other
    activations
    """
    result = affine_product(node, op, a, b, c)
    names = [name for name in ("activation_alpha", "activation_beta", "activation_gamma") if node.has(name)]
    return activated(node, op, result, [node.number(name) for name in names])


def _summed(node: LoweringNode, op: OpBuilder, *indices: int) -> SSAValue:
    """The sum of the operands with these indices, absent ones left out."""
    values = [value for index in indices if (value := node.optional(index)) is not None]
    total = values[0]
    for value in values[1:]:
        total = op.Add(total, value)
    return total


@onnx.lowers("com.microsoft.SkipLayerNormalization")
def skip_layer_normalization(
    node: LoweringNode,
    op: OpBuilder,
    _x: SSAValue,
    _skip: SSAValue,
    gamma: SSAValue,
    beta: SSAValue | None = None,
    *,
    epsilon: float = 1e-12,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.SkipLayerNormalization(x, skip, gamma, beta, bias)
    -> MVN(x + skip + bias) * gamma + beta, and the sum x + skip + bias
    """
    total = _summed(node, op, 0, 1, 4)
    axes = op.constant([-1], si64)
    y = layer_normalized(op, total, gamma, beta, axes, epsilon)
    statistics = layer_statistics(op, op.convert(total, f32), axes, epsilon) if node.is_used(1) or node.is_used(2) else (None, None)
    return [y, *statistics, total][: node.result_count]


@onnx.lowers("SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization")
def simplified_layer_normalization(
    node: LoweringNode, op: OpBuilder, x: SSAValue, scale: SSAValue, *, epsilon: float = 1e-5, axis: int = -1
) -> Sequence[SSAValue | None]:
    """onnx.SimplifiedLayerNormalization(x, scale) {axis, epsilon} -> x / sqrt(mean(x²) + epsilon) * scale

    Likewise com.microsoft.SimplifiedLayerNormalization.
    """
    axes = axes_from(op, x, axis)
    y = root_mean_square_normalized(op, x, scale, axes, epsilon)
    return [y, _inverse_root(op, x, axes, epsilon)] if node.is_used(1) else [y]


def _inverse_root(op: OpBuilder, x: SSAValue, axes: SSAValue, epsilon: float) -> SSAValue:
    """The inverse root mean square along axes, 1 / sqrt(mean(x²) + epsilon)."""
    wide = op.convert(x, f32)
    return op.Divide(1.0, op.Sqrt(op.Add(op.ReduceMean(op.Power(wide, 2.0), axes, keep_dims=True), epsilon)))


@onnx.lowers("com.microsoft.SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(
    node: LoweringNode, op: OpBuilder, _x: SSAValue, _skip: SSAValue, gamma: SSAValue, *, epsilon: float = 1e-12
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.SkipSimplifiedLayerNormalization(x, skip, gamma, bias) -> y / sqrt(mean(y²) + epsilon) * gamma

    where y = x + skip + bias
    """
    total = _summed(node, op, 0, 1, 3)
    axes = op.constant([-1], si64)
    y = root_mean_square_normalized(op, total, gamma, axes, epsilon)
    return [y, None, _inverse_root(op, total, axes, epsilon) if node.is_used(2) else None, total][: node.result_count]


@onnx.lowers("com.microsoft.EmbedLayerNormalization")
def embed_layer_normalization(node: LoweringNode, op: OpBuilder, *, epsilon: float = 1e-12) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.EmbedLayerNormalization(ids, segments, words, positions, table, gamma, beta, mask, rows)
    -> MVN(sum) * gamma + beta, the length of each row of the mask, the sum

    The sum is words[ids] + positions[rows] + table[segments]; `rows` are the position ids.
    """
    return embedded(node, op, node.optional(8), epsilon)


def embedded(node: LoweringNode, op: OpBuilder, position_ids: SSAValue | None, epsilon: float) -> Sequence[SSAValue | None]:
    """The results of an EmbedLayerNormalization, from the first eight operands of a node and position ids (None for 0,
    1, …).
    """
    ids, segments, mask = node.operand(0), node.optional(1), node.optional(7)
    zero = op.constant(0, si64)
    total = op.Gather(node.operand(2), ids, zero)
    if position_ids is None:
        length = op.Gather(op.ShapeOf(ids), op.constant(1, si64), zero)
        position_ids = op.Unsqueeze(op.Range(zero, length, op.constant(1, si64), output_type=si64), [0])
    total = op.Add(total, op.Gather(node.operand(3), position_ids, zero))
    if segments is not None and node.optional(4) is not None:
        total = op.Add(total, op.Gather(node.operand(4), segments, zero))
    y = layer_normalized(op, total, node.operand(5), node.operand(6), op.constant([-1], si64), epsilon)
    lengths = None
    if node.is_used(1):
        if mask is None:
            batch = op.Gather(op.ShapeOf(ids, output_type=si32), op.constant([0], si64), zero)
            lengths = op.Broadcast(op.constant(0, si32), batch)
        else:
            lengths = op.ReduceSum(op.convert(mask, si32), op.constant([1], si64), keep_dims=False)
    return [y, lengths, total][: node.result_count]
