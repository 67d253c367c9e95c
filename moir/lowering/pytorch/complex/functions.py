"""Functions of complex numbers by formulas on their parts, and operations that are bilinear in two operands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.expansions import complex_numbers
from moir.expansions.complex_numbers import Number, part
from moir.expansions.linear_algebra.matrix_diagonals import triangle_of
from moir.expansions.linear_algebra.triangles import with_unit_diagonal
from moir.expansions.running_products import running_product
from moir.expansions.shape_values import all_axes
from moir.expansions.transposition import transposed
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import complex_operands
from moir.lowering.complex.parts import results_for
from moir.lowering.pytorch.arguments import axes_from_front, axis_from_front
from moir.lowering.pytorch.complex.arithmetic import pair_of
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder

LARGEST_POWER = 64
"""The largest exponent for which a power is computed as a product."""


def _number(node: LoweringNode, op: OpBuilder, name: str) -> Number:
    real, imaginary = pair_of(node, op, name)
    return Number(real, op.Multiply(real, 0) if imaginary is None else imaginary)


def power(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.pow.Tensor_Scalar(x, n) -> products for small whole numbers, else exp(n · log(x))"""
    base, exponent = _number(node, op, "self"), node.attribute("exponent", None)
    if isinstance(exponent, int | float) and float(exponent).is_integer() and 0 < abs(exponent) <= LARGEST_POWER:
        power_ = _integer_power(op, base, int(exponent))
    else:
        power_ = complex_numbers.power(op, base, _number(node, op, "exponent"))
    return complex_numbers.paired(op, power_.real, power_.imaginary)


def _integer_power(op: OpBuilder, base: Number, exponent: int) -> Number:
    bits, power_ = abs(exponent), None
    square = base
    while bits:
        if bits % 2:
            power_ = square if power_ is None else complex_numbers.times(op, power_, square)
        bits //= 2
        square = complex_numbers.times(op, square, square) if bits else square
    assert power_ is not None
    return complex_numbers.reciprocal(op, power_) if exponent < 0 else power_


