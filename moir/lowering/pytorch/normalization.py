"""Normalization layers and norms, as in inference."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of
from moir.expansions.constant_forms import along_channels
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar, Sizes, axes_from_front
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _filled(op: OpBuilder, value: SSAValue | None, number: float, x: SSAValue) -> SSAValue:
    """A vector over the channels of x; if it is absent, a vector that is filled with a number."""
    if value is not None:
        return op.convert(value, element_of(x))
    return op.Broadcast(op.constant_like(number, x), dimension_list(op, x, 1))


@aten.lowers(
    *("batch_norm.default", "_native_batch_norm_legit_no_training.default", "cudnn_batch_norm.default"),
    *("native_batch_norm.default", "_batch_norm_no_update.default", "instance_norm.default"),
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
    use_input_stats: bool = False,
    eps: float = 1e-5,
) -> Replacement:
    """aten.batch_norm.default(x, gamma, beta, mean, variance) {eps}
    -> opset5.BatchNormInference(x, gamma, beta, mean, variance) {epsilon}

    `instance_norm` with the statistics of the data -> opset6.MVN(x, [2, …]) · gamma + beta.
    """
    if node.op.KIND.startswith("instance_norm") and (use_input_stats or running_mean is None):
        rank = node.known_rank(0)
        normal = op.MVN(input, list(range(2, rank)), eps=eps, normalize_variance=True, eps_mode="INSIDE_SQRT")
        return [_affine(op, normal, weight, bias, rank - 2)]
    if training or running_mean is None or running_var is None:
        node.fail("it computes the statistics of the batch", hint="export the model after model.eval()")
    gamma, beta = _filled(op, weight, 1, input), _filled(op, bias, 0, input)
    mean, variance = as_element(op, element_of(input), running_mean, running_var)
    found = op.BatchNormInference(input, gamma, beta, mean, variance, epsilon=eps)
    return [found, *[None] * (node.result_count - 1)]


def _affine(op: OpBuilder, x: SSAValue, weight: SSAValue | None, bias: SSAValue | None, axes: int) -> SSAValue:
    """x · weight + bias, vectors over dimension 1 with `axes` dimensions after it."""
    if weight is not None:
        x = op.Multiply(x, along_channels(op, op.convert(weight, element_of(x)), axes))
    return x if bias is None else op.Add(x, along_channels(op, op.convert(bias, element_of(x)), axes))


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
    """aten.layer_norm.default(x, gamma, beta) {normalized_shape, eps} -> opset6.MVN(x, last axes) · gamma + beta"""
    _unused_statistics(node)
    axes = list(range(-len(normalized_shape), 0))
    found = op.MVN(input, axes, eps=eps, normalize_variance=True, eps_mode="INSIDE_SQRT")
    if weight is not None:
        found = op.Multiply(found, op.convert(weight, element_of(found)))
    if bias is not None:
        found = op.Add(found, op.convert(bias, element_of(found)))
    return [found, *[None] * (node.result_count - 1)]


def _unused_statistics(node: LoweringNode) -> None:
    """Raises ConversionError if a result besides the first, a statistic of training, is used."""
    if any(node.is_used(index) for index in range(1, node.result_count)):
        node.fail("the statistics that it returns for training are used", hint="export the model for inference")


@aten.lowers("rms_norm.default", "_fused_rms_norm.default")
def rms_norm(
    node: LoweringNode, op: OpBuilder, input: SSAValue, weight: SSAValue | None = None, *, normalized_shape: Sizes, eps: float | None = None
) -> Replacement:
    """aten.rms_norm.default(x, w) {normalized_shape, eps} -> x / √(mean of x² + eps) · w"""
    _unused_statistics(node)
    element = element_of(input)
    margin = float(np.finfo(np.float32 if element == f32 else np.float16).eps) if eps is None else eps
    axes = list(range(-len(normalized_shape), 0))
    squares = op.ReduceMean(op.Multiply(input, input), axes, keep_dims=True)
    found = op.Divide(input, op.Sqrt(op.Add(squares, margin)))
    found = found if weight is None else op.Multiply(found, op.convert(weight, element))
    return [found, *[None] * (node.result_count - 1)]


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
    _unused_statistics(node)
    groups = num_groups or group or 1
    scale, shift = _filled(op, weight, 1, input), _filled(op, bias, 0, input)
    found = op.GroupNormalization(input, scale, shift, num_groups=groups, epsilon=eps)
    return [found, *[None] * (node.result_count - 1)]


def _norm(op: OpBuilder, x: SSAValue, order: float, axes: Sequence[int], keep: bool) -> SSAValue:
    """The norm of an order along axes."""
    if order == 2:
        return op.ReduceL2(x, list(axes), keep_dims=keep)
    if order == 1:
        return op.ReduceL1(x, list(axes), keep_dims=keep)
    size = op.Abs(x)
    if math.isinf(order):
        return (op.ReduceMax if order > 0 else op.ReduceMin)(size, list(axes), keep_dims=keep)
    if order == 0:
        return op.ReduceSum(op.convert(op.NotEqual(x, 0), element_of(x)), list(axes), keep_dims=keep)
    return op.Power(op.ReduceSum(op.Power(size, order), list(axes), keep_dims=keep), 1 / order)


@aten.lowers("linalg_vector_norm.default", "norm.ScalarOpt_dim", "norm.Scalar", "norm.ScalarOpt_dim_dtype")
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
    """aten.linalg_vector_norm.default(x) {ord, dim, keepdim} -> opset4.ReduceL2(x, axes), or that of another order"""
    order = ord if p is None else p
    if isinstance(order, SSAValue):
        node.fail("its order is computed when the model runs")
    rank = node.known_rank(0)
    axes = axes_from_front(node, dim, rank) or list(range(rank))
    return _norm(op, op.convert(self, inferred_element(node)), float(order), axes, keepdim)


@aten.lowers("cosine_similarity.default")
def cosine_similarity(op: OpBuilder, x1: SSAValue, x2: SSAValue, *, dim: int = 1, eps: float = 1e-8) -> SSAValue:
    """aten.cosine_similarity.default(x, y) {dim, eps} -> Σ x y / (max(|x|, eps) · max(|y|, eps))"""
    parts = [op.Divide(each, op.Maximum(op.ReduceL2(each, [dim], keep_dims=True), eps)) for each in (x1, x2)]
    return op.ReduceSum(op.Multiply(*parts), [dim], keep_dims=False)
