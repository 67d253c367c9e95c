"""Quantization whose scales are computed while the model runs: torchao's blocks, and pt2e's tensors and tokens.

Source: `quant_primitives.py` of torchao 0.18, `_decomposed.py` of torch.ao.quantization in PyTorch 2.14.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, to_numpy
from moir.dialects.shapes import element_of, is_static
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

EPSILON = float(np.finfo(np.float32).eps)


class Blocks:
    """The blocks of a tensor: axes that a block covers as a whole, and axes that are split into blocks.

    Raises ConversionError if an axis of dynamic size is split.
    """

    def __init__(self, node: LoweringNode, block_size: Sequence[int]) -> None:
        shape = node.shape(0)
        if shape is None or len(shape) != len(block_size):
            node.fail(f"blocks {list(block_size)} of a tensor whose rank is dynamic or another one")
        self.shape = shape
        self.split: list[int] = []
        self.reduced: list[int] = []
        for size, block in zip(shape, block_size, strict=True):
            if block in (1, -1, size):
                if block != 1:
                    self.reduced.append(len(self.split))
                self.split.append(size)
                continue
            if size < 0 or block < 1 or size % block:
                node.fail(f"blocks {list(block_size)} of a tensor {list(shape)}")
            self.reduced.append(len(self.split) + 1)
            self.split += [size // block, block]

    def of(self, op: OpBuilder, value: SSAValue) -> SSAValue:
        """The tensor with each axis that is split replaced by two: the blocks, and the elements of a block."""
        return value if len(self.split) == len(self.shape) else self._reshaped(op, value, self.split)

    def whole(self, op: OpBuilder, value: SSAValue) -> SSAValue:
        """The tensor in its original shape, from the result of `of`."""
        return value if len(self.split) == len(self.shape) else self._reshaped(op, value, self.shape)

    def _reshaped(self, op: OpBuilder, value: SSAValue, sizes: Sequence[int]) -> SSAValue:
        known = op.known.constant(value)
        if known is not None:
            return op.constant(known.reshape(sizes), element_of(value))
        # At most one size is dynamic; a 0 copies the size of the axis at its index.
        unknown = [axis for axis, size in enumerate(sizes) if size < 0]
        if len(unknown) > 1 and not all(axis == position for position, axis in enumerate(unknown)):
            return op.Reshape(value, [0 if size < 0 else size for size in sizes], special_zero=True)
        return op.Reshape(value, [0 if size < 0 and axis < len(unknown) else size for axis, size in enumerate(sizes)], special_zero=True)

    def broadcast(self, op: OpBuilder, value: SSAValue) -> SSAValue:
        """A tensor with one value for each block, reshaped to broadcast to the result of `of`: axes within blocks have
        size 1.
        """
        known = op.known.constant(value)
        sizes = [1 if axis in self.reduced else size for axis, size in enumerate(self.split)]
        if is_static(tuple(sizes)):
            return (
                op.constant(known.reshape(sizes), element_of(value)) if known is not None else op.Reshape(value, sizes, special_zero=False)
            )
        count = len(sizes) - len(self.reduced)
        first = next(size for axis, size in enumerate(self.split) if axis not in self.reduced)
        if first < 0 and sum(size < 0 for size in sizes) == 1 and count:
            return op.Reshape(value, [-1 if size < 0 else size for size in sizes], special_zero=False)
        return op.Unsqueeze(value, self.reduced)


def _limited(op: OpBuilder, value: SSAValue, low: float, high: float) -> SSAValue:
    return op.Clamp(value, min=float(low), max=float(high))


def _asymmetric(op: OpBuilder, low: SSAValue, high: SSAValue, ends: tuple[int, int], eps: float) -> tuple[SSAValue, SSAValue]:
    """The scale and the zero point that map the integers between both `ends` to the numbers from low to high."""
    low, high = op.Minimum(low, 0.0), op.Maximum(high, 0.0)
    scale = op.Maximum(op.Divide(op.Subtract(high, low), float(ends[1] - ends[0])), eps)
    zero = op.Subtract(float(ends[0]), op.Round(op.Divide(low, scale), mode="half_to_even"))
    return scale, _limited(op, zero, *ends)


def _ends(node: LoweringNode, quant_min: int | None, quant_max: int | None, name: str) -> tuple[int, int]:
    if quant_min is not None and quant_max is not None:
        return quant_min, quant_max
    element: Attribute = node.element_attribute(name)
    limits = np.iinfo(to_numpy(element))
    return int(limits.min), int(limits.max)


@aten.lowers("torchao.choose_qparams_affine.default")
def choose_of_blocks(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    *,
    mapping_type: str,
    block_size: tuple[int, ...],
    quant_min: int | None = None,
    quant_max: int | None = None,
    eps: float | None = None,
) -> Replacement:
    """aten.torchao.choose_qparams_affine.default(x) {block_size} -> a scale and a zero point for each block"""
    blocks = Blocks(node, block_size)
    first, last = _ends(node, quant_min, quant_max, "target_dtype")
    smallest = EPSILON if eps is None else eps
    x = blocks.of(op, op.convert(input, f32))
    if not blocks.reduced:
        node.fail(f"blocks {list(block_size)} have one element each")
    low, high = (reduce(x, blocks.reduced, keep_dims=False) for reduce in (op.ReduceMin, op.ReduceMax))
    if mapping_type == "ASYMMETRIC":
        return list(_asymmetric(op, low, high, (first, last), smallest))
    low, high = op.Negative(op.Minimum(low, 0.0)), op.Maximum(high, 0.0)
    if mapping_type == "SYMMETRIC":
        scale = op.Divide(op.Maximum(low, high), (last - first) / 2)
    elif mapping_type == "SYMMETRIC_NO_CLIPPING_ERR":
        scale = op.Maximum(op.Divide(low, float(-first)), op.Divide(high, float(last)))
    else:
        node.fail(f"the mapping {mapping_type!r} is not known")
    scale = op.Maximum(scale, smallest)
    return [scale, op.Add(op.Multiply(scale, 0), float((last + first + 1) // 2))]


@aten.lowers("torchao.quantize_affine.default")
def quantize_blocks(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue | None = None,
    *,
    block_size: tuple[int, ...],
    quant_min: int | None = None,
    quant_max: int | None = None,
) -> SSAValue:
    """aten.torchao.quantize_affine.default(x, scale, zero_point) {block_size} -> round(x / scale) + zero_point"""
    blocks = Blocks(node, block_size)
    quantized = op.Round(
        op.Divide(blocks.of(op, op.convert(input, f32)), blocks.broadcast(op, op.convert(scale, f32))), mode="half_to_even"
    )
    if zero_point is not None:
        quantized = op.Add(quantized, blocks.broadcast(op, op.convert(zero_point, f32)))
    first, last = _ends(node, quant_min, quant_max, "output_dtype")
    return blocks.whole(op, op.convert(_limited(op, quantized, first, last), inferred_element(node)))


@aten.lowers("quantized_decomposed.choose_qparams.tensor", "quantized_decomposed.choose_qparams_symmetric.tensor")
def choose_of_tensor(
    node: LoweringNode, op: OpBuilder, input: SSAValue, *, quant_min: int, quant_max: int, eps: float = EPSILON
) -> Replacement:
    """aten.quantized_decomposed.choose_qparams.tensor(x) {quant_min, quant_max, eps} -> a scale and a zero point"""
    x = op.convert(input, f32)
    axes = all_axes(op, x)
    low, high = op.ReduceMin(x, axes, keep_dims=False), op.ReduceMax(x, axes, keep_dims=False)
    if "symmetric" not in node.op.KIND:
        return list(_asymmetric(op, low, high, (quant_min, quant_max), eps))
    size = op.Maximum(op.Negative(op.Minimum(low, 0.0)), op.Maximum(high, 0.0))
    scale = op.Maximum(op.Divide(size, (quant_max - quant_min) / 2), eps)
    return [scale, op.constant(128.0 if quant_min == 0 else 0.0, f32)]


@aten.lowers(
    "quantized_decomposed.choose_qparams_per_token_asymmetric.default",
    "quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default",
)
def choose_of_tokens(op: OpBuilder, input: SSAValue) -> Replacement:
    """aten.quantized_decomposed.choose_qparams_per_token_asymmetric.default(x) -> scales and zero points of rows"""
    x = op.convert(input, f32)
    low = op.Minimum(op.ReduceMin(x, [-1], keep_dims=True), 0.0)
    high = op.Maximum(op.ReduceMax(x, [-1], keep_dims=True), 0.0)
    scale = op.Maximum(op.Divide(op.Subtract(high, low), 255.0), EPSILON)
    least, most = op.Divide(low, scale), op.Divide(high, scale)
    # The end of the range that is closer to its integer is represented exactly.
    errors = op.Add(op.Add(least, -128.0), op.Add(most, 127.0))
    zero = op.Select(op.Greater(errors, 0.0), op.Subtract(-128.0, least), op.Subtract(127.0, most))
    return [scale, op.Round(_limited(op, zero, -128, 127), mode="half_to_even")]


@aten.lowers("quantized_decomposed.quantize_per_token.default")
def quantize_tokens(
    node: LoweringNode, op: OpBuilder, input: SSAValue, scales: SSAValue, zero_points: SSAValue, *, quant_min: int, quant_max: int
) -> SSAValue:
    """aten.quantized_decomposed.quantize_per_token.default(x, scales, zero_points) -> round(x / scale + zero)"""
    quantized = op.Add(op.Divide(op.convert(input, f32), op.convert(scales, f32)), op.convert(zero_points, f32))
    return op.convert(_limited(op, op.Round(quantized, mode="half_to_even"), quant_min, quant_max), inferred_element(node))


@aten.lowers("quantized_decomposed.dequantize_per_token.default")
def dequantize_tokens(node: LoweringNode, op: OpBuilder, input: SSAValue, scales: SSAValue, zero_points: SSAValue) -> SSAValue:
    """aten.quantized_decomposed.dequantize_per_token.default(x, scales, zero_points) -> (x - zero) · scale"""
    difference = op.Subtract(op.convert(input, f32), op.convert(zero_points, f32))
    return op.convert(op.Multiply(difference, op.convert(scales, f32)), inferred_element(node))
