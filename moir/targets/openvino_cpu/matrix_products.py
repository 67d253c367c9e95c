"""Matrix products that the CPU plugin computes otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.constants import weight_of
from moir.dialects.data import DataAttr
from moir.dialects.element_types import describe
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.targets.record import Form


def _square_weights(op: MatMul) -> DataAttr | None:
    """The constant square matrix that a product multiplies by, which may be stored in another type; None for others."""
    source = op.operands[1].owner
    if isinstance(source, Convert):
        source = source.operands[0].owner
    if not isinstance(source, Constant) or source.value.data.values is None or describe(source.value.element).is_packed:
        return None
    shape = source.value.shape
    return source.value if len(shape) == 2 and shape[0] == shape[1] > 1 else None


class TransposedWeights(Pattern):
    """Transposes the constant of a product whose weights others have as they are.

        %1 = opset1.MatMul(%x, %w)
        %2 = opset1.MatMul(%1, %w) {transpose_b = true}
    ->  %1 = opset1.MatMul(%x, %w)
        %2 = opset1.MatMul(%1, %v)                           // %v: a constant, %w transposed

    The plugin rearranges the weights of a product once for all products that have the same bytes and the same
    sizes, in the way of the first one.

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


def _products(analyses: Analyses) -> Iterator[MatMul]:
    return (op for _, operations in analyses.contents for op in operations if isinstance(op, MatMul))


def _separate_weights(module: ModuleOp, analyses: Analyses) -> bool:
    is_changed = False
    # What is transposed may be what another product transposes.
    while others := {data for op in _products(analyses) if not op.flag("transpose_b") and (data := _square_weights(op)) is not None}:
        if not rewrite(module, [TransposedWeights(others)], analyses=analyses):
            break
        analyses.invalidate(dimensions=False)
        is_changed = True
    return is_changed


class ProductBeforeConstants(Pattern):
    """Separates a matrix product from elementwise operations with constants for its columns.

        %1 = opset1.MatMul(%x, %y)                           // %y: [?, ?]
        %2 = opset1.Add(%1, %c)                              // %c: [8], a constant
    ->  %1 = opset1.MatMul(%x, %y)
        %3 = opset1.Reshape(%1, [0, 0]) {special_zero}
        %2 = opset1.Add(%3, %c)

    The plugin computes the elementwise operations behind a product, as far as their other operands are constants,
    together with it. Constants for columns are then wrong if there are two columns and one or two summands, and a
    model whose product transposes the second operand does not compile.
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
    """Whether the elementwise operations with constants alone behind an operation have one with several columns."""
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


FORMS = (
    Form(
        "separate-weights",
        "Stores square weights in both forms where the plugin would mistake one for the other.",
        lambda: [TransposedWeights()],
        run=_separate_weights,
    ),
    Form(
        "separate-products",
        "Separates matrix products from constants that the plugin would take for other columns.",
        lambda: [ProductBeforeConstants()],
    ),
)
