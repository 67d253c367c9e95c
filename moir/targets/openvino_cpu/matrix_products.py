"""Matrix products that the CPU plugin computes wrongly or does not compile."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import weight_of
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import describe, si64
from moir.dialects.names import name_of
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import ELLIPSIS, Einsum, Equation, MatMul
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.errors import UnsupportedOperationError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.targets.record import Fault, Form


def _square_weights(op: MatMul) -> DataAttr | None:
    """The constant square matrix that is an operand of a MatMul, perhaps converted from another type; None if there is
    none.
    """
    source = op.operands[1].owner
    if isinstance(source, Convert):
        source = source.operands[0].owner
    if not isinstance(source, Constant) or source.value.data.values is None or describe(source.value.element).is_packed:
        return None
    shape = source.value.shape
    return source.value if len(shape) == 2 and shape[0] == shape[1] > 1 else None


class TransposedWeights(Pattern):
    """Transposes constant weights in advance where another product uses the same weights untransposed.

        %1 = opset1.MatMul(%x, %w)
        %2 = opset1.MatMul(%1, %w) {transpose_b = true}
    ->  %1 = opset1.MatMul(%x, %w)
        %2 = opset1.MatMul(%1, %v)                           // %v: a constant, %w transposed

    The plugin packs constant weights once for all products with weights of equal bytes and sizes, and ignores that some
    of the products transpose them.

    Args:
        others: the weights of products that do not transpose them.
    """

    roots = (MatMul,)

    def __init__(self, others: AbstractSet[DataAttr] = frozenset()) -> None:
        self._others = others

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        data = _square_weights(op) if op.flag("transpose_b") else None
        if data is None or data not in self._others:
            return
        build, weights = rewriter.op, op.operands[1]
        transposed = build.constant(data.array.T, data.element)
        if isinstance(weights.owner, Convert):
            restored = Convert.create(operands=[transposed], properties=weights.owner.properties, result_types=[weights.type])
            build.insert(restored)
            transposed = restored.results[0]
        rewriter.replace_with(op, build.MatMul(op.operands[0], transposed, transpose_a=op.flag("transpose_a")))


def _separate_weights(module: ModuleOp, analyses: Analyses) -> bool:
    is_changed = False
    # The transposed copy may equal weights that another product transposes.
    while True:
        plain = [op for op in analyses.operations(MatMul) if not op.flag("transpose_b")]
        others = {data for op in plain if (data := _square_weights(op)) is not None}
        if not others or not rewrite(module, [TransposedWeights(others)], analyses=analyses):
            break
        analyses.invalidate(dimensions=False)
        is_changed = True
    return is_changed


class ProductBeforeConstants(Pattern):
    """Inserts a Reshape between a matrix product and elementwise operations with one constant per column.

        %1 = opset1.MatMul(%x, %y)                           // %y: [?, ?]
        %2 = opset1.Add(%1, %c)                              // %c: [8], a constant
    ->  %1 = opset1.MatMul(%x, %y)
        %3 = opset1.Reshape(%1, [0, 0]) {special_zero}
        %2 = opset1.Add(%3, %c)

    The plugin fuses elementwise operations with constants into the product before them. If the product has two columns
    and an inner dimension of 1 or 2, constants per column are then applied wrongly, and a model whose product
    transposes its second operand does not compile.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.results[0])
        return not shape or shape[-1] == -1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        if not meets_columns(op):
            return
        build, rank = rewriter.op, rank_of(op.results[0])
        product = build.MatMul(*op.operands, transpose_a=op.flag("transpose_a"), transpose_b=op.flag("transpose_b"))
        if rank is None:
            separate = build.Reshape(product, build.ShapeOf(product), special_zero=False)
        else:
            separate = build.Reshape(product, [0] * rank, special_zero=True)
        rewriter.replace_with(op, separate)


def meets_columns(op: Operation) -> bool:
    """Whether an elementwise operation after `op` has a constant with one element per column."""
    current = op
    while len(uses := list(current.results[0].uses)) == 1:
        user = uses[0].operation
        if not isinstance(user, OpsetOp) or not (user.POINTWISE or user.BROADCASTS or user.KIND == "PRelu"):
            return False
        others = [value for value in user.operands if value is not current.results[0]]
        if any(weight_of(value) is None for value in others):
            return False
        if any(max((shape_of(value) or ())[-1:], default=1) > 1 for value in others):
            return True
        current = user
    return False


