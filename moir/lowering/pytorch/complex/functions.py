"""Functions of complex numbers by formulas on their parts, and operations that are bilinear in two operands."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.expansions import complex_numbers
from moir.expansions.complex_numbers import Number, Unary
from moir.expansions.linear_algebra.matrix_diagonals import triangle_of
from moir.expansions.linear_algebra.triangles import with_unit_diagonal
from moir.expansions.running_products import running_product
from moir.expansions.shape_values import all_axes
from moir.expansions.transposition import transposed
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import axes_from_front, axis_from_front
from moir.lowering.pytorch.complex.arithmetic import pair_of
from moir.lowering.pytorch.complex.layout import WITH_HANDLERS, by_handler, complex_operands, for_pairs
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder

UNARY: Mapping[str, Unary] = {
    **{stem: complex_numbers.FUNCTIONS[stem] for stem in ("log", "log10", "log2", "log1p", "exp2", "expm1", "sqrt", "rsqrt", "square")},
    **{stem: complex_numbers.FUNCTIONS[stem] for stem in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "silu")},
    **{stem: complex_numbers.FUNCTIONS[stem] for stem in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "sgn": complex_numbers.direction,
}
"""Functions of one complex number, by the stems of their kinds."""

LARGEST_POWER = 64
"""The largest exponent of a power that is a product."""


def _number(node: LoweringNode, op: OpBuilder, name: str) -> Number:
    real, imaginary = pair_of(node, op, name)
    return Number(real, op.Multiply(real, 0) if imaginary is None else imaginary)


@for_pairs(*UNARY)
def unary(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.log.default(x) -> the logarithm of the length and the angle, and so on"""
    found = UNARY[node.op.KIND.rpartition(".")[0]](op, complex_numbers.parts(op, node.op.operands[0]))
    return complex_numbers.paired(op, found.real, found.imaginary)