def prod(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.prod.dim_int(x) {dim} -> the product of the magnitudes, and the sum of the angles"""
    x = complex_numbers.parts(op, node.op.operands[0])
    size, angle = complex_numbers.magnitude(op, x), complex_numbers.angle_of(op, x.imaginary, x.real)
    dim, keep = node.attribute("dim", None), node.flag("keepdim", False)
    if rank_of(size) == 0:
        return node.op.operands[0]
    axes = all_axes(op, size) if not isinstance(dim, int) else [axis_from_front(node, dim, rank_of(size) or 1)]
    size, angle = op.ReduceProd(size, axes, keep_dims=keep), op.ReduceSum(angle, axes, keep_dims=keep)
    return complex_numbers.paired(op, op.Multiply(size, op.Cos(angle)), op.Multiply(size, op.Sin(angle)))


def cumprod(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.cumprod.default(x) {dim} -> the running product of the magnitudes, and the running sum of the angles"""
    x = complex_numbers.parts(op, node.op.operands[0])
    size, angle = complex_numbers.magnitude(op, x), complex_numbers.angle_of(op, x.imaginary, x.real)
    axis = axis_from_front(node, node.integer("dim"), rank_of(size) or 1)
    size, angle = running_product(op, size, axis), op.CumSum(angle, op.constant(axis))
    return complex_numbers.paired(op, op.Multiply(size, op.Cos(angle)), op.Multiply(size, op.Sin(angle)))


def is_nan(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.isnan.default(x) -> whether one part is NaN"""
    return op.ReduceLogicalOr(op.IsNaN(node.op.operands[0]), [-1], keep_dims=False)


def is_infinite(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.isinf.default(x) -> whether one part is infinite"""
    return op.ReduceLogicalOr(op.IsInf(node.op.operands[0]), [-1], keep_dims=False)


def is_finite(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.isfinite.default(x) -> whether both parts are finite"""
    return op.ReduceLogicalAnd(op.IsFinite(node.op.operands[0]), [-1], keep_dims=False)


def is_real(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.isreal.default(x) -> whether the imaginary part is 0"""
    return op.Equal(part(op, node.op.operands[0], 1), 0.0)


def is_zero(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.logical_not.default(x) -> whether both parts are 0"""
    return op.LogicalNot(_is_nonzero(node, op))


def all_nonzero(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.all.dim(x) {dim} -> whether all numbers differ from 0"""
    is_nonzero = _is_nonzero(node, op)
    return op.ReduceLogicalAnd(is_nonzero, _reduced_axes(node, op, is_nonzero), keep_dims=node.flag("keepdim", False))


def any_nonzero(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.any.dim(x) {dim} -> whether a number differs from 0"""
    is_nonzero = _is_nonzero(node, op)
    return op.ReduceLogicalOr(is_nonzero, _reduced_axes(node, op, is_nonzero), keep_dims=node.flag("keepdim", False))


def _is_nonzero(node: LoweringNode, op: OpBuilder) -> SSAValue:
    return op.ReduceLogicalOr(op.NotEqual(node.op.operands[0], 0.0), [-1], keep_dims=False)


def _reduced_axes(node: LoweringNode, op: OpBuilder, x: SSAValue) -> Sequence[int] | SSAValue:
    """The axes in attribute dim; all axes of x if there is none."""
    dim = node.attribute("dim", None)
    dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return axes_from_front(node, dims, rank_of(x) or 1) if dims else all_axes(op, x)


def addcmul(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.addcmul.default(x, y, z) {value} -> x + value · y · z; `addcdiv` with y / z"""
    x, y, z = (_number(node, op, name) for name in ("self", "tensor1", "tensor2"))
    result = (complex_numbers.over if node.op.KIND.startswith("addcdiv") else complex_numbers.times)(op, y, z)
    if node.has("value"):
        result = complex_numbers.times(op, _number(node, op, "value"), result)
    result = complex_numbers.plus(op, x, result)
    return complex_numbers.paired(op, result.real, result.imaginary)


def lerp(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.lerp.Tensor(x, y, w) -> x + w · (y - x)"""
    x, y, w = (_number(node, op, name) for name in ("self", "end", "weight"))
    interpolated = complex_numbers.plus(op, x, complex_numbers.times(op, w, complex_numbers.minus(op, y, x)))
    return complex_numbers.paired(op, interpolated.real, interpolated.imaginary)


def adjoint(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.adjoint.default(x) -> the conjugate of x, its last two axes exchanged"""
    x, rank = node.op.operands[0], node.known_rank(0)
    return complex_numbers.conjugated(op, op.transposed(x, [*range(rank - 3), rank - 2, rank - 3, rank - 1]))


# Matrices: the real matrix [[a, -b], [b, a]] multiplies as a + bi does.


def _extracted(op: OpBuilder, matrix: SSAValue, rows: int, columns: int) -> SSAValue:
    left = op.Slice(matrix, [0], [columns], [1], [-1])
    return complex_numbers.paired(op, op.Slice(left, [0], [rows], [1], [-2]), op.Slice(left, [rows], [2 * rows], [1], [-2]))


def _matrices(node: LoweringNode, op: OpBuilder, name: str) -> tuple[SSAValue, int, int]:
    """Complex matrices as real matrices [[a, -b], [b, a]], with the original numbers of rows and columns.

    Raises ConversionError if these are dynamic.
    """
    x = _number(node, op, name)
    shape = shape_of(x.real)
    if shape is None or len(shape) < 2 or min(shape[-2:]) < 1:
        node.fail("the sizes of its matrices are dynamic or 0", hint="export the program with matrices of static sizes")
    return complex_numbers.block_matrix(op, x), shape[-2], shape[-1]


def _first_name(node: LoweringNode) -> str:
    return node.texts("arguments")[0]


def through_real_matrices(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The result of `handler`, a function of one complex matrix: the function of its real matrix [[a, -b], [b, a]],
    converted back.
    """
    matrix, rows, columns = _matrices(node, op, _first_name(node))
    (result, *others) = results_for(node, op, handler, [matrix])
    if result is None or any(node.is_used(index + 1) for index in range(len(others))):
        node.fail("it computes with complex numbers", hint="the operation sets have real numbers only; compute with their parts")
    wide = "pinv" in node.op.KIND
    return [_extracted(op, result, columns if wide else rows, rows if wide else columns), *[None] * len(others)]


def solved(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.linalg_solve.default(a, b) {left} -> opset14.Inverse(real matrix of a) · real matrix of b"""
    if any(node.is_used(index) for index in range(1, node.result_count)):
        node.fail("other results than the solution are used")
    a, rows, _ = _matrices(node, op, "A")
    b = _number(node, op, "B")
    rank = (rank_of(b.real) or 1) + 1
    is_vector = rank == 2 or (rank == node.known_rank(0) - 1 and (shape_of(b.real) or ()) == (node.shape(0) or ())[:-2])
    if is_vector:
        b = Number(op.Unsqueeze(b.real, [-1]), op.Unsqueeze(b.imaginary, [-1]))
    inverse = op.Inverse(a)
    if node.flag("left", True):
        solution = op.MatMul(inverse, op.Concat(b.real, b.imaginary, axis=-2))
        halves = [op.Slice(solution, [start], [start + rows], [1], [-2]) for start in (0, rows)]
    else:
        # The rows of b as rows of its real matrix: [re, -im].
        solution = op.MatMul(op.Concat(b.real, op.Negative(b.imaginary), axis=-1), inverse)
        halves = [op.Slice(solution, [start], [start + rows], [1], [-1]) for start in (0, rows)]
        halves[1] = op.Negative(halves[1])
    if is_vector:
        halves = [op.Squeeze(each, [-1]) for each in halves]
    return [complex_numbers.paired(op, *halves), *[None] * (node.result_count - 1)]


def triangular(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.linalg_solve_triangular.default(a, b) {upper} -> opset14.Inverse of a real matrix · b"""
    is_old = node.op.KIND.startswith("triangular")
    a, b = _number(node, op, "A" if is_old else "self"), _number(node, op, "self" if is_old else "B")
    is_lower, shape = not node.flag("upper", is_old), shape_of(a.real)
    if shape is None or min(shape[-2:]) < 1:
        node.fail("the sizes of its matrices are dynamic or 0", hint="export the program with matrices of static sizes")
    if node.flag("unitriangular", False):
        real = with_unit_diagonal(op, a.real, is_lower=is_lower)
        triangle = Number(real, triangle_of(op, a.imaginary, -1 if is_lower else 1, is_lower=is_lower))
    else:
        triangle = Number(*(triangle_of(op, each, is_lower=is_lower) for each in a))
    if node.flag("transpose", False):
        triangle = Number(*(transposed(op, each) for each in triangle))
    inverse = _extracted(op, op.Inverse(complex_numbers.block_matrix(op, triangle)), shape[-1], shape[-1])
    quotient = complex_numbers.bilinear(
        op, lambda x, y: op.MatMul(x, y) if node.flag("left", True) else op.MatMul(y, x), complex_numbers.parts(op, inverse), b
    )
    solution = complex_numbers.paired(op, quotient.real, quotient.imaginary)
    return [solution, complex_numbers.paired(op, a.real, a.imaginary)] if is_old else [solution]


def twice(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The singular values or eigenvalues of a complex matrix, computed by `handler` for the real matrix [[a, -b], [b,
    a]].

    The real matrix has each value twice, so every second one is taken. Raises ConversionError if vectors are used.
    """
    matrix, _, _ = _matrices(node, op, _first_name(node))
    position = 1 if node.op.KIND.startswith("_linalg_svd") else 0
    if any(node.is_used(index) for index in range(node.result_count) if index != position):
        node.fail("vectors of complex matrices are not supported", hint="compute with their parts")
    result = results_for(node, op, handler, [matrix])[position]
    assert result is not None
    values = op.Slice(result, [0], [2**31 - 1], [2], [(rank_of(result) or 1) - 1])
    return [values if index == position else None for index in range(node.result_count)]


# Operations that are bilinear in two operands


def bilinear_result(
    node: LoweringNode, op: OpBuilder, handler: BoundHandler, arguments: tuple[str, str, str | None], *, conjugates: bool
) -> Replacement:
    """The result of a bilinear function of complex operands, computed from four results of `handler` for their real and
    imaginary parts.

    `arguments` are the names of the operands a and b, and of an operand c that is added: a · b + c. With `conjugates`,
    a is conjugated.
    """
    first, second, added = arguments
    names = list(node.texts("arguments"))
    if first not in names:
        first, second = ("x", "y")
    if any(isinstance(node.attribute(name, None), tuple | list) for name in ("alpha", "beta")):
        node.fail("its factors have imaginary parts")

    def applied(one: int, other: int, rest: int | None) -> SSAValue:
        operands: list[SSAValue] = []
        for index, (name, value) in enumerate(zip(names, node.op.operands, strict=True)):
            part = one if name == first else other if name == second else rest
            is_pair = index in complex_operands(node.op)
            value = op.Gather(value, op.constant(part or 0), -1) if is_pair else value
            if part is None or (part == 1 and not is_pair):
                value = op.Multiply(value, 0)
            operands.append(value)
        (result,) = results_for(node, op, handler, operands)
        assert result is not None
        return result

    def combined(a: SSAValue, b: SSAValue, sign: int) -> SSAValue:
        return op.Add(a, b) if sign > 0 else op.Subtract(a, b)

    sign = 1 if conjugates else -1
    has_added = added is not None and added in names
    real = combined(applied(0, 0, 0), applied(1, 1, None if has_added else 0), sign)
    imaginary = combined(applied(0, 1, 1 if has_added else 0), applied(1, 0, None if has_added else 0), -sign)
    return [complex_numbers.paired(op, real, imaginary)]


def of_magnitudes(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The result of `handler` applied to the magnitudes of complex elements.

    Raises ConversionError for norms by singular values.
    """
    sizes = [complex_numbers.magnitude(op, complex_numbers.parts(op, each)) for each in node.op.operands[:1]]
    order = node.attribute("ord", node.attribute("p", None))
    if "matrix" in node.op.KIND and (order == "nuc" or (isinstance(order, int | float) and abs(order) == 2)):
        node.fail("singular values of complex matrices in norms are not supported")
    return list(results_for(node, op, handler, [*sizes, *node.op.operands[1:]]))


def variance(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The variance of complex numbers, the sum of the variances of both parts by `handler`; for the kind `std` the root
    of the sum.
    """
    x = complex_numbers.parts(op, node.op.operands[0])
    rest = list(node.op.operands[1:])
    variances = [results_for(node, op, handler, [each, *rest])[0] for each in x]
    assert variances[0] is not None
    assert variances[1] is not None
    if node.op.KIND.startswith("std"):
        return [op.Sqrt(op.Add(*(op.Multiply(each, each) for each in variances if each is not None)))]
    return [op.Add(variances[0], variances[1])]
