"""Diagonals and bands of matrices: extraction, replacement, construction of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import boolean, si64
from moir.dialects.shapes import element_count, element_of, is_static, shape_of, size_along
from moir.expansions.linear_algebra.matrix_diagonals import dimension_of, joined_matrices, main_diagonal, require_matrices
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.tensorflow.linear_algebra.diagonal_positions import Band, ComputedBand, is_diagonal, offsets
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder, Operand


@tf.lowers("MatrixBandPart", "BatchMatrixBandPart", complex=by_parts(0))
def band_part(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.MatrixBandPart(x, lower, upper)
    -> opset1.Select(mask, x, 0), where the mask is constant if sizes and bounds are known
    """
    data, offset = input, offsets(op, input)
    masks: list[SSAValue | Array] = []
    for index, sign in ((1, -1), (2, 1)):
        known = node.constant_integers(index)
        if known is not None and known[0] < 0:
            continue
        if known is not None and isinstance(offset, np.ndarray):
            masks.append(sign * offset <= known[0])
            continue
        distance = op.constant(sign * offset) if isinstance(offset, np.ndarray) else offset if sign > 0 else op.Negative(offset)
        limit = op.convert(as_scalar(op, node.operand(index)), si64)
        within = op.LessEqual(distance, limit)
        masks.append(within if known is not None else op.LogicalOr(within, op.Less(limit, 0)))
    if not masks:
        return data
    mask = conjunction(op, masks)
    return op.LogicalAnd(data, mask) if element_of(data) == boolean else op.Select(mask, data, 0)


def conjunction(op: OpBuilder, masks: Sequence[SSAValue | Array]) -> SSAValue:
    """The logical conjunction of several masks."""
    arrays = [mask for mask in masks if isinstance(mask, np.ndarray)]
    values = [mask for mask in masks if not isinstance(mask, np.ndarray)]
    if arrays:
        values.append(op.constant(np.logical_and.reduce(arrays)))
    return values[0] if len(values) == 1 else op.LogicalAnd(values[0], values[1])


# Vectors as diagonals


@tf.lowers("MatrixDiag", "BatchMatrixDiag", complex=by_parts(0))
def matrix_diagonal(op: OpBuilder, diagonal: SSAValue) -> SSAValue:
    """tf.MatrixDiag(x) -> opset1.Select(identity matrix, opset1.Unsqueeze(x, -2), 0)"""
    return diagonal_matrices(op, diagonal, op.constant_like(0, diagonal))


def diagonal_matrices(op: OpBuilder, vectors: SSAValue, padding: SSAValue) -> SSAValue:
    """Square matrices whose main diagonals are the vectors in the last dimension."""
    return op.Select(is_diagonal(op, vectors, -1), op.Unsqueeze(vectors, [-2]), padding)


@tf.lowers("Diag", complex=by_parts(0))
def diagonal_tensor(node: LoweringNode, op: OpBuilder, diagonal: SSAValue) -> SSAValue:
    """tf.Diag(x) -> opset1.Select(identity matrix, x, 0); several dimensions are merged first, and rows and columns of
    the matrix are split again
    """
    rank = node.known_rank(0)
    zero = op.constant_like(0, diagonal)
    if rank == 1:
        return diagonal_matrices(op, diagonal, zero)
    matrix = diagonal_matrices(op, op.Reshape(diagonal, [-1], special_zero=False), zero)
    shape = shape_of(diagonal)
    target: Operand = [*shape, *shape] if shape is not None and is_static(shape) else op.Tile(op.ShapeOf(diagonal), [2])
    return op.Reshape(matrix, target, special_zero=False)


