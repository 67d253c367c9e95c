"""Integers, counts, diagonals and products of vectors and blocks.

%y = keras.ops.Gcd(%a, %b)  ->  %y = Euclid's remainders in an opset5.Loop
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, f32, si32, si64
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.expansions.special.divisors import greatest_common_divisor, kronecker_product, least_common_multiple
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments
from moir.lowering.keras.functions.elementwise import pair_of, single
from moir.lowering.keras.functions.movement import diagonal_indices
from moir.lowering.keras.promotion import promoted
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


@keras.lowers("ops.Gcd", "ops.Lcm")
def common_divisor(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Gcd(a, b) -> Euclid's remainders in an opset5.Loop; likewise Lcm

    The result has the element type that Keras declares, i64 with a Python number, and wraps around as the operands'
    common type.
    """
    a, b = pair_of(node, op, strong=int)
    element = element_of(a)
    if element not in INTEGER_TYPES:
        node.fail("its numbers are not integers", hint="cast them to integers in the model")
    wide = si64 if element == si64 else si32
    x, y = (op.Abs(op.convert(each, wide)) for each in (a, b))
    build = greatest_common_divisor if node.op.KIND == "ops.Gcd" else least_common_multiple
    arguments = Arguments(node)
    has_number = any(type(each) is int for each in (*arguments.positional, *arguments.keywords.values()))
    return op.convert(op.convert(build(op, x, y), element), si64 if has_number else element)


@keras.lowers("ops.Kron")
def kronecker(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Kron(a, b) -> opset1.Multiply(a, b) with a block of b for each element of a"""
    a, b = pair_of(node, op)
    ranks = rank_of(a), rank_of(b)
    if ranks[0] is None or ranks[1] is None:
        node.fail("the rank of an operand is dynamic")
    return kronecker_product(op, a, b, (ranks[0], ranks[1]))


@keras.lowers("ops.Cross")
def cross(node: LoweringNode, op: OpBuilder, *, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> SSAValue:
    """keras.ops.Cross(a, b) {axisa, axisb, axisc} -> the vector products; vectors of two elements get a third one, 0"""
    values = pair_of(node, op)
    axes = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    last: list[SSAValue] = []
    planar = 0
    for value, vector_axis in zip(values, axes[:2], strict=True):
        shape = shape_of(value)
        if shape is None:
            node.fail("the rank of an operand is dynamic")
        vector_axis, rank = normalize_axis(vector_axis, len(shape)), len(shape)
        moved = op.transposed(value, [*(each for each in range(rank) if each != vector_axis), vector_axis])
        if shape[vector_axis] not in (2, 3):
            node.fail(f"its vectors have {shape[vector_axis]} elements", hint="give the model's inputs static shapes")
        if shape[vector_axis] == 2:
            planar += 1
            moved = op.Pad(moved, [0] * rank, [*(0,) * (rank - 1), 1], op.constant_like(0, moved), pad_mode="constant")
        last.append(moved)
    (a1, a2), (b1, b2) = ([op.Gather(each, order, -1) for order in ([1, 2, 0], [2, 0, 1])] for each in last)
    product = op.Subtract(op.Multiply(a1, b2), op.Multiply(a2, b1))
    if planar == 2:
        return op.Gather(product, 2, -1)
    rank = rank_of(product) or 1
    vector_axis = normalize_axis(axes[2], rank)
    return op.transposed(product, [*range(vector_axis), rank - 1, *range(vector_axis, rank - 1)])


@keras.lowers("ops.Diag", "ops.Diagflat")
def diagonal_matrix(node: LoweringNode, op: OpBuilder, *, k: int = 0) -> SSAValue:
    """keras.ops.Diag(x) {k} -> a matrix with a vector in a diagonal; the diagonal of a matrix"""
    x = single(node)
    if node.op.KIND == "ops.Diagflat":
        x = op.Reshape(x, [-1], special_zero=False)
    if rank_of(x) == 1:
        size = op.Squeeze(dimension_list(op, x, 0), [0])
        positions = op.Range(op.constant(0), size, op.constant(1), output_type=si64)
        matrix = op.Select(op.Equal(op.Unsqueeze(positions, [1]), positions), x, op.constant_like(0, x))
        ends = [[max(-k, 0), max(k, 0)], [max(k, 0), max(-k, 0)]]
        return op.Pad(matrix, *ends, op.constant_like(0, x), pad_mode="constant") if k else matrix
    if rank_of(x) != 2:
        node.fail("its tensor is neither a vector nor a matrix")
    return op.GatherND(x, diagonal_indices(node, op, x, (0, 1), k), batch_dims=0)


@keras.lowers("ops.Bincount")
def bincount(node: LoweringNode, op: OpBuilder, *, minlength: int = 0) -> SSAValue:
    """keras.ops.Bincount(x, weights) {minlength} -> how often each number occurs in a row, or the sum of its weights"""
    arguments = Arguments(node, "x")
    weights = arguments.optional("weights") if "weights" in arguments.keywords else None
    element = si32 if weights is None else element_of(promoted(op, [arguments.tensor("x"), weights])[0])
    x = op.convert(arguments.tensor("x"), si64)
    flat = op.Concat(op.Reshape(x, [-1], special_zero=False), op.constant([minlength - 1]), axis=0)
    count = op.Add(op.ReduceMax(flat, [0], keep_dims=False), 1)
    bins = op.Range(op.constant(0), count, op.constant(1), output_type=si64)
    hits = op.convert(op.Equal(op.Unsqueeze(x, [-2]), op.Unsqueeze(bins, [1])), element)
    if weights is not None:
        hits = op.Multiply(hits, op.Unsqueeze(op.convert(weights, element), [-2]))
    return op.ReduceSum(hits, [-1], keep_dims=False)


@keras.lowers("ops.InTopK")
def in_top_k(node: LoweringNode, op: OpBuilder, *, k: int) -> SSAValue:
    """keras.ops.InTopK(i, x) {k} -> whether fewer than k elements of a row are greater than that at its index"""
    arguments = Arguments(node, "targets", "predictions")
    x, targets = op.convert(arguments.tensor("predictions"), f32), op.convert(arguments.tensor("targets"), si64)
    classes = op.Squeeze(dimension_list(op, x, 1), [0])
    inside = op.LogicalAnd(op.GreaterEqual(targets, 0), op.Less(targets, classes))
    safe = op.Select(inside, targets, op.constant(0, si64))
    target_scores = op.GatherElements(x, op.Unsqueeze(safe, [1]), axis=1)
    greater = op.ReduceSum(op.convert(op.Greater(x, target_scores), si32), [1], keep_dims=False)
    is_finite = op.ReduceLogicalAnd(op.IsFinite(target_scores), [1], keep_dims=False)
    return op.LogicalAnd(op.LogicalAnd(inside, is_finite), op.Less(greater, k))
