"""Functions of `tf.linalg` and products, and functions of `tf.math` that are expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.lowering.keras.tensorflow.calls import Call, Tensor, function


@function("linalg.matmul")
def matmul(
    call: Call,
    a: Tensor,
    b: Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: object = None,
) -> SSAValue:
    """tf.linalg.matmul: tf.BatchMatMulV2; the adjoint of real matrices is their transposition"""
    del a_is_sparse, b_is_sparse
    result = call.raw("BatchMatMulV2", *call.alike(a, b), adj_x=transpose_a or adjoint_a, adj_y=transpose_b or adjoint_b)
    return result if output_type is None else call.op.convert(result, call.element(output_type))


@function("linalg.matvec")
def matvec(
    call: Call,
    a: Tensor,
    b: Tensor,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> SSAValue:
    """tf.linalg.matvec: tf.BatchMatMulV2 with a column"""
    del a_is_sparse, b_is_sparse
    matrix, column = call.alike(a, b)
    result = call.raw("BatchMatMulV2", matrix, call.op.Unsqueeze(column, [-1]), adj_x=transpose_a or adjoint_a)
    return call.raw("Squeeze", result, squeeze_dims=[-1])


@function("linalg.matrix_transpose", "linalg.adjoint")
def matrix_transpose(call: Call, a: Tensor, conjugate: bool = False) -> SSAValue:
    """tf.linalg.matrix_transpose: tf.Transpose of the last two dimensions"""
    del conjugate
    matrix = call.tensor(a)
    rank = call.rank(matrix)
    return call.raw("Transpose", matrix, call.integers([*range(rank - 2), rank - 1, rank - 2]))


@function("tensordot")
def tensordot(call: Call, a: Tensor, b: Tensor, axes: Tensor) -> SSAValue:
    """tf.tensordot: tf.Einsum whose terms share the letters of the axes"""
    first, second = call.alike(a, b)
    ranks = call.rank(first), call.rank(second)
    if isinstance(axes, int):
        of_first, of_second = list(range(ranks[0] - axes, ranks[0])), list(range(axes))
    else:
        if not isinstance(axes, list) or len(cast("list[Any]", axes)) != 2:
            call.fail("its axes are not a number or two lists")
        of_first, of_second = call.axes(axes[0], first), call.axes(axes[1], second)
    letters = [chr(ord("a") + index) for index in range(sum(ranks))]
    left, right = letters[: ranks[0]], letters[ranks[0] :]
    for axis, other in zip(of_first, of_second, strict=False):
        right[other] = left[axis]
    result = [each for index, each in enumerate(left) if index not in of_first]
    result += [each for index, each in enumerate(right) if index not in of_second]
    return call.raw("Einsum", first, second, equation=f"{''.join(left)},{''.join(right)}->{''.join(result)}")


@function("einsum", "linalg.einsum")
def einsum(call: Call, equation: str, *inputs: Tensor, optimize: object = None) -> SSAValue:
    """tf.einsum: tf.Einsum"""
    del optimize
    # Keras makes one list of the tensors of several arguments.
    listed: Sequence[Any] = [each for value in inputs for each in (cast("list[Any]", value) if isinstance(value, list) else [value])]
    return call.raw("Einsum", *call.alike(*listed), equation=equation)


@function("linalg.trace")
def trace(call: Call, x: Tensor) -> SSAValue:
    """tf.linalg.trace: tf.Sum of tf.MatrixDiagPart"""
    return call.reduced("Sum", call.raw("MatrixDiagPart", call.tensor(x)), -1)


@function("linalg.diag")
def diag(
    call: Call,
    diagonal: Tensor,
    k: Tensor = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: Tensor = 0,
    align: str = "RIGHT_LEFT",
) -> SSAValue:
    """tf.linalg.diag: tf.MatrixDiagV3"""
    values = call.tensor(diagonal)
    sizes = [call.integers(each) for each in (k, num_rows, num_cols)]
    return call.raw("MatrixDiagV3", values, *sizes, call.tensor(padding_value, element_of(values)), align=align)


@function("linalg.diag_part")
def diag_part(call: Call, input: Tensor, k: Tensor = 0, padding_value: Tensor = 0, align: str = "RIGHT_LEFT") -> SSAValue:
    """tf.linalg.diag_part: tf.MatrixDiagPartV3"""
    matrix = call.tensor(input)
    return call.raw("MatrixDiagPartV3", matrix, call.integers(k), call.tensor(padding_value, element_of(matrix)), align=align)


@function("linalg.set_diag")
def set_diag(call: Call, input: Tensor, diagonal: Tensor, k: Tensor = 0, align: str = "RIGHT_LEFT") -> SSAValue:
    """tf.linalg.set_diag: tf.MatrixSetDiagV3"""
    return call.raw("MatrixSetDiagV3", *call.alike(input, diagonal), call.integers(k), align=align)


@function("linalg.slogdet")
def slogdet(call: Call, input: Tensor) -> list[SSAValue]:
    """tf.linalg.slogdet: tf.LogMatrixDeterminant"""
    return call.results("LogMatrixDeterminant", 2, call.tensor(input))


@function("linalg.logdet")
def logdet(call: Call, matrix: Tensor) -> SSAValue:
    """tf.linalg.logdet: twice the sum of the logarithms of the diagonal of tf.Cholesky"""
    diagonal = call.raw("MatrixDiagPart", call.raw("Cholesky", call.tensor(matrix)))
    return call.raw("Mul", call.tensor(2.0), call.reduced("Sum", call.raw("Log", diagonal), -1))


# Expressions


@function("math.logical_xor")
def logical_xor(call: Call, x: Tensor, y: Tensor) -> SSAValue:
    """tf.math.logical_xor: tf.NotEqual of booleans"""
    return call.raw("NotEqual", *call.alike(x, y))


@function("math.reciprocal_no_nan")
def reciprocal_no_nan(call: Call, x: Tensor) -> SSAValue:
    """tf.math.reciprocal_no_nan: tf.DivNoNan(1, x)"""
    data = call.tensor(x)
    return call.raw("DivNoNan", call.number_like(1, data), data)


@function("math.scalar_mul")
def scalar_mul(call: Call, scalar: Tensor, x: Tensor) -> SSAValue:
    """tf.math.scalar_mul: tf.Mul"""
    return call.raw("Mul", *call.alike(scalar, x))


@function("math.polyval")
def polyval(call: Call, coeffs: Tensor, x: Tensor) -> SSAValue:
    """tf.math.polyval: Horner's rule"""
    if not isinstance(coeffs, list):
        call.fail("its coefficients are not a list")
    factors = cast("list[Tensor]", coeffs)
    data, *values = call.alike(x, *factors)
    if not values:
        return call.raw("ZerosLike", data)
    result = values[0]
    for each in values[1:]:
        result = call.raw("AddV2", each, call.raw("Mul", result, data))
    return result


