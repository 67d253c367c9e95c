"""Arithmetic, products of matrices and functions of complex numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.shapes import element_of
from moir.expansions.complex_numbers import angle_of, conjugated, paired, part
from moir.frameworks.traits import VIEW, WHOLE_VIEW
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_formula, complex_operands, computes_complex
from moir.lowering.pytorch.arguments import named_operand
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

Pair = tuple[SSAValue, SSAValue | None]
"""The real and the imaginary part of a tensor; the latter is None for real numbers."""


def pair_of(node: LoweringNode, op: OpBuilder, name: str, element: Attribute | None = None) -> Pair:
    """The real and the imaginary part of the argument `name`, a tensor or a number; the imaginary part of a real
    argument is None.

    Both are converted to `element`, by default the element type of the result. Raises ConversionError if the argument
    is neither an operand nor a number.
    """
    element = element or inferred_element(node)
    value = named_operand(node, name)
    if value is None:
        number = node.attribute(name, None)
        if isinstance(number, tuple | list) and len(cast("Sequence[float]", number)) == 2:
            real, imaginary = cast("Sequence[float]", number)
            return op.constant(float(real), element), op.constant(float(imaginary), element)
        if not isinstance(number, int | float):
            node.fail(f"its argument {name} is not a number")
        return op.constant(float(number), element), None
    if node.op.operands.index(value) in complex_operands(node.op):
        return part(op, value, 0), part(op, value, 1)
    return op.convert(value, element), None


def _whole(op: OpBuilder, real: SSAValue, imaginary: SSAValue | None) -> SSAValue:
    return paired(op, real, op.Multiply(real, 0) if imaginary is None else imaginary)


def product(op: OpBuilder, a: Pair, b: Pair, multiply: Callable[[SSAValue, SSAValue], SSAValue]) -> SSAValue:
    """(a + bi) · (c + di) = ac - bd + (ad + bc)i, for `multiply`, any bilinear product, such as that of matrices"""
    real = multiply(a[0], b[0])
    if a[1] is None or b[1] is None:
        other = None if a[1] is None and b[1] is None else multiply(a[1], b[0]) if a[1] is not None else multiply(a[0], b[1] or b[0])
        return _whole(op, real, other)
    return paired(op, op.Subtract(real, multiply(a[1], b[1])), op.Add(multiply(a[0], b[1]), multiply(a[1], b[0])))


def mul(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.mul.Tensor(x, y) -> (a + bi) · (c + di) by products of the real and imaginary parts"""
    return product(op, pair_of(node, op, "self"), pair_of(node, op, "other"), lambda x, y: op.Multiply(x, y))


