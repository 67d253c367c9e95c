"""Complex numbers, which are pairs in a last dimension of 2.

    %y = paddle.real(%x)
->  %y = opset8.Gather(%x, 0, -1)
"""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.expansions.complex_numbers import Number, angle_of, conjugated, paired, part, parts, times
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, PAIRS_FROM_REAL, PAIRS_TO_REAL, complex_operands
from moir.lowering.complex.parts import computed_by_parts
from moir.lowering.paddle.table import paddle
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder


@paddle.lowers("complex", complex=PAIRS_FROM_REAL)
def from_parts(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.complex(real, imaginary) -> opset1.Concat of both, with a new last dimension"""
    if not is_static(shape_of(x)) or shape_of(x) != shape_of(y):
        sizes = op.ShapeOf(x), op.ShapeOf(y)
        x, y = op.Broadcast(x, sizes[1], mode="bidirectional"), op.Broadcast(y, sizes[0], mode="bidirectional")
    return paired(op, x, y)


@paddle.lowers("as_complex", complex=PAIRS_FROM_REAL)
@paddle.lowers("as_real", complex=PAIRS_TO_REAL)
def reinterpreted(x: SSAValue) -> SSAValue:
    """paddle.as_complex(x), paddle.as_real(x) -> x"""
    return x


# paddle.conj(x) -> opset1.Multiply(x, [1, -1])
paddle.lowers_each_node({"conj": lambda node, op, x: conjugated(op, x) if complex_operands(node.op) else x}, complex=PAIRS)

paddle.lowers_each_node(
    {
        # paddle.real(x) -> opset8.Gather(x, 0, -1)
        "real": lambda node, op, x: part(op, x, 0) if complex_operands(node.op) else x,
        # paddle.imag(x) -> opset8.Gather(x, 1, -1); zeros if x is real
        "imag": lambda node, op, x: part(op, x, 1) if complex_operands(node.op) else op.Multiply(x, 0.0),
    },
    complex=PAIRS_TO_REAL,
)


@paddle.lowers("angle", complex=PAIRS_TO_REAL)
def angle(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.angle(x) -> the angle between the first axis and the point (real part, imaginary part)"""
    if complex_operands(node.op):
        return angle_of(op, part(op, x, 1), part(op, x, 0))
    return op.Select(op.Less(x, 0.0), op.constant_like(math.pi, x), op.constant_like(0.0, x))


# Formulas of kinds that have a handler for real numbers


def magnitude(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """paddle.abs(x) -> opset4.ReduceL2(x, -1)"""
    return op.ReduceL2(node.operand(0), [-1], keep_dims=False)


def product(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The product of two operands, at least one of them complex: (a + bi)(c + di) = ac - bd + (ad + bc)i.

    For one real operand `handler` multiplies the real and the imaginary part.
    """
    if len(complex_operands(node.op)) == 1:
        return computed_by_parts(node, op, handler, complex_operands(node.op))
    return paired(op, *times(op, *_parts(node, op)))


def quotient(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The quotient of two complex operands: (a + bi) / (c + di) = (ac + bd + (bc - ad)i) / (c² + d²).

    For a real divisor `handler` divides the real and the imaginary part. Raises ConversionError for a real dividend.
    """
    if complex_operands(node.op) == (0,):
        return computed_by_parts(node, op, handler, (0,))
    if complex_operands(node.op) == (1,):
        node.fail("a real number divided by a complex one is not supported", hint="write it as a product with the conjugate")
    (a, b), (c, d) = _parts(node, op)
    squares = op.Add(op.Multiply(c, c), op.Multiply(d, d))
    over, beside = op.Add(op.Multiply(a, c), op.Multiply(b, d)), op.Subtract(op.Multiply(b, c), op.Multiply(a, d))
    return paired(op, op.Divide(over, squares), op.Divide(beside, squares))


def _parts(node: LoweringNode, op: OpBuilder) -> list[Number]:
    """The real and imaginary parts of both operands.

    Raises ConversionError if the second operand is aligned to an axis of the first.
    """
    values = node.operand(0), node.operand(1)
    ranks = [rank_of(value) for value in values]
    if node.integer("axis", -1) != -1 and (None in ranks or ranks[0] != ranks[1]):
        node.fail("complex numbers along an axis are not supported")
    return [parts(op, value) for value in values]


def shape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """paddle.shape(x) -> opset3.ShapeOf of the real parts, as i32"""
    return op.ShapeOf(part(op, node.operand(0), 0), output_type=si32)


def long_shape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """paddle.shape64(x) -> opset3.ShapeOf of the real parts"""
    return op.ShapeOf(part(op, node.operand(0), 0), output_type=si64)


def size(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """paddle.size(x) -> the number of complex numbers"""
    return op.ReduceProd(op.ShapeOf(part(op, node.operand(0), 0)), [0], keep_dims=False)