@for_pairs("pow", "float_power")
def power(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.pow.Tensor_Scalar(x, n) -> products for small whole numbers, else exp(n · log(x))"""
    base, exponent = _number(node, op, "self"), node.attribute("exponent", None)
    if isinstance(exponent, int | float) and float(exponent).is_integer() and 0 < abs(exponent) <= LARGEST_POWER:
        found = _integer_power(op, base, int(exponent))
    else:
        found = complex_numbers.power(op, base, _number(node, op, "exponent"))
    return complex_numbers.paired(op, found.real, found.imaginary)


def _integer_power(op: OpBuilder, base: Number, exponent: int) -> Number:
    bits, found = abs(exponent), None
    square = base
    while bits:
        if bits % 2:
            found = square if found is None else complex_numbers.times(op, found, square)
        bits //= 2
        square = complex_numbers.times(op, square, square) if bits else square
    assert found is not None
    return complex_numbers.reciprocal(op, found) if exponent < 0 else found


@for_pairs("prod")
def prod(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.prod.dim_int(x) {dim} -> the product of the lengths, and the sum of the angles"""
    x = complex_numbers.parts(op, node.op.operands[0])
    size, angle = complex_numbers.magnitude(op, x), complex_numbers.angle_of(op, x.imaginary, x.real)
    dim, keep = node.attribute("dim", None), node.flag("keepdim", False)
    if rank_of(size) == 0:
        return node.op.operands[0]
    axes = all_axes(op, size) if not isinstance(dim, int) else [axis_from_front(node, dim, rank_of(size) or 1)]
    size, angle = op.ReduceProd(size, axes, keep_dims=keep), op.ReduceSum(angle, axes, keep_dims=keep)
    return complex_numbers.paired(op, op.Multiply(size, op.Cos(angle)), op.Multiply(size, op.Sin(angle)))


@for_pairs("cumprod")
def cumprod(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.cumprod.default(x) {dim} -> the running product of the lengths, and the running sum of the angles"""
    x = complex_numbers.parts(op, node.op.operands[0])
    size, angle = complex_numbers.magnitude(op, x), complex_numbers.angle_of(op, x.imaginary, x.real)
    axis = axis_from_front(node, node.integer("dim"), rank_of(size) or 1)
    size, angle = running_product(op, size, axis), op.CumSum(angle, op.constant(axis))
    return complex_numbers.paired(op, op.Multiply(size, op.Cos(angle)), op.Multiply(size, op.Sin(angle)))


@for_pairs("isnan", "isinf", "isfinite", "isreal", "logical_not", "all", "any")
def examined(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.isnan.default(x) -> whether one part is NaN, and so on"""
    x, stem = node.op.operands[0], node.op.KIND.rpartition(".")[0]
    either = {"isnan": op.IsNaN, "isinf": op.IsInf}
    if stem in either:
        return op.ReduceLogicalOr(either[stem](x), [-1], keep_dims=False)
    if stem == "isfinite":
        return op.ReduceLogicalAnd(op.IsFinite(x), [-1], keep_dims=False)
    if stem == "isreal":
        return op.Equal(complex_numbers.parts(op, x).imaginary, 0.0)
    is_there = op.ReduceLogicalOr(op.NotEqual(x, 0.0), [-1], keep_dims=False)
    if stem == "logical_not":
        return op.LogicalNot(is_there)
    given, keep = node.attribute("dim", None), node.flag("keepdim", False)
    dims = [] if given is None else [given] if isinstance(given, int) else list(given)
    axes = axes_from_front(node, dims, rank_of(is_there) or 1) if dims else all_axes(op, is_there)
    return (op.ReduceLogicalAnd if stem == "all" else op.ReduceLogicalOr)(is_there, axes, keep_dims=keep)


@for_pairs("addcmul", "addcdiv")
def addcmul(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.addcmul.default(x, y, z) {value} -> x + value · y · z; `addcdiv` with y / z"""
    x, y, z = (_number(node, op, name) for name in ("self", "tensor1", "tensor2"))
    found = (complex_numbers.over if node.op.KIND.startswith("addcdiv") else complex_numbers.times)(op, y, z)
    if node.has("value"):
        found = complex_numbers.times(op, _number(node, op, "value"), found)
    found = complex_numbers.plus(op, x, found)
    return complex_numbers.paired(op, found.real, found.imaginary)


@for_pairs("lerp")
def lerp(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.lerp.Tensor(x, y, w) -> x + w · (y - x)"""
    x, y, w = (_number(node, op, name) for name in ("self", "end", "weight"))
    found = complex_numbers.plus(op, x, complex_numbers.times(op, w, complex_numbers.minus(op, y, x)))
    return complex_numbers.paired(op, found.real, found.imaginary)


@for_pairs("mH", "matrix_H", "adjoint")
def adjoint(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.adjoint.default(x) -> the conjugate of x, its last two axes exchanged"""
    x, rank = node.op.operands[0], node.known_rank(0)
    return complex_numbers.conjugated(op, op.transposed(x, [*range(rank - 3), rank - 2, rank - 3, rank - 1]))


# Matrices: the real matrix [[a, -b], [b, a]] multiplies as a + bi does.


def _extracted(op: OpBuilder, matrix: SSAValue, rows: int, columns: int) -> SSAValue:
    left = op.Slice(matrix, [0], [columns], [1], [-1])
    return complex_numbers.paired(op, op.Slice(left, [0], [rows], [1], [-2]), op.Slice(left, [rows], [2 * rows], [1], [-2]))


def _matrices(node: LoweringNode, op: OpBuilder, name: str) -> tuple[SSAValue, int, int]:
    """Matrices as real ones, with the numbers of rows and columns. Raises ConversionError if these are unknown."""
    x = _number(node, op, name)
    shape = shape_of(x.real)
    if shape is None or len(shape) < 2 or min(shape[-2:]) < 1:
        node.fail("the sizes of its matrices are unknown or 0", hint="export the program with matrices of a known size")
    return complex_numbers.block_matrix(op, x), shape[-2], shape[-1]


def _first_name(node: LoweringNode) -> str:
    return node.texts("arguments")[0]


def through_real_matrices(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The results of a function of one matrix for the real matrix that multiplies as it does."""
    matrix, rows, columns = _matrices(node, op, _first_name(node))
    (found, *others) = by_handler(node, op, handler, [matrix], {})
    if found is None or any(node.is_used(index + 1) for index in range(len(others))):
        node.fail("it computes with complex numbers", hint="OpenVINO IR has real numbers only; compute with their parts")
    wide = "pinv" in node.op.KIND
    return [_extracted(op, found, columns if wide else rows, rows if wide else columns), *[None] * len(others)]


def solved(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.linalg_solve.default(a, b) {left} -> opset14.Inverse of the real matrix of a · that of b"""
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
        found = op.MatMul(inverse, op.Concat(b.real, b.imaginary, axis=-2))
        halves = [op.Slice(found, [start], [start + rows], [1], [-2]) for start in (0, rows)]
    else:
        # The rows of b as rows of the embedding: [re, -im].
        found = op.MatMul(op.Concat(b.real, op.Negative(b.imaginary), axis=-1), inverse)
        halves = [op.Slice(found, [start], [start + rows], [1], [-1]) for start in (0, rows)]
        halves[1] = op.Negative(halves[1])
    if is_vector:
        halves = [op.Squeeze(each, [-1]) for each in halves]
    return [complex_numbers.paired(op, *halves), *[None] * (node.result_count - 1)]


for_pairs("linalg_solve", "linalg_solve_ex", "_linalg_solve_ex")(solved)


@for_pairs("linalg_solve_triangular", "triangular_solve")
def triangular(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.linalg_solve_triangular.default(a, b) {upper} -> opset14.Inverse of a real matrix · b"""
    is_old = node.op.KIND.startswith("triangular")
    a, b = _number(node, op, "A" if is_old else "self"), _number(node, op, "self" if is_old else "B")
    is_lower, shape = not node.flag("upper", is_old), shape_of(a.real)
    if shape is None or min(shape[-2:]) < 1:
        node.fail("the sizes of its matrices are unknown or 0", hint="export the program with matrices of a known size")
    if node.flag("unitriangular", False):
        real = with_unit_diagonal(op, a.real, is_lower=is_lower)
        triangle = Number(real, triangle_of(op, a.imaginary, -1 if is_lower else 1, is_lower=is_lower))
    else:
        triangle = Number(*(triangle_of(op, each, is_lower=is_lower) for each in a))
    if node.flag("transpose", False):
        triangle = Number(*(transposed(op, each) for each in triangle))
    inverse = _extracted(op, op.Inverse(complex_numbers.block_matrix(op, triangle)), shape[-1], shape[-1])
    found = complex_numbers.bilinear(
        op, lambda x, y: op.MatMul(x, y) if node.flag("left", True) else op.MatMul(y, x), complex_numbers.parts(op, inverse), b
    )
    solution = complex_numbers.paired(op, found.real, found.imaginary)
    return [solution, complex_numbers.paired(op, a.real, a.imaginary)] if is_old else [solution]


def twice(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The singular values or eigenvalues of the real matrix, of which each is there twice."""
    matrix, _, _ = _matrices(node, op, _first_name(node))
    place = 1 if node.op.KIND.startswith("_linalg_svd") else 0
    if any(node.is_used(index) for index in range(node.result_count) if index != place):
        node.fail("vectors of complex matrices are not supported", hint="compute with their parts")
    found = by_handler(node, op, handler, [matrix], {})[place]
    assert found is not None
    values = op.Slice(found, [0], [2**31 - 1], [2], [(rank_of(found) or 1) - 1])
    return [values if index == place else None for index in range(node.result_count)]


# Operations that are bilinear in two operands

_BILINEAR: Mapping[str, tuple[str, str, str | None]] = {
    **dict.fromkeys(("outer", "ger"), ("self", "vec2", None)),
    **dict.fromkeys(("kron", "inner", "tensordot", "linalg_cross", "cross"), ("self", "other", None)),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution", "linear"), ("input", "weight", "bias")),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), ("input", "weight", "bias")),
    "addmm": ("mat1", "mat2", "self"),
    **dict.fromkeys(("baddbmm", "addbmm"), ("batch1", "batch2", "self")),
    "addmv": ("mat", "vec", "self"),
    "addr": ("vec1", "vec2", "self"),
    **dict.fromkeys(("vdot", "linalg_vecdot"), ("self", "other", None)),
}
"""Operations by their stems, with the names of both operands, and of one that is added."""


def bilinear(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The real part of four real results less the second, and so on: of both operands, with what is added."""
    stem = node.op.KIND.rpartition(".")[0]
    first, second, added = _BILINEAR[stem]
    names = list(node.texts("arguments"))
    if first not in names:
        first, second = ("x", "y")
    if any(isinstance(node.attribute(name, None), tuple | list) for name in ("alpha", "beta")):
        node.fail("its factors have imaginary parts")
    conjugates = stem in ("vdot", "linalg_vecdot")

    def applied(one: int, other: int, rest: int | None) -> SSAValue:
        operands: list[SSAValue] = []
        for index, (name, value) in enumerate(zip(names, node.op.operands, strict=True)):
            part = one if name == first else other if name == second else rest
            is_pair = index in (complex_operands(node.op) or ())
            value = op.Gather(value, op.constant(part or 0), -1) if is_pair else value
            if part is None or (part == 1 and not is_pair):
                value = op.Multiply(value, 0)
            operands.append(value)
        (found,) = by_handler(node, op, handler, operands, {})
        assert found is not None
        return found

    def combined(a: SSAValue, b: SSAValue, sign: int) -> SSAValue:
        return op.Add(a, b) if sign > 0 else op.Subtract(a, b)

    sign = 1 if conjugates else -1
    has_added = added is not None and added in names
    real = combined(applied(0, 0, 0), applied(1, 1, None if has_added else 0), sign)
    imaginary = combined(applied(0, 1, 1 if has_added else 0), applied(1, 0, None if has_added else 0), -sign)
    return [complex_numbers.paired(op, real, imaginary)]


def of_magnitudes(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The result for the lengths, such as norms."""
    sizes = [complex_numbers.magnitude(op, complex_numbers.parts(op, each)) for each in node.op.operands[:1]]
    order = node.attribute("ord", node.attribute("p", None))
    if "matrix" in node.op.KIND and (order == "nuc" or (isinstance(order, int | float) and abs(order) == 2)):
        node.fail("singular values of complex matrices in norms are not supported")
    return list(by_handler(node, op, handler, [*sizes, *node.op.operands[1:]], {}))


def variance(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The variance is the sum of those of both parts."""
    x = complex_numbers.parts(op, node.op.operands[0])
    rest = list(node.op.operands[1:])
    found = [by_handler(node, op, handler, [each, *rest], {})[0] for each in x]
    assert found[0] is not None
    assert found[1] is not None
    if node.op.KIND.startswith("std"):
        return [op.Sqrt(op.Add(*(op.Multiply(each, each) for each in found if each is not None)))]
    return [op.Add(found[0], found[1])]


WITH_HANDLERS.update(
    {
        **dict.fromkeys(_BILINEAR, bilinear),
        **dict.fromkeys(
            ("linalg_inv", "linalg_inv_ex", "inverse", "matrix_exp", "linalg_matrix_exp", "matrix_power"), through_real_matrices
        ),
        **dict.fromkeys(("linalg_matrix_power", "linalg_pinv", "pinverse", "linalg_matrix_sqrth"), through_real_matrices),
        **dict.fromkeys(("linalg_svdvals", "linalg_eigvalsh", "_linalg_svd", "_linalg_eigh"), twice),
        **dict.fromkeys(("linalg_vector_norm", "norm", "linalg_norm", "linalg_matrix_norm", "frobenius_norm"), of_magnitudes),
        **dict.fromkeys(("var", "std"), variance),
    }
)
