"""Convolutions in any layout, over padded and dilated data."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.attributes import require_rows
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
    spatial_dims = node.integers("kernel_spatial_dimensions", ())
    columns = {"window_strides": window_strides, "lhs_dilation": lhs_dilation, "rhs_dilation": rhs_dilation}
    lists = {"padding": pads[::2], "kernel_spatial_dimensions": spatial_dims, **columns, "window_reversal": window_reversal}
    require_rows(input_spatial_dimensions, **{name: each for name, each in lists.items() if each or name == "kernel_spatial_dimensions"})
    if len(pads) % 2 or min((1, *window_strides, *lhs_dilation, *rhs_dilation)) < 1:
        node.fail("a stride or dilation is below 1, or its padding has an odd number of entries")
    window = SlidingWindow(window_strides or ones, rhs_dilation or ones, tuple(pads[::2]), tuple(pads[1::2]), "explicit")
    turned = [axis for axis, is_turned in zip(spatial_dims, window_reversal, strict=False) if is_turned]
    if any(not 0 <= each < node.known_rank(1) for each in turned):
        node.fail("its dimension numbers do not fit the rank of its filters")
    if turned:
        count = len(turned)
        rhs = op.Slice(rhs, [-1] * count, [-(2**31)] * count, [-1] * count, turned)
    element = result_element(node)
    # Booleans are convolved as 0 and 1.
    data, filters = (op.convert(each, si32 if element is boolean else element) for each in (lhs, rhs))
    return op.convert(convolved(node, op, data, filters, window, lhs_dilation or ones, feature_group_count), element)


@stablehlo.lowers("dynamic_conv")
def dynamic_convolution(
    node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue, padding: SSAValue, *, input_spatial_dimensions: tuple[int, ...] = ()
) -> SSAValue:
    """stablehlo.dynamic_conv(x, w, padding) -> as stablehlo.convolution of opset12.Pad(x, padding)"""
    rank, spatial = node.known_rank(0), list(input_spatial_dimensions)
    if sorted(spatial) != sorted(set(spatial)) or any(not 0 <= axis < rank for axis in spatial):
        node.fail("its dimension numbers do not fit the rank of its operand")
    if any(each != 1 for each in node.integers("lhs_dilation", ())):
        node.fail("computed padding of dilated data is not supported", hint="export the program with static shapes")
    pairs = op.Reshape(op.convert(padding, si64), [len(spatial), 2], special_zero=False)
    ends: list[SSAValue] = []
    for side in (0, 1):
        column = op.Gather(pairs, side, 1)
        entries = [op.Gather(column, [spatial.index(axis)], 0) if axis in spatial else op.constant([0], si64) for axis in range(rank)]
        ends.append(op.Concat(*entries, axis=0))
    padded = op.Pad(lhs, *ends, op.constant_like(0, lhs), pad_mode="constant")
    reader = node.with_operands({0: padded})
    return convolution(
        reader,
        op,
        padded,
        rhs,
        input_spatial_dimensions=input_spatial_dimensions,
        window_strides=node.integers("window_strides", ()),
        rhs_dilation=node.integers("rhs_dilation", ()),
        window_reversal=tuple(int(each) for each in node.integers("window_reversal", ())),
        feature_group_count=node.integer("feature_group_count", 1),
    )
