"""Conversions of the element type."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, bf16, boolean, dynamic, f8e4m3, f8e5m2, f16, f32, f64, string, to_numpy
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Cast", rank=as_result)
def cast(node: LoweringNode, op: OpBuilder, input: SSAValue, *, to: Attribute, saturate: bool = True) -> SSAValue:
    """onnx.Cast(input) {to} -> opset1.Convert(input) {destination_type}; input itself if it already has the type"""
    if element_of(input) == to:
        return input
    if string in (element_of(input), to):
        node.fail("opset1.Convert converts no strings", hint="cut the model after this node")
    return converted(op, input, to, saturate)


@onnx.lowers("CastLike")
def cast_like(node: LoweringNode, op: OpBuilder, input: SSAValue, target_type: SSAValue, *, saturate: bool = True) -> SSAValue:
    """onnx.CastLike(x, like) -> opset1.Convert(x), or opset1.ConvertLike(x, like) if the type of like is unknown"""
    element = element_of(target_type)
    if string in (element_of(input), element) and element_of(input) != element:
        node.fail("opset1.Convert converts no strings", hint="cut the model after this node")
    return op.ConvertLike(input, target_type) if element is dynamic else converted(op, input, element, saturate)


@onnx.lowers("BitCast")
def bit_cast(node: LoweringNode, op: OpBuilder, input: SSAValue, *, to: Attribute) -> SSAValue:
    """onnx.BitCast(input) {to} -> opset1.Convert(input) between integers of one width; a constant for a known x"""
    array = op.known.constant(input)
    if to is string or to_numpy(element_of(input)).itemsize != to_numpy(to).itemsize:
        node.fail(f"the elements of {element_of(input)} and {to} do not have the same number of bits")
    if array is not None:
        return op.constant(np.array(array, order="C").view(to_numpy(to)), to)
    if element_of(input) != to and not {element_of(input), to} <= {boolean, *INTEGER_TYPES}:
        node.fail("no operation of the operation sets reads the bits of floats as integers", hint="cut the model before this node")
    return op.convert(input, to)


LARGEST: dict[Attribute, float] = {f8e4m3: 448.0, f8e5m2: 57344.0}
"""The largest numbers of the 8-bit floats."""


def converted(op: OpBuilder, x: SSAValue, element: Attribute, saturate: bool = True) -> SSAValue:
    """Convert x to another element type.

    With `saturate` the result is clamped to the largest finite number of an 8-bit float, as opset1.Convert does not
    saturate. NaN is preserved, which opset1.Clamp would replace by a number.
    """
    if saturate and element in LARGEST and element_of(x) not in (element, dynamic):
        # Integers and other narrow floats are compared with the limits as f32.
        x = x if element_of(x) in (f16, bf16, f64) else op.convert(x, f32)
        x = op.Select(op.IsNaN(x), x, op.Clamp(x, min=-LARGEST[element], max=LARGEST[element]))
    return op.convert(x, element)
