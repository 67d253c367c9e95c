"""Shifts of bits, and the bits of one element type read as another one.

    %y = onnx.BitShift(%a, %b) {direction = "LEFT"}
->  %y = opset15.BitwiseLeftShift(%a, %b)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, si8, si16, si32, si64, string, to_numpy
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.data_types import element_type
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("BitShift")
def shift(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.BitShift(a, b) {direction} -> opset15.BitwiseLeftShift(a, b), or BitwiseRightShift

    A shift by a negative number, or by the width or more, has no bits of a left but its sign, which the runtime leaves
    undefined.
    """
    direction = node.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        node.fail(f"attribute direction is {direction!r}, it should be LEFT or RIGHT")
    a, b = node.operands
    # The runtime computes 64-bit integers in 32 bits.
    width = min(8 * to_numpy(node.element(0)).itemsize, 32)
    known = node.constant(1)
    if known is None or known.min(initial=0) < 0 or known.max(initial=0) >= width:
        inside = op.LogicalAnd(op.GreaterEqual(b, op.constant_like(0, b)), op.Less(b, op.constant_like(width, b)))
        b = op.Select(inside, b, op.constant_like(width - 1, b))
    else:
        inside = None
    result = (op.BitwiseLeftShift if direction == "LEFT" else op.BitwiseRightShift)(a, b)
    keeps_sign = direction == "RIGHT" and node.element(0) in (si8, si16, si32, si64)
    return result if inside is None or keeps_sign else op.Select(inside, result, op.constant_like(0, a))


@onnx.lowers("BitCast")
def bit_cast(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.BitCast(x) {to} -> opset1.Convert(x) between integers of one width; a constant for a known x"""
    x, element = node.operand(0), element_type(node, "to")
    array = node.constant(0)
    if element is string or to_numpy(element_of(x)).itemsize != to_numpy(element).itemsize:
        node.fail(f"the elements of {element_of(x)} and {element} do not have the same number of bits")
    if array is not None:
        return op.constant(np.array(array, order="C").view(to_numpy(element)), element)
    if element_of(x) != element and not {element_of(x), element} <= {boolean, *INTEGER_TYPES}:
        node.fail("OpenVINO does not have an operation that reads the bits of floats as integers", hint="cut the model before this node")
    return op.convert(x, element)
