"""Normalization layers and norms, as in inference."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import with_handler
from moir.lowering.pytorch.arguments import Scalar, Sizes, axes_from_front
from moir.lowering.pytorch.mathematics import batch_statistics
from moir.lowering.pytorch.mathematics.distances import norm
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _filled(op: OpBuilder, value: SSAValue | None, number: float, x: SSAValue) -> SSAValue:
    """A 1-D tensor over the channels of x; if `value` is None, one filled with `number`."""
    if value is not None:
        return op.convert(value, element_of(x))
    return op.Broadcast(op.constant_like(number, x), dimension_list(op, x, 1))


@aten.lowers(
    *("batch_norm.default", "cudnn_batch_norm.default", "native_batch_norm.default", "_batch_norm_no_update.default"),
    *("_native_batch_norm_legit.default", "_native_batch_norm_legit.no_stats", "_native_batch_norm_legit_no_training.default"),
    *("_native_batch_norm_legit_functional.default", "_batch_norm_with_update_functional.default"),
)
def batch_norm(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    running_mean: SSAValue | None = None,
    running_var: SSAValue | None = None,
    *,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    exponential_average_factor: float | None = None,
    epsilon: float | None = None,
) -> Replacement:
    """aten.batch_norm.default(x, gamma, beta, mean, variance) {eps}
    -> opset5.BatchNormInference(x, gamma, beta, mean, variance) {epsilon}

    In training, or without running statistics, it normalizes by the statistics of the batch. Its results are the
    normalized data, the mean and 1 / deviation; some kinds also have an empty reserve and the running statistics after
    the batch.
    """
    kind = node.op.KIND
    margin, share = (eps if epsilon is None else epsilon), (momentum if exponential_average_factor is None else exponential_average_factor)
    is_update = kind.startswith("_batch_norm_with_update")
    if training or is_update or running_mean is None or running_var is None:
        _note_training(node, training or is_update)
        results = batch_statistics.normalized_by_batch(node, op, input, (weight, bias), (running_mean, running_var), share, margin)
    else:
        gamma, beta = _filled(op, weight, 1, input), _filled(op, bias, 0, input)
        mean, variance = as_element(op, element_of(input), running_mean, running_var)
        results = [op.BatchNormInference(input, gamma, beta, mean, variance, epsilon=margin)]
        results += [batch_statistics.no_statistics(op, input)] * 2
        results += [running_mean, running_var]
    if "update" in kind or kind.startswith("cudnn"):
        results.insert(3, batch_statistics.no_statistics(op, input))
    return list(results[: node.result_count])


def _note_training(node: LoweringNode, is_training: bool) -> None:
    """Add a note for the user that a normalization is in training mode, which may be a mistake."""
    note = "normalizations use the statistics of the batch, as the program is in training mode: export it after model.eval() for inference"
    if is_training and note not in node.run.notes:
        node.run.notes.append(note)


@aten.lowers("instance_norm.default", "moir.instance_norm_functional")
def instance_norm(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    running_mean: SSAValue | None = None,
    running_var: SSAValue | None = None,
    *,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Replacement:
    """aten.instance_norm.default(x, gamma, beta) {eps} -> opset6.MVN(x, [2, …]) · gamma + beta

    Without the statistics of the data -> opset5.BatchNormInference(x, gamma, beta, mean, variance).
    `moir.instance_norm_functional` also returns the running statistics after the batch.
    """
    if running_mean is None or running_var is None or use_input_stats:
        rank = node.known_rank(0)
        normal = op.MVN(input, list(range(2, rank)), eps=eps, normalize_variance=True, eps_mode="INSIDE_SQRT")
        results = [batch_statistics.scaled_channels(op, normal, weight, bias, rank - 2)]
        if node.result_count > 1 and running_mean is not None and running_var is not None:
            results += batch_statistics.normalized_instances(op, input, (running_mean, running_var), momentum, rank)
        return list(results)
    gamma, beta = _filled(op, weight, 1, input), _filled(op, bias, 0, input)
    mean, variance = as_element(op, element_of(input), running_mean, running_var)
    return [op.BatchNormInference(input, gamma, beta, mean, variance, epsilon=eps)]


@aten.lowers("layer_norm.default", "native_layer_norm.default")
def layer_norm(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    *,
    normalized_shape: Sizes,
    eps: float = 1e-5,
) -> Replacement:
    """aten.layer_norm.default(x, gamma, beta) {normalized_shape, eps} -> opset6.MVN(x, last axes) · gamma + beta;
    `native_layer_norm` also the statistics
    """
    axes = list(range(-len(normalized_shape), 0))
    normalized = op.MVN(input, axes, eps=eps, normalize_variance=True, eps_mode="INSIDE_SQRT")
    if weight is not None:
        normalized = op.Multiply(normalized, op.convert(weight, element_of(normalized)))
    if bias is not None:
        normalized = op.Add(normalized, op.convert(bias, element_of(normalized)))
    if not _uses_statistics(node):
        return [normalized, *[None] * (node.result_count - 1)]
    mean, variance = batch_statistics.mean_and_variance(op, input, axes, keep_dims=True)
    return [normalized, mean, batch_statistics.inverse_deviation(op, variance, eps)]


def _uses_statistics(node: LoweringNode) -> bool:
    """Whether a result of a node besides the first, a statistic that only training needs, is used."""
    return any(node.is_used(index) for index in range(1, node.result_count))


@aten.lowers("rms_norm.default", "_fused_rms_norm.default")
def rms_norm(
    node: LoweringNode, op: OpBuilder, input: SSAValue, weight: SSAValue | None = None, *, normalized_shape: Sizes, eps: float | None = None
) -> Replacement:
    """aten.rms_norm.default(x, w) {normalized_shape, eps} -> x / √(mean of x² + eps) · w"""
    element = element_of(input)
    margin = float(np.finfo(np.float32 if element == f32 else np.float16).eps) if eps is None else eps
    axes = list(range(-len(normalized_shape), 0))
    squares = op.ReduceMean(op.Multiply(input, input), axes, keep_dims=True)
    size = op.Sqrt(op.Add(squares, margin))
    normalized = op.Divide(input, size)
    normalized = normalized if weight is None else op.Multiply(normalized, op.convert(weight, element))
    return (
        [normalized, op.Divide(op.constant_like(1, size), size)]
        if _uses_statistics(node)
        else [normalized, *[None] * (node.result_count - 1)]
    )


@aten.lowers("group_norm.default", "native_group_norm.default")
def group_norm(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    *,
    num_groups: int | None = None,
    group: int | None = None,
    eps: float = 1e-5,
) -> Replacement:
    """aten.group_norm.default(x, gamma, beta) {num_groups, eps} -> opset12.GroupNormalization(x, gamma, beta)"""
    groups = num_groups or group or 1
    scale, shift = _filled(op, weight, 1, input), _filled(op, bias, 0, input)
    normalized = op.GroupNormalization(input, scale, shift, num_groups=groups, epsilon=eps)
    if not _uses_statistics(node):
        return [normalized, *[None] * (node.result_count - 1)]
    return [normalized, *batch_statistics.group_statistics(op, input, groups, eps)]


@aten.lowers(
    "linalg_vector_norm.default",
    "norm.ScalarOpt_dim",
    "norm.Scalar",
    "norm.ScalarOpt_dim_dtype",
    complex=with_handler("pytorch.complex.functions:of_magnitudes"),
)
def vector_norm(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    ord: Scalar = 2,
    p: Scalar | None = None,
    dim: tuple[int, ...] = (),
    keepdim: bool = False,
) -> SSAValue:
    """aten.linalg_vector_norm.default(x) {ord, dim, keepdim} -> opset4.ReduceL2(x, axes), or a norm of another
    order
    """
    order = ord if p is None else p
    if isinstance(order, SSAValue):
        node.fail("its order is computed when the model runs")
    rank = node.known_rank(0)
    axes = (axes_from_front(node, dim, rank) or list(range(rank))) if rank else []
    return norm(op, op.convert(self, inferred_element(node)), float(order), axes, keep=keepdim)


@aten.lowers("cosine_similarity.default")
def cosine_similarity(op: OpBuilder, x1: SSAValue, x2: SSAValue, *, dim: int = 1, eps: float = 1e-8) -> SSAValue:
    """aten.cosine_similarity.default(x, y) {dim, eps} -> Σ x y / (max(|x|, eps) · max(|y|, eps))"""
    if shape_of(x1) != shape_of(x2):
        # The axis is one of both after broadcasting.
        x1 = op.Broadcast(x1, op.ShapeOf(x2), mode="bidirectional")
        x2 = op.Broadcast(x2, op.ShapeOf(x1), mode="bidirectional")
    parts = [op.Divide(each, op.Maximum(op.ReduceL2(each, [dim], keep_dims=True), eps)) for each in (x1, x2)]
    return op.ReduceSum(op.Multiply(*parts), [dim], keep_dims=False)