def matmul(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.matmul.default(x, y) -> the complex product, by an opset1.MatMul for each product of real and imaginary
    parts
    """
    names = [name for name in ("self", "other", "mat2", "vec", "tensor") if named_operand(node, name) is not None]
    a, b = (pair_of(node, op, name) for name in names[:2])
    return product(op, a, b, lambda x, y: op.MatMul(x, y))


def multi_dot(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.linalg_multi_dot.default([x, y, z]) -> (x · y) · z, by an opset1.MatMul for each product of real and
    imaginary parts
    """
    product_: SSAValue | None = None
    for name in node.texts("arguments"):
        a, b = pair_of(node, op, name)
        if product_ is None:
            product_ = _whole(op, a, b)
        else:
            product_ = product(op, (part(op, product_, 0), part(op, product_, 1)), (a, b), lambda x, y: op.MatMul(x, y))
    if product_ is None:
        node.fail("it has no matrices")
    return product_


def einsum(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.einsum.default([x, y]) {equation} -> an opset7.Einsum for each product of real and imaginary parts of two
    operands
    """
    if len(node.op.operands) != 2:
        node.fail("an Einstein sum of complex numbers of other than two operands")
    equation = node.text("equation").replace(" ", "")
    if "->" not in equation:
        node.fail("an Einstein sum of complex numbers without its result", hint="write the equation with ->")
    pairs = complex_operands(node.op)
    parts: list[Pair] = []
    for index, value in enumerate(node.op.operands):
        parts.append((part(op, value, 0), part(op, value, 1)) if index in pairs else (value, None))
    return product(op, parts[0], parts[1], lambda x, y: op.Einsum(x, y, equation=equation))


def div(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.div.Tensor(x, y) -> x · conj(y) / |y|²"""
    if node.has("rounding_mode"):
        node.fail("quotients of complex numbers are not rounded")
    a, b = pair_of(node, op, "self"), pair_of(node, op, "other")
    if b[1] is None:
        return _whole(op, op.Divide(a[0], b[0]), None if a[1] is None else op.Divide(a[1], b[0]))
    size = op.Add(op.Multiply(b[0], b[0]), op.Multiply(b[1], b[1]))
    quotient = product(op, a, (b[0], op.Negative(b[1])), lambda x, y: op.Multiply(x, y))
    return op.Divide(quotient, op.Unsqueeze(size, [-1]))


def magnitude(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.abs.default(x) -> opset4.ReduceL2(x, [-1])"""
    return op.ReduceL2(node.op.operands[0], [-1], keep_dims=False)


@aten.lowers("imag.default", complex=by_formula("pytorch.complex.arithmetic:parts"), traits=(VIEW,))
def imaginary_part(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """aten.imag.default(x): raises an error, because real numbers have none"""
    node.fail("the imaginary part of real numbers")


@aten.lowers("angle.default", complex=by_formula("pytorch.complex.arithmetic:angle"))
def angle_of_real_numbers(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.angle.default(x) -> π where x is negative, else 0, of real numbers"""
    x = op.convert(self, inferred_element(node))
    return op.Select(op.Less(x, 0), op.constant_like(3.141592653589793, x), op.Multiply(x, 0))


def angle(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.angle.default(x) -> the angle between the first axis and the point (real part, imaginary part)"""
    x = node.op.operands[0]
    return angle_of(op, part(op, x, 1), part(op, x, 0))


def parts(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.real.default(x) -> opset8.Gather(x, 0, -1); `imag`: index 1"""
    return part(op, node.op.operands[0], 1 if node.op.KIND.startswith("imag") else 0)


@aten.lowers("view_as_real.default", "view_as_complex.default", complex=PAIRS, traits=(WHOLE_VIEW,))
@aten.lowers("view_as_real_copy.default", "view_as_complex_copy.default", complex=PAIRS)
def pairs_themselves(node: LoweringNode, _: OpBuilder) -> SSAValue:
    """aten.view_as_complex.default(x [..., 2]) -> x, a complex tensor; `view_as_real` likewise"""
    return node.op.operands[0]


@aten.lowers("conj.default", "_conj.default", "conj_physical.default", "_conj_physical.default", complex=PAIRS)
def conjugate(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.conj.default(x) -> opset1.Multiply(x, [1, -1]); x itself if it is real; `conj_physical` likewise"""
    x = node.op.operands[0]
    return conjugated(op, x) if computes_complex(node.op) else x


@aten.lowers("complex.default", "polar.default", complex=PAIRS)
def from_parts(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.complex.default(real, imag) -> both in a last dimension; `polar`: from a magnitude and an angle"""
    a, b = node.op.operands[:2]
    if node.op.KIND.startswith("polar"):
        a, b = op.Multiply(a, op.Cos(b)), op.Multiply(a, op.Sin(b))
    shape = op.ShapeOf(op.Add(a, b))
    return paired(op, op.Broadcast(a, shape), op.Broadcast(b, shape))


def exp(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.exp.default(x) -> exp(real) · (cos(imag) + i · sin(imag))"""
    a, b = (part(op, node.op.operands[0], index) for index in (0, 1))
    size = op.Exp(a)
    return paired(op, op.Multiply(size, op.Cos(b)), op.Multiply(size, op.Sin(b)))


def reciprocal(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.reciprocal.default(x) -> conj(x) / |x|²"""
    x = node.op.operands[0]
    size = op.ReduceSum(op.Multiply(x, x), [-1], keep_dims=True)
    return op.Divide(op.Multiply(x, op.constant_like(np.array([1, -1]), x)), size)


def size(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.sym_size.int(x) {dim} -> opset8.Gather(opset3.ShapeOf(x), dim)

    torch does not count the dimension of real and imaginary parts.
    """
    shape = op.Slice(op.ShapeOf(node.op.operands[0]), [0], [-1], [1], [0])
    if node.op.KIND.startswith("sym_numel"):
        return op.ReduceProd(shape, [0], keep_dims=False)
    return op.Gather(shape, op.constant(node.integer("dim")), 0)


def equal(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.eq.Tensor(x, y) -> whether both parts are equal; `ne`: whether one differs"""
    values: list[SSAValue] = []
    pairs = complex_operands(node.op)
    for index, value in enumerate(node.op.operands):
        values.append(value if index in pairs else paired(op, value, op.Multiply(value, 0)))
    if len(values) != 2:
        real, imaginary = pair_of(node, op, "other", element_of(values[0]))
        values.append(_whole(op, real, imaginary))
    same = op.ReduceLogicalAnd(op.Equal(values[0], op.convert(values[1], element_of(values[0]))), [-1], keep_dims=False)
    return same if node.op.KIND.startswith("eq") else op.LogicalNot(same)
