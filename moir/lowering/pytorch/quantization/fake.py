"""Fake quantization: floats rounded to the numbers that integers between two ends stand for.

    (clamp(round(x / scale) + zero_point, quant_min, quant_max) - zero_point) · scale

Source: fake_quantize_core.cpp, FakeQuantPerTensorAffine.cpp and FakeQuantPerChannelAffine.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, si32
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.quantization import along_axis, half_to_even
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar, axis_from_front
from moir.lowering.pytorch.promotion import as_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MOST_LEVELS = 256
"""The largest number of levels for which FakeQuantize is used; for more levels f32 is not exact enough."""

SMALLEST_SCALE = 6.1e-5
"""The smallest scale that an observer chooses."""


def _fake_quantized(
    node: LoweringNode, op: OpBuilder, x: SSAValue, scale: Scalar, zero: Scalar, ends: tuple[int, int], axis: int | None = None
) -> list[SSAValue | None]:
    """The rounded numbers, and a mask of the numbers that were between the ends; None for the mask if it is not used.

    Args:
        node: the node.
        op: the builder.
        x: the floats.
        scale: the scale, a scalar, or a vector along `axis`.
        zero: the zero point in the same form; if it is a float, it is added before numbers are rounded.
        ends: the smallest and the largest integer.
        axis: the axis of the vectors.
    """
    is_added_first = isinstance(zero, SSAValue) and element_of(zero) in REAL_TYPES
    x, scale, zero = as_element(op, f32, x, scale, zero)
    if axis is not None:
        rank = node.known_rank(0)
        scale, zero = (along_axis(op, each, axis_from_front(node, axis, rank), rank) for each in (scale, zero))
    elif rank_of(x) == 0:
        # A tensor of one element is the scale of a scalar.
        scale, zero = (op.Reshape(each, [], special_zero=False) if rank_of(each) else each for each in (scale, zero))
    low, high = ends
    scales, zeros = op.known.constant(scale), op.known.constant(zero)
    needs_mask = node.is_used(1)
    if scales is not None and zeros is not None and not needs_mask and np.all(scales > 0) and high - low < MOST_LEVELS:
        limits = [op.constant(((end - zeros.astype(np.float64)) * scales).astype(np.float32), f32) for end in ends]
        return [op.FakeQuantize(x, *limits, *limits, levels=high - low + 1)]
    quotient = op.Divide(x, scale)
    integers = half_to_even(op, op.Add(quotient, zero)) if is_added_first else op.Add(half_to_even(op, quotient), zero)
    rounded = op.Multiply(op.Subtract(op.Clamp(integers, min=float(low), max=float(high)), zero), scale)
    if not needs_mask:
        return [rounded]
    return [rounded, op.LogicalAnd(op.GreaterEqual(integers, float(low)), op.LessEqual(integers, float(high)))]


def _results(node: LoweringNode, values: Sequence[SSAValue | None]) -> list[SSAValue | None]:
    """The results of a node: the given values, and None for the results after them."""
    return [*values, *[None] * (node.result_count - len(values))]


@aten.lowers(
    *("fake_quantize_per_tensor_affine.default", "fake_quantize_per_tensor_affine.tensor_qparams"),
    "fake_quantize_per_tensor_affine_cachemask.default",
)
def per_tensor(
    node: LoweringNode, op: OpBuilder, self: SSAValue, *, scale: Scalar, zero_point: Scalar, quant_min: int, quant_max: int
) -> Replacement:
    """aten.fake_quantize_per_tensor_affine.default(x) {scale, zero_point, …} -> opset1.FakeQuantize {levels}"""
    return _results(node, _fake_quantized(node, op, self, scale, zero_point, (quant_min, quant_max)))


@aten.lowers("fake_quantize_per_channel_affine.default", "fake_quantize_per_channel_affine_cachemask.default")
def per_channel(
    node: LoweringNode, op: OpBuilder, self: SSAValue, scale: SSAValue, zero_point: SSAValue, *, axis: int, quant_min: int, quant_max: int
) -> Replacement:
    """aten.fake_quantize_per_channel_affine.default(x, scale, zero_point) {axis, …} -> opset1.FakeQuantize {levels}"""
    return _results(node, _fake_quantized(node, op, self, scale, zero_point, (quant_min, quant_max), axis))


@aten.lowers("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default")
def per_tensor_if(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue,
    fake_quant_enabled: SSAValue,
    *,
    quant_min: int,
    quant_max: int,
) -> Replacement:
    """aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default(x, scale, zero_point, fake_quant_enabled)
    -> opset1.FakeQuantize {levels} and its mask where fake_quant_enabled is 1; elsewhere x and a mask of true
    """
    rounded = _results(node, _fake_quantized(node, op, self, scale, zero_point, (quant_min, quant_max)))
    return _where_enabled(op, fake_quant_enabled, self, rounded)


def _where_enabled(op: OpBuilder, enabled: SSAValue, x: SSAValue, rounded: Sequence[SSAValue | None]) -> list[SSAValue | None]:
    """The results `rounded` of a fake quantization of x where `enabled` is 1, else x and a mask of true."""
    flag = op.known.integers(enabled)
    value, *masks = rounded
    assert value is not None
    if flag is not None and flag[0] >= 1:
        return [value, *masks]
    chosen = op.Reshape(op.GreaterEqual(enabled, 1), [], special_zero=False)
    whole = op.Select(chosen, value, op.convert(x, element_of(value)))
    return [whole, *(None if mask is None else op.LogicalOr(mask, op.LogicalNot(chosen)) for mask in masks)]


@aten.lowers("_fake_quantize_learnable_per_tensor_affine.default", "_fake_quantize_learnable_per_channel_affine.default")
def learned(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue,
    *,
    axis: int | None = None,
    quant_min: int,
    quant_max: int,
) -> Replacement:
    """aten._fake_quantize_learnable_per_tensor_affine.default(x, scale, zero_point) -> opset1.FakeQuantize {levels},
    with the zero point rounded to an integer between the ends; likewise `per_channel` along `axis`
    """
    zero = op.Clamp(half_to_even(op, op.convert(zero_point, f32)), min=float(quant_min), max=float(quant_max))
    known = op.known.constant(zero)
    whole = op.convert(zero, si32) if known is None else op.constant(known.astype(np.int32), si32)
    return _results(node, _fake_quantized(node, op, self, scale, whole, (quant_min, quant_max), axis))


@aten.lowers(
    *("fused_moving_avg_obs_fake_quant.default", "_fused_moving_avg_obs_fq_helper.default"),
    "_fused_moving_avg_obs_fq_helper_functional.default",
)
def observed(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    observer_on: SSAValue,
    fake_quant_on: SSAValue,
    running_min: SSAValue,
    running_max: SSAValue,
    *,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Replacement:
    """aten.fused_moving_avg_obs_fake_quant.default(x, …) -> opset1.FakeQuantize of x

    The limits follow from running_min and running_max, which have to be constants.

    Raises ConversionError if the observer is on: it would change the scale with each inference.
    """
    flag = op.known.integers(observer_on)
    if flag is None or any(flag):
        node.fail("its observer is on", hint="export the model after model.apply(torch.ao.quantization.disable_observer)")
    least, most = (op.known.constant(each) for each in (running_min, running_max))
    if least is None or most is None:
        node.fail("the range that its observer has seen is computed when the model runs")
    pairs = [scale_for(*each, quant_min, quant_max, symmetric_quant) for each in zip(least.ravel(), most.ravel(), strict=True)]
    scales, zeros = (np.array(column) for column in zip(*pairs, strict=True))
    axis = ch_axis if per_row_fake_quant else None
    known = op.constant(scales.astype(np.float32), f32), op.constant(zeros.astype(np.int32), si32)
    rounded = _results(node, _fake_quantized(node, op, self, *known, (quant_min, quant_max), axis))[:2]
    # The further results of the functional form are what the observer has.
    further = [running_min, running_max, *known][: node.result_count - len(rounded)]
    return [*_where_enabled(op, fake_quant_on, self, rounded), *further]


def scale_for(least: float, most: float, low: int, high: int, is_symmetric: bool) -> tuple[float, int]:
    """The scale and the zero point by which the integers from `low` to `high` stand for the numbers from `least` to
    `most`.

    If `is_symmetric`, a range with numbers of both signs is widened to be symmetric to 0.

    Source: ChooseQuantizationParams in QuantUtils.h of PyTorch 2.13.
    """
    least, most, steps = float(least), float(most), high - low
    is_centered = is_symmetric and least < 0 < most
    if is_centered:
        half = steps // 2
        widest = max(abs(least / -(half + 1)), abs(most / half))
        least, most = -widest * (half + 1), widest * half
    least, most = min(least, 0.0), max(most, 0.0)
    scale = (most - least) / steps
    if np.float32(scale) == 0 or not np.isfinite(1 / scale):
        scale = 0.1
    if scale < SMALLEST_SCALE:
        stretch = SMALLEST_SCALE / scale
        scale, least, most = SMALLEST_SCALE, least * stretch, most * stretch
    # Rounding changes the end more that is farther from its integer.
    errors = abs(low) - abs(least / scale), abs(high) - abs(most / scale)
    zero = low - least / scale if errors[0] < errors[1] else high - most / scale
    if is_centered:
        zero = (low + high) / 2
    return scale, round(min(max(zero, low), high))