@tf.lowers("MatrixDiagV2", "MatrixDiagV3", complex=by_parts(0, 4))
def matrix_diagonals(
    node: LoweringNode, op: OpBuilder, diagonal: SSAValue, _k: SSAValue, num_rows: SSAValue, num_cols: SSAValue, padding_value: SSAValue
) -> SSAValue:
    """tf.MatrixDiagV3(x, k, rows, columns, padding) {align}
    -> opset1.Select(mask, opset8.Gather(x, positions, -1), padding)

    The positions are constant if sizes are known. The main diagonal of square matrices requires no Gather.
    """
    padding = as_scalar(op, padding_value)
    lower, upper = diagonal_offsets(node, 1)
    sizes = [op.known.integers(num_rows), op.known.integers(num_cols)]
    rows, columns = (-1 if size is None else size[0] for size in sizes)
    if None in sizes:
        node.fail("the size of its matrices is computed when the model runs", hint="make the numbers of rows and columns constants")
    if (lower, upper, rows, columns) == (0, 0, -1, -1):
        return diagonal_matrices(op, diagonal, padding)
    packed, shape = packed_rows(op, diagonal, lower != upper), shape_of(diagonal)
    width = -1 if shape is None else size_along(shape, -1)
    if width < 0:
        shape_of_matrix = computed_size(op, dimension_of(op, diagonal, -1), (rows, columns), lower, upper)
        return placed(op, ComputedBand(op, *shape_of_matrix, lower, upper, alignment(node)).sources_of_matrix(), packed, padding)
    least_rows, least_columns = width - min(upper, 0), width + max(lower, 0)
    if rows < 0 and columns < 0:
        rows = columns = max(least_rows, least_columns)
    rows, columns = rows if rows >= 0 else least_rows, columns if columns >= 0 else least_columns
    band = Band(rows, columns, lower, upper, alignment(node))
    if band.width != width:
        node.fail(f"diagonals of {width} elements do not fit matrices of {rows} rows and {columns} columns")
    return placed(op, band.sources_of_matrix(), packed, padding)


def computed_size(op: OpBuilder, width: SSAValue, sizes: tuple[int, int], lower: int, upper: int) -> tuple[SSAValue, SSAValue]:
    """Rows and columns of the smallest matrices whose longest diagonal has `width` elements.

    `lower` and `upper` are the lowest and the highest diagonal. An element of `sizes` other than -1 is used instead of
    the computed number.
    """
    least = op.Subtract(width, min(upper, 0)), op.Add(width, max(lower, 0))
    if sizes == (-1, -1):
        size = op.Maximum(*least)
        return size, size
    rows, columns = (each if known < 0 else op.constant(known, si64) for known, each in zip(sizes, least, strict=True))
    return rows, columns


def alignment(node: LoweringNode) -> str:
    """The attribute `align`, which only the third version of a kind has (default RIGHT_LEFT); LEFT_LEFT for earlier
    versions.
    """
    return node.text("align", "RIGHT_LEFT") if node.op.KIND.endswith("V3") else "LEFT_LEFT"


def diagonal_offsets(node: LoweringNode, index: int) -> tuple[int, int]:
    """The offsets of the lowest and the highest diagonal. Raises ConversionError if they are not constant."""
    values = node.constant_integers(index)
    if values is None or len(values) not in (1, 2):
        node.fail("its diagonals are computed when the model runs", hint="make the numbers of the diagonals a constant")
    return values[0], values[-1]


def packed_rows(op: OpBuilder, data: SSAValue, several: bool) -> SSAValue:
    """Packed diagonals [..., d, l] reshaped to [..., d · l] if there are several; otherwise the data itself."""
    return joined_matrices(op, data) if several else data


def placed(op: OpBuilder, sources: Array | SSAValue, elements: SSAValue, other: SSAValue) -> SSAValue:
    """For each index in `sources`, the element of `elements` at this index of the last dimension; where it is -1, that
    of `other`.
    """
    if not isinstance(sources, np.ndarray):
        return op.Select(op.GreaterEqual(sources, 0), op.Gather(elements, op.Maximum(sources, 0), -1), other)
    gathered = op.Gather(elements, np.maximum(sources, 0), -1)
    return gathered if np.all(sources >= 0) else op.Select(op.constant(sources >= 0), gathered, other)


# Diagonals of matrices