class ProductWithConstantMatrices(Pattern):
    """Multiplies a matrix of dynamic shape by a batch of constant matrices, concatenated along their columns.

        %y = opset1.MatMul(%a, %b)                       // %a: [?, ?], %b: a constant [3, 2, 4]
    ->  %0 = opset1.MatMul(%a, %b as [2, 3 * 4])
        %y = opset1.Transpose(%0 as [?, 3, 4], [1, 0, 2])

    A first operand of dynamic batch size is broadcast to that of the constant: at run time, the plugin fails to
    broadcast a batch of 1 to it.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        a, b = op.operands
        shape, several = shape_of(a) or (), shape_of(b) or ()
        return -1 in shape and len(several) > 2 and 0 not in (*shape, *several) and max(several[:-2]) > 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        (a, b), build = op.operands, rewriter.op
        shape, several, matrices = shape_of(a) or (), (shape_of(b) or ())[:-2], rewriter.known.constant(b)
        lead = shape[:-2]
        if matrices is None or len(shape) < 2:
            return
        if {*lead} <= {1}:
            single = build.Squeeze(a, list(range(len(lead)))) if lead else a
            result = _beside(build, single, matrices, element_of(b), op)
            rewriter.replace_with(
                op, build.Unsqueeze(result, list(range(len(lead) - len(several)))) if len(lead) > len(several) else result
            )
            return
        common = min(len(lead), len(several))
        if any(size == -1 and count > 1 for size, count in zip(lead[-common:], several[-common:], strict=True)):
            repeated = build.Broadcast(a, [*several, 1, 1], mode="bidirectional")
            flags = {"transpose_a": op.flag("transpose_a"), "transpose_b": op.flag("transpose_b")}
            rewriter.replace_with(op, build.MatMul(repeated, b, **flags))


def _beside(op: OpBuilder, a: SSAValue, matrices: Array, element: Attribute, product: MatMul) -> SSAValue:
    """The product [..., rows, columns] of one matrix `a` with a batch of matrices, computed with the matrices side by
    side.
    """
    *lead, depth, columns = (matrices.swapaxes(-1, -2) if product.flag("transpose_b") else matrices).shape
    side_by_side = np.moveaxis(matrices, -1 if product.flag("transpose_b") else -2, 0).reshape(depth, -1)
    whole = op.MatMul(a, op.constant(side_by_side, element), transpose_a=product.flag("transpose_a"))
    parts = op.Reshape(whole, [0, *lead, columns], special_zero=True)
    rank = matrices.ndim
    return op.Transpose(parts, [*range(1, rank - 1), 0, rank - 1])


class ProductOfEmptyMatrix(Pattern):
    """Replaces a MatMul with an empty operand by a ReduceSum of elementwise products.

        %y = opset1.MatMul(%a, %b)                       // %b: [3, 0]
    ->  %y = opset1.ReduceSum(opset1.Unsqueeze(%a, -1) * opset1.Unsqueeze(%b, -3), -2)

    The plugin returns uninitialized memory for such a MatMul. Raises UnsupportedOperationError if the rank of the other
    operand is unknown.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        a, b = op.operands
        return 0 in (shape_of(a) or ()) or 0 in (shape_of(b) or ())

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.transposition import transposed

        assert isinstance(op, MatMul)
        (a, b), build = op.operands, rewriter.op
        ranks = (rank_of(a), rank_of(b))
        if ranks[0] is None and shape_of(b) == (0,):
            rewriter.replace_with(op, build.ReduceSum(build.Multiply(a, b), [-1], keep_dims=False))
            return
        if None in ranks:
            reason = "one operand has no element, and the rank of the other one is dynamic"
            raise UnsupportedOperationError(reason, operation=op.name, node=name_of(op), hint="give the model's inputs a static rank")
        swapped = [rank != 1 and op.flag(flag) for rank, flag in zip(ranks, ("transpose_a", "transpose_b"), strict=True)]
        rows, columns = (build.Unsqueeze(a, [0]) if ranks[0] == 1 else a), (build.Unsqueeze(b, [1]) if ranks[1] == 1 else b)
        rows, columns = (transposed(build, each) if swap else each for each, swap in zip((rows, columns), swapped, strict=True))
        product = build.ReduceSum(build.Multiply(build.Unsqueeze(rows, [-1]), build.Unsqueeze(columns, [-3])), [-2], keep_dims=False)
        axes = [-2] * (ranks[0] == 1) + [-1] * (ranks[1] == 1)
        rewriter.replace_with(op, build.Squeeze(product, axes) if axes else product)


