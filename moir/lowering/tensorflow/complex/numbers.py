"""Parts of complex numbers, which are pairs in a last dimension of 2.

    %y = tf.Real(%x) {T = complex<f32>}
->  %y = opset8.Gather(%x, 0, -1)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of
from moir.expansions.complex_numbers import angle_of, conjugated, paired, part
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, PAIRS_TO_REAL
from moir.lowering.ranks import as_result
from moir.lowering.tensorflow.complex.types import is_complex
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def has_pairs(node: LoweringNode) -> bool:
    """Whether the operand is complex according to attribute T; true if T is absent."""
    return not node.has("T") or is_complex(node)


@tf.lowers("Complex", complex=PAIRS)
def from_parts(op: OpBuilder, real: SSAValue, imag: SSAValue) -> SSAValue:
    """tf.Complex(real, imag) -> opset1.Concat(opset1.Unsqueeze(real, -1), opset1.Unsqueeze(imag, -1)) {axis = -1}"""
    parts = [real, imag]
    shapes = [shape_of(value) for value in parts]
    if is_static(shapes[0]) and is_static(shapes[1]) and shapes[0] != shapes[1]:
        target = list(np.broadcast_shapes(*(shape or () for shape in shapes)))
        parts = [value if shape_of(value) == tuple(target) else op.Broadcast(value, target) for value in parts]
    elif not have_same_shape(op, *parts):
        dimensions = [op.ShapeOf(value) for value in parts]
        parts = [op.Broadcast(value, other, mode="bidirectional") for value, other in zip(parts, reversed(dimensions), strict=True)]
    return paired(op, *parts)


def have_same_shape(op: OpBuilder, a: SSAValue, b: SSAValue) -> bool:
    """Whether two tensors are known to have equal shapes, also with symbolic dimensions."""
    left, right = (op.known.elements(op.ShapeOf(value)) for value in (a, b))
    return left is not None and right is not None and left.tolist() == right.tolist()


@tf.lowers("Real", complex=PAIRS_TO_REAL)
def real(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Real(x) -> opset8.Gather(x, 0, -1)"""
    return part(op, input, 0) if has_pairs(node) else input


@tf.lowers("Imag", complex=PAIRS_TO_REAL)
def imaginary(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Imag(x) -> opset8.Gather(x, 1, -1); zeros if x is real"""
    return part(op, input, 1) if has_pairs(node) else op.Multiply(input, 0.0)


@tf.lowers("Conj", complex=PAIRS)
def conjugate(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Conj(x) -> opset1.Multiply(x, [1, -1])"""
    return conjugated(op, input) if has_pairs(node) else input


@tf.lowers("ComplexAbs", complex=PAIRS_TO_REAL)
def magnitude(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.ComplexAbs(x) -> opset4.ReduceL2(x, [-1])"""
    return op.ReduceL2(x, [-1], keep_dims=False)


@tf.lowers("Angle", complex=PAIRS_TO_REAL)
def argument(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Angle(x) -> the angle between the first axis and the point (real part, imaginary part)"""
    return angle_of(op, part(op, input, 1), part(op, input, 0))


@tf.lowers("Exp", rank=as_result, complex=PAIRS)
def exponential(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Exp(x) -> opset1.Exp(x); for complex numbers exp(real) * (cos(imag), sin(imag))"""
    if not is_complex(node):
        return op.Exp(x)
    angle = part(op, x, 1)
    parts = paired(op, op.Cos(angle), op.Sin(angle))
    return op.Multiply(op.Unsqueeze(op.Exp(part(op, x, 0)), [-1]), parts)