@function("math.in_top_k")
def in_top_k(call: Call, targets: Tensor, predictions: Tensor, k: int) -> SSAValue:
    """tf.math.in_top_k: tf.InTopKV2"""
    classes = call.integers(targets)
    return call.raw("InTopKV2", call.tensor(predictions), classes, call.tensor(k, element_of(classes)))


@function("math.unsorted_segment_mean", "math.unsorted_segment_sqrt_n")
def unsorted_segment_mean(call: Call, data: Tensor, segment_ids: Tensor, num_segments: Tensor) -> SSAValue:
    """tf.math.unsorted_segment_mean: tf.UnsortedSegmentSum, divided by the counts, at least 1, or by their roots"""
    values, segments, count = call.tensor(data), call.integers(segment_ids), call.integers(num_segments)
    ones = call.raw("OnesLike", call.op.convert(segments, element_of(values)))
    counts = call.raw("Maximum", call.raw("UnsortedSegmentSum", ones, segments, count), call.number_like(1, values))
    further = call.rank(values) - call.rank(segments)
    if further:
        counts = call.op.Unsqueeze(counts, list(range(1, 1 + further)))
    if call.node.text("function").endswith("sqrt_n"):
        counts = call.raw("Sqrt", counts)
    return call.raw("RealDiv", call.raw("UnsortedSegmentSum", values, segments, count), counts)