class ProductAsScalar(Pattern):
    """Replaces a Reshape to rank 0 of the product of a row and a column by a Squeeze.

        %1 = opset1.MatMul(%row, %column)                // [1, 1]
        %y = opset1.Reshape(%1, [])
    ->  %1 = opset1.MatMul(%row, %column)
        %y = opset1.Squeeze(%1, [0, 1])

    The plugin terminates the process if the product, or an elementwise operation that it fuses into it, is followed by
    such a Reshape.
    """

    roots = ("opset1.Reshape",)

    def may_match(self, op: Operation) -> bool:
        return shape_of(op.operands[1]) == (0,) and _is_of_product(op.operands[0], _FUSED)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        if rank := rank_of(op.operands[0]):
            rewriter.replace_with(op, rewriter.op.Squeeze(op.operands[0], list(range(rank))))


_FUSED = 8
"""The maximum number of operations between a matrix product and a value for which the product is still looked for."""


def _is_of_product(value: SSAValue, most: int) -> bool:
    """Whether a value is a matrix product, perhaps followed by at most `most` elementwise or reshaping operations."""
    op = value.owner
    if not isinstance(op, OpsetOp) or not most:
        return False
    if op.KIND in ("MatMul", "Einsum"):
        return True
    if op.KIND in ("Reshape", "Squeeze", "Unsqueeze"):
        return _is_of_product(op.operands[0], most - 1)
    return (op.POINTWISE or op.BROADCASTS) and any(_is_of_product(each, most - 1) for each in op.operands)


class SumOverEmptyDimension(Pattern):
    """Replaces an Einsum that sums over an empty dimension by zeros in the shape of its result.

        %y = opset7.Einsum(%a, %b) {equation = "ij,jk->ik"}  // %a: [?, 0]
    ->  %y = opset3.Broadcast(0, [the first size of %a, the second one of %b])

    The plugin does not compile such an Einsum if some sizes are dynamic.
    """

    roots = ("opset7.Einsum",)

    def may_match(self, op: Operation) -> bool:
        return any(0 in (shape_of(operand) or ()) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.shape_values import dimension_list

        assert isinstance(op, Einsum)
        build, equation = rewriter.op, Equation.parse(op.text("equation"))
        if any(ELLIPSIS in labels for labels in equation.inputs):
            return
        places: dict[str, tuple[SSAValue, int]] = {}
        for labels, operand in zip(equation.inputs, op.operands, strict=True):
            shape = shape_of(operand) or ()
            # A dimension of 1 is broadcast to the size that another operand has under the same label.
            places |= {label: (operand, axis) for axis, label in enumerate(labels) if label not in places or shape[axis : axis + 1] != (1,)}
        sizes = [build.constant([], si64), *(dimension_list(build, *places[label]) for label in equation.output)]
        shape = build.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0]
        rewriter.replace_with(op, build.Broadcast(build.constant_like(0, op.operands[0]), shape))


FORMS = (
    Form(
        "repeat-matrices",
        (ProductWithConstantMatrices,),
        faults=(
            Fault(
                "matmul-batch",
                "MatMul of a batch of matrices of dynamic size, which is 1, with several constant matrices",
                "does not run; with one thread its result has other sizes",
            ),
        ),
    ),
    Form(
        "sum-empty-products",
        (ProductOfEmptyMatrix, SumOverEmptyDimension),
        "Replaces products over an empty dimension by sums.",
        faults=(
            Fault("matmul-empty", "MatMul of matrices without elements, with a factor after it", "is garbage, or has no element"),
            Fault("einsum-empty", "Einsum of operands that are known to have no element, of dynamic shape", "is not compiled"),
        ),
    ),
    Form(
        "squeeze-products",
        (ProductAsScalar,),
        after=("complete-shapes",),
        faults=(
            Fault(
                "scalar-product",
                "MatMul of a row and a column, perhaps with elementwise operations after it, then a Reshape to a scalar",
                "ends the process",
            ),
        ),
    ),
    Form(
        "separate-weights",
        (TransposedWeights,),
        run=_separate_weights,
        faults=(
            Fault(
                "square-weights",
                "MatMul by a square constant, and another one by the same constant transposed",
                "one of them multiplies by the matrix of the other",
            ),
        ),
    ),
    Form(
        "separate-products",
        (ProductBeforeConstants,),
        faults=(
            Fault(
                "unknown-columns",
                "MatMul with a dynamic number of columns, then constants for the columns",
                "is not compiled, or the constants are others",
            ),
        ),
    ),
)
