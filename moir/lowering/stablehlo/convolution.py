"""Convolutions in any layout, over padded and dilated data."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.shape import result_element
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.convolution import convolved
from moir.rewriting.builder import OpBuilder


@stablehlo.lowers("convolution")
def convolution(
    node: LoweringNode,
    op: OpBuilder,
    lhs: SSAValue,
    rhs: SSAValue,
    *,
    input_spatial_dimensions: tuple[int, ...] = (),
    window_strides: tuple[int, ...] = (),
    padding: tuple[int, ...] = (),
    lhs_dilation: tuple[int, ...] = (),
    rhs_dilation: tuple[int, ...] = (),
    window_reversal: tuple[int, ...] = (),
    feature_group_count: int = 1,
) -> SSAValue:
    """stablehlo.convolution(x, w) {dimension numbers} -> Transpose(opset1.Convolution(Transpose(x), Transpose(w)))"""
    axes = len(input_spatial_dimensions)
    ones = (1,) * axes
    pads = padding or (0,) * 2 * axes
    if len(pads) != 2 * axes:
        node.fail(f"its padding has {len(pads)} entries for {axes} axes")
    window = SlidingWindow(window_strides or ones, rhs_dilation or ones, tuple(pads[::2]), tuple(pads[1::2]), "explicit")
    places = node.integers("kernel_spatial_dimensions", ())
    turned = [place for place, is_turned in zip(places, window_reversal, strict=False) if is_turned]
    if turned:
        count = len(turned)
        rhs = op.Slice(rhs, [-1] * count, [-(2**31)] * count, [-1] * count, turned)
    element = result_element(node)
    data, filters = (op.convert(each, element if element in REAL_TYPES else f32) for each in (lhs, rhs))
    return op.convert(convolved(node, op, data, filters, window, lhs_dilation or ones, feature_group_count), element)
