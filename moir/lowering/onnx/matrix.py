"""Products and triangles of matrices, Einstein summation.

    %y = onnx.Gemm(%a, %b, %c) {transB = 1}
->  %0 = opset1.MatMul(%a, %b) {transpose_b = true}
    %y = opset1.Add(%0, %c)
"""

from __future__ import annotations

from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, f32, si32, si64, string
from moir.dialects.large_arrays import computed
from moir.dialects.memory_map import Array
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.expansions.constant_forms import small_constant
from moir.expansions.linear_algebra.einstein_sums import einstein_sum
from moir.expansions.shape_values import dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_factor, as_terms, fixed
from moir.rewriting.builder import OpBuilder

MAXIMUM_MASK_ELEMENTS = 1 << 22
"""Masks of more elements are computed at run time."""


@onnx.lowers("MatMul", rank=as_factor)
def product(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """onnx.MatMul(a, b) -> opset1.MatMul(a, b)"""
    return op.MatMul(a, b)


@onnx.lowers("Gemm", rank=fixed(2, 2))
def general_product(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, c: SSAValue | None = None) -> SSAValue:
    """onnx.Gemm(a, b, c) {alpha, beta, transA, transB}
    -> Add(MatMul(a, b) {transpose_a, transpose_b}, c), with Multiplies for factors other than 1
    """
    return affine_product(node, op, a, b, c)


def affine_product(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, c: SSAValue | None) -> SSAValue:
    """The result of a Gemm, alpha · a · b + beta · c, with the attributes of the node; c may be None."""
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    source = element_of(a)
    # The factors are floats even if the matrices have integers.
    if source in INTEGER_TYPES and not (alpha.is_integer() and beta.is_integer()):
        a, b, c = op.convert(a, f32), op.convert(b, f32), None if c is None else op.convert(c, f32)
    if any(0 in (shape_of(each) or ()) for each in (a, b)):
        # Whether an operand is one matrix or several decides how a product without elements is written.
        a, b = (op.Reshape(each, [0, 0], special_zero=True) if rank_of(each) is None else each for each in (a, b))
    b = _with_columns_of(op, _scaled(op, b, alpha), c, node.flag("transB"))
    result = op.MatMul(a, b, transpose_a=node.flag("transA"), transpose_b=node.flag("transB"))
    if c is not None and beta != 0:
        result = op.Add(result, _scaled(op, c, beta))
    return result if element_of(result) == source else op.convert(result, source)


def _with_columns_of(op: OpBuilder, matrix: SSAValue, added: SSAValue | None, is_transposed: bool) -> SSAValue:
    """The right operand of a product, reshaped if need be so that its type states the number of columns.

    The shape of the summand `added` may imply this number, so that the sizes of the product are static if its number of
    rows is.
    """
    shape, columns = shape_of(matrix) or (-1, -1), (() if added is None else shape_of(added) or ())[-1:]
    if columns in ((), (-1,), (0,), (1,)) or len(shape) != 2 or shape[0 if is_transposed else 1] >= 0:
        return matrix
    return op.Reshape(matrix, [*columns, 0] if is_transposed else [0, *columns], special_zero=True)


def _scaled(op: OpBuilder, value: SSAValue, factor: float) -> SSAValue:
    """A value multiplied by a number; the value itself for 1. Constants of unpacked element types stay constants."""
    if factor == 1:
        return value
    values = small_constant(op, value)
    if values is None:
        return op.Multiply(value, factor)
    return op.constant(computed(partial(_multiplied, factor), values), element_of(value))


def _multiplied(factor: float, array: Array) -> Array:
    return (array * factor).astype(array.dtype)


@onnx.lowers("MatMulInteger")
def integer_product(
    op: OpBuilder, a: SSAValue, b: SSAValue, a_zero_point: SSAValue | None = None, b_zero_point: SSAValue | None = None
) -> SSAValue:
    """onnx.MatMulInteger(a, b, a_zero, b_zero) -> Convert(MatMul(a - a_zero, b - b_zero)), the product in f32"""
    product = op.MatMul(_shifted(op, a, a_zero_point, rows=True), _shifted(op, b, b_zero_point, rows=False))
    return op.convert(product, si32)


def _shifted(op: OpBuilder, data: SSAValue, zero_point: SSAValue | None, *, rows: bool) -> SSAValue:
    """Data of 8-bit integers minus their zero point (None for 0), in f32.

    A 1-D zero point has an element for each row with `rows`, else for each column.
    """
    value = op.convert(data, f32)
    if zero_point is None:
        return value
    array = op.known.constant(zero_point)
    if array is not None:
        if not array.any():
            return value
        return op.Subtract(value, op.constant((array.reshape(-1, 1) if rows and array.ndim == 1 else array).astype(np.float32)))
    shift = op.convert(zero_point, f32)
    if rows and rank_of(zero_point) == 1:
        shift = op.Unsqueeze(shift, [1])
    return op.Subtract(value, shift)


@onnx.lowers("Trilu", "com.microsoft.Trilu")
def triangle(node: LoweringNode, op: OpBuilder, input: SSAValue, *, upper: bool = True) -> SSAValue:
    """onnx.Trilu(x, k) {upper} -> Select(mask, x, 0); the mask is constant if the last two dimensions are static

    Likewise com.microsoft.Trilu.
    """
    if element_of(input) == string:
        node.fail("there is no string that is zero", hint="cut the model before this node")
    mask = triangle_mask(node, op, input, upper)
    return op.LogicalAnd(input, mask) if element_of(input) == boolean else op.Select(mask, input, 0)


def triangle_mask(node: LoweringNode, op: OpBuilder, x: SSAValue, upper: bool) -> SSAValue:
    """The boolean mask [rows, columns] of the triangle of the matrices in the last two dimensions of x.

    Operand 1 is the offset of the diagonal that bounds the triangle.
    """
    shape, offset = shape_of(x), node.optional(1)
    if shape is not None and len(shape) < 2:
        node.fail(f"the matrices have {len(shape)} dimensions, not at least 2")
    diagonal = (0,) if offset is None else node.constant_integers(1)
    if diagonal is not None and len(diagonal) != 1:
        node.fail("the diagonal is not a number")
    is_small = shape is not None and is_static(shape[-2:]) and max(shape[-2], 1) * max(shape[-1], 1) <= MAXIMUM_MASK_ELEMENTS
    if shape is not None and is_small and diagonal is not None:
        rows, columns = np.arange(shape[-2])[:, None], np.arange(shape[-1])[None, :]
        # All diagonals beyond the matrix give the same mask, and their offsets may exceed the range of an array's
        # integers.
        k = max(-shape[-2] - 1, min(diagonal[0], shape[-1] + 1))
        return op.constant(columns >= rows + k if upper else columns <= rows + k, boolean)
    zero, one = op.constant(0, si64), op.constant(1, si64)
    rows = op.Unsqueeze(op.Range(zero, dimension_value(op, x, -2), one, output_type=si64), [1])
    columns = op.Range(zero, dimension_value(op, x, -1), one, output_type=si64)
    if diagonal is None and offset is not None:
        rows = op.Add(rows, op.convert(offset, si64))
    elif diagonal is not None and diagonal[0] != 0:
        rows = op.Add(rows, diagonal[0])
    return op.GreaterEqual(columns, rows) if upper else op.LessEqual(columns, rows)


@onnx.lowers("Einsum", rank=as_terms)
def einstein_summation(op: OpBuilder, *inputs: SSAValue, equation: str) -> SSAValue:
    """onnx.Einsum(…) {equation}
    -> opset7.Einsum(…) {equation}, where the equation has no blanks and an explicit result
    """
    return einstein_sum(op, equation, *inputs)
