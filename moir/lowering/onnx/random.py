"""Random numbers."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, si32, si64
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.element_types import element_type
from moir.lowering.onnx.generation import seeds, uniform
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("RandomUniform")
def random_uniform(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...], low: float = 0.0, high: float = 1.0) -> SSAValue:
    """onnx.RandomUniform() {shape, low, high, dtype, seed} -> opset8.RandomUniform(shape, low, high)"""
    return uniform(node, op, shape, random_element(node, f32), low, high)


@onnx.lowers("RandomUniformLike")
def random_uniform_like(node: LoweringNode, op: OpBuilder, input: SSAValue, *, low: float = 0.0, high: float = 1.0) -> SSAValue:
    """onnx.RandomUniformLike(x) {low, high, dtype, seed} -> opset8.RandomUniform(opset3.ShapeOf(x), low, high)"""
    shape, element = op.ShapeOf(input), random_element(node, element_of(input))
    return uniform(node, op, shape, element, low, high)


@onnx.lowers("RandomNormal")
def random_normal(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...]) -> SSAValue:
    """onnx.RandomNormal() {shape, mean, scale, dtype, seed}
    -> scale * Sqrt(-2 * Log(u)) * Cos(2 π v) + mean of two opset8.RandomUniform
    """
    return normal(node, op, op.constant(shape), random_element(node, f32))


@onnx.lowers("RandomNormalLike")
def random_normal_like(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """onnx.RandomNormalLike(x) {mean, scale, dtype, seed}: as RandomNormal, of the shape opset3.ShapeOf(x)"""
    return normal(node, op, op.ShapeOf(input), random_element(node, element_of(input)))


@onnx.lowers("Bernoulli")
def bernoulli(node: LoweringNode, op: OpBuilder, input: SSAValue, *, dtype: Attribute | None = None) -> SSAValue:
    """onnx.Bernoulli(p) {dtype, seed}
    -> opset1.Convert(opset1.Less(opset8.RandomUniform(opset3.ShapeOf(p), 0, 1), p))
    """
    drawn_type = element_of(input) if element_of(input) in REAL_TYPES else f32
    drawn = uniform(node, op, op.ShapeOf(input), drawn_type, 0.0, 1.0)
    return op.convert(op.Less(drawn, op.convert(input, drawn_type)), dtype or element_of(input))


@onnx.lowers("Multinomial")
def multinomial(node: LoweringNode, op: OpBuilder, input: SSAValue, *, sample_size: int = 1, dtype: Attribute = si32) -> SSAValue:
    """onnx.Multinomial(x) {sample_size = 1, dtype = i32, seed}
    -> opset13.Multinomial(x, sample_size) {log_probs, with_replacement}
    """
    if dtype not in (si32, si64):
        node.fail("the samples are neither i32 nor i64")
    return op.Multinomial(input, sample_size, convert_type=dtype, with_replacement=True, log_probs=True, **seeds(node, 1))


def normal(node: LoweringNode, op: OpBuilder, shape: Operand, element: Attribute) -> SSAValue:
    """Random numbers of a normal distribution by the transform of Box and Muller: sqrt(-2 ln u) cos(2 π v)."""
    # The logarithm of 0 is infinite, so u has a positive lower limit.
    u = uniform(node, op, shape, f32, float(np.finfo(np.float32).tiny), 1.0)
    v = uniform(node, op, shape, f32, 0.0, 2 * math.pi, stream=2)
    radius = op.Sqrt(op.Multiply(op.Log(u), -2 * node.number("scale", 1.0) ** 2))
    if node.number("scale", 1.0) < 0:
        radius = op.Negative(radius)
    drawn = op.Multiply(radius, op.Cos(v))
    mean = node.number("mean", 0.0)
    return op.convert(drawn if mean == 0 else op.Add(drawn, mean), element)


def random_element(node: LoweringNode, default: Attribute | None) -> Attribute:
    """The element type of random numbers: the attribute `dtype`, or else the default.

    Raises ConversionError if it is no floating-point type.
    """
    element = element_type(node, "dtype", default)
    if element not in REAL_TYPES:
        node.fail("random numbers need an element type of floating-point numbers")
    return element
