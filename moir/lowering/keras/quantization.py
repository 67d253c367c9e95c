"""Layers whose weights Keras quantized: int8 with inputs that are quantized for each row, and int4 in blocks.

s = 127 / max |x|, q = round(x · s)      x · W  =  (q · kernel) / (s · kernel scale)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

EPSILON = 1e-7
"""What Keras adds to the largest absolute value."""


def _unsupported(node: LoweringNode, mode: str) -> SSAValue:
    node.fail(f"the quantization {mode} is not supported", hint="save the model before model.quantize(), or quantize to int8")


def quantized_product(
    node: LoweringNode, op: OpBuilder, x: SSAValue, variables: Sequence[SSAValue], mode: str, *, use_bias: bool
) -> SSAValue:
    """The product of x and a quantized kernel, and the bias.

    Args:
        node: the layer.
        op: the builder.
        x: the input [..., I].
        variables: kernel, bias, then the scale and what else the mode has.
        mode: `int8`, or `int4/SIZE` with blocks of that size.
        use_bias: whether there is a bias.
    """
    kernel, *rest = variables
    bias = rest.pop(0) if use_bias and rest else None
    if not rest:
        node.fail("the scale of its kernel is not in the file")
    if mode == "int8":
        product = _by_rows(op, x, kernel, rest[0])
    elif mode.startswith("int4") and len(rest) == 3:
        product = op.MatMul(x, _unpacked(node, op, kernel, rest))
    else:
        return _unsupported(node, mode)
    return product if bias is None else op.Add(product, bias)


def _by_rows(op: OpBuilder, x: SSAValue, kernel: SSAValue, scale: SSAValue) -> SSAValue:
    """The product of x, quantized for each row, and an int8 kernel that is multiplied by its scale."""
    largest = op.ReduceMax(op.Abs(x), [-1], keep_dims=True)
    row_scale = op.Divide(op.constant_like(127.0, x), op.Add(largest, EPSILON))
    rounded = op.Clamp(op.Round(op.Multiply(x, row_scale), mode="half_to_even"), min=-127.0, max=127.0)
    product = op.MatMul(rounded, op.convert(kernel, element_of(x)))
    return op.Divide(product, op.Multiply(row_scale, op.convert(scale, element_of(x))))


def _unpacked(node: LoweringNode, op: OpBuilder, kernel: SSAValue, rest: Sequence[SSAValue]) -> SSAValue:
    """The kernel (q - zero[g]) · scale[g] of packed 4-bit numbers, two in a byte along the outputs, low half first."""
    known = [op.known.constant(value) for value in (kernel, *rest)]
    if any(each is None for each in known):
        node.fail("its kernel is not constant")
    packed, scale, zero, groups = (np.asarray(each) for each in known)
    # The scale has one column for each output, so that its number is known where it is odd.
    low, high = (packed << 4).astype(np.int8) >> 4, packed.astype(np.int8) >> 4
    values = np.stack([low, high], axis=-1).reshape(packed.shape[0], -1)[:, : scale.shape[-1]]
    rows = groups.astype(np.int64)
    if rows.shape != (values.shape[0],) or rows.min(initial=0) < 0 or rows.max(initial=0) >= scale.shape[0]:
        node.fail("the groups of its kernel do not fit to its scale")
    kernel_values = (values.astype(np.float32) - zero.astype(np.float32)[rows]) * scale.astype(np.float32)[rows]
    return op.constant(kernel_values.astype(np.float32), f32)


def dequantized_embedding(node: LoweringNode, op: OpBuilder, indices: SSAValue, variables: Sequence[SSAValue], mode: str) -> SSAValue:
    """The rows of a quantized table, divided by the scale of each row."""
    if mode != "int8" or len(variables) < 2:
        return _unsupported(node, mode)
    table, scale = variables[0], variables[1]
    rows = op.convert(op.Gather(table, indices, 0), element_of(scale))
    return op.Divide(rows, op.Unsqueeze(op.Gather(scale, indices, 0), [-1]))