@tf.lowers("MatrixDiagPart", "BatchMatrixDiagPart", complex=by_parts(0))
def diagonal_part(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.MatrixDiagPart(x) -> opset8.Gather(opset1.Reshape(x, […, rows · columns]), positions, -1)"""
    return main_diagonal(op, input, 0)


@tf.lowers("DiagPart", complex=by_parts(0))
def diagonal_part_tensor(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.DiagPart(x)
    -> the diagonal of x as a matrix with the first half of the dimensions as rows and the second as columns, reshaped
    """
    rank, shape = node.known_rank(0), shape_of(input)
    half = rank // 2
    if half == 1:
        return main_diagonal(op, input, 0)
    sizes: Operand
    if shape is not None and is_static(shape):
        sizes, count = shape[:half], element_count(shape[:half])
        matrix = op.Reshape(input, [count or 0, count or 0], special_zero=False)
    else:
        sizes = op.Slice(op.ShapeOf(input), [0], [half], [1], [0])
        matrix = op.Reshape(input, op.Concat(op.ReduceProd(sizes, [0], keep_dims=True), [-1], axis=0), special_zero=False)
    return op.Reshape(main_diagonal(op, matrix, 0), sizes, special_zero=False)


@tf.lowers("MatrixDiagPartV2", "MatrixDiagPartV3", complex=by_parts(0, 2))
def diagonal_parts(node: LoweringNode, op: OpBuilder, input: SSAValue, _k: SSAValue, padding_value: SSAValue) -> SSAValue:
    """tf.MatrixDiagPartV3(x, k, padding) {align}
    -> opset8.Gather(opset1.Reshape(x, […, rows · columns]), positions, -1)

    opset1.Select fills positions without an element with the padding.
    """
    shape = shape_of(input)
    require_matrices(shape)
    lower, upper = diagonal_offsets(node, 1)
    if lower == upper:
        return main_diagonal(op, input, lower)
    if shape is None or not is_static(shape[-2:]):
        sources = computed_band(node, op, lower, upper).sources_of_packed()
    else:
        sources = Band(shape[-2], shape[-1], lower, upper, alignment(node)).sources_of_packed()
    return placed(op, sources, joined_matrices(op, input), as_scalar(op, padding_value))


def computed_band(node: LoweringNode, op: OpBuilder, lower: int, upper: int) -> ComputedBand:
    """The diagonals `lower` to `upper` of the matrices in operand 0, whose sizes are dynamic."""
    rows, columns = (dimension_of(op, node.operand(0), axis) for axis in (-2, -1))
    return ComputedBand(op, rows, columns, lower, upper, alignment(node))


@tf.lowers("BatchMatrixSetDiag", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", complex=by_parts(0, 1))
def set_diagonal(node: LoweringNode, op: OpBuilder, input: SSAValue, diagonal_: SSAValue) -> SSAValue:
    """tf.MatrixSetDiagV3(x, diagonal, k) {align}
    -> opset1.Select(mask, opset8.Gather(diagonal, positions, -1), x)

    For the main diagonal of matrices with at most as many rows as columns opset1.Unsqueeze(diagonal, -1) replaces the
    Gather.
    """
    data, diagonal, shape = input, diagonal_, node.shape(0)
    require_matrices(shape)
    lower, upper = diagonal_offsets(node, 2) if len(node.operands) > 2 else (0, 0)
    # A single diagonal has no dimension for the diagonals.
    packed = packed_rows(op, diagonal, lower != upper)
    if shape is None or not is_static(shape[-2:]):
        if (lower, upper) == (0, 0):
            return set_main_diagonal(node, op)
        return placed(op, computed_band(node, op, lower, upper).sources_of_matrix(), packed, data)
    rows, columns = shape[-2:]
    if (lower, upper) == (0, 0):
        mask = op.constant(np.eye(rows, columns, dtype=bool))
        return op.Select(mask, op.Unsqueeze(diagonal, [-1 if rows <= columns else -2]), data)
    return placed(op, Band(rows, columns, lower, upper, alignment(node)).sources_of_matrix(), packed, data)


def set_main_diagonal(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The matrices in operand 0, of dynamic size, with their main diagonal replaced by operand 1, padded to the number
    of rows.
    """
    data, diagonal = node.operand(0), node.operand(1)
    rank = node.known_rank(1)
    missing = op.Subtract(dimension_of(op, data, -2), dimension_of(op, diagonal, -1))
    ends: Operand = op.Unsqueeze(missing, [0])
    if rank > 1:
        ends = op.Concat([0] * (rank - 1), ends, axis=0)
    column = op.Unsqueeze(op.Pad(diagonal, [0] * rank, ends, pad_mode="constant"), [-1])
    distance = offsets(op, data)
    assert not isinstance(distance, np.ndarray)
    return op.Select(op.Equal(distance, 0), column, data)
