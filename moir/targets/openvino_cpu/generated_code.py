"""Matrix products for which the CPU plugin generates code together with their neighbours, wrongly or not at all."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import f16, f32
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

_HEADS_FIRST = (0, 2, 1, 3)


class QueriesInPlace(Pattern):
    """Transposes queries with as many steps as heads in one dimension more, which the plugin does apart.

        %0 = opset1.Transpose(%q, [0, 2, 1, 3])              // %q: [N, 4, 4, 8]
        %1 = opset1.MatMul(%0, %k)
        %y = opset1.MatMul(opset8.Softmax(%1), %v)           // [N, 4, 4, 8]
    ->  %2 = opset1.Transpose(opset1.Reshape(%q, [0, 0, 0, 2, -1]), [0, 2, 1, 3, 4])
        %1 = opset1.MatMul(opset1.Reshape(%2, [0, 0, 0, -1]), %k)

    The plugin computes such an attention as one operation, which reads the queries where they are before the Transpose.
    If the result has the same sizes, it is written into the same memory before all queries are read.
    """

    roots = (Transpose,)
    companions = ((MatMul, "opset13.ScaledDotProductAttention"),)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return shape is not None and len(shape) == 4 and is_static(shape) and shape[1] == shape[2] > 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, order = op.operands
        if rewriter.known.integers(order) != _HEADS_FIRST or not _are_queries(op.results[0], shape_of(op.results[0])):
            return
        build, size = rewriter.op, (shape_of(data) or (1,))[-1]
        split = build.Reshape(data, [0, 0, 0, 1 if size % 2 else 2, -1], special_zero=True)
        moved = build.Transpose(split, [*_HEADS_FIRST, 4])
        rewriter.replace_with(op, build.Reshape(moved, [0, 0, 0, -1], special_zero=True))


def _are_queries(value: SSAValue, shape: tuple[int, ...] | None) -> bool:
    """Whether a value is a left operand of an attention whose result has a shape."""
    for use in value.uses:
        user = use.operation
        if not isinstance(user, OpsetOp) or not user.results:
            continue
        if user.KIND == "ScaledDotProductAttention":
            if use.index == 0 and shape_of(user.results[0]) == shape:
                return True
        elif isinstance(user, MatMul):
            if use.index == 0 and any(shape_of(each) == shape for each in _products_of_shares(user.results[0])):
                return True
        elif (user.POINTWISE or user.BROADCASTS) and shape_of(user.results[0]) == shape and _are_queries(user.results[0], shape):
            return True
    return False


def _products_of_shares(scores: SSAValue) -> list[SSAValue]:
    """The matrix products of the shares that a Softmax computes of scores, perhaps after elementwise operations."""
    found: list[SSAValue] = []
    for use in scores.uses:
        user = use.operation
        if isinstance(user, MatMul) and use.index == 0:
            found.extend(user.results)
        elif isinstance(user, OpsetOp) and user.results and (user.KIND == "Softmax" or user.POINTWISE or user.BROADCASTS):
            found.extend(_products_of_shares(user.results[0]))
    return found


class MishAfterProduct(Pattern):
    """Computes Mish after a matrix product of known sizes by powers of e.

        %y = opset4.Mish(opset1.MatMul(%a, %b))
    ->  %0 = opset1.Exp(opset1.Minimum(%x, 20))              // %x: the product
        %1 = %0 * (%0 + 2)
        %y = %x * (%1 / (%1 + 2))

    The plugin generates code for attention, and for several small products in a row, but has none for Mish: it does not
    compile the model. It takes a product with the hyperbolic tangent of a SoftPlus for Mish. tanh(ln(1 + eˣ)) is n / (n
    + 2) for n = eˣ · (eˣ + 2), which is 1 in f32 from 20 on.
    """

    roots = ("opset4.Mish",)
    companions = ((MatMul, "opset13.ScaledDotProductAttention"),)
    elements = frozenset((f16, f32))

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return shape is not None and is_static(shape) and _is_generated(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x, build = op.operands[0], rewriter.op
        power = build.Exp(build.Minimum(x, 20))
        ratio = build.Multiply(power, build.Add(power, 2))
        rewriter.replace_with(op, build.Multiply(x, build.Divide(ratio, build.Add(ratio, 2))))


LARGEST = 256
"""The largest number of rows and of columns of a constant matrix for which the plugin generates code."""

LARGEST_BATCH = 16
"""The largest number of rows that are multiplied with it."""


def _is_generated(value: SSAValue) -> bool:
    """Whether the plugin may generate code for the matrix product of which elementwise operations compute a value."""
    owner = value.owner
    if isinstance(owner, MatMul):
        constants = [shape_of(each) for each in owner.operands if isinstance(each.owner, Constant)]
        shape = shape_of(value) or ()
        return not constants or (len(shape) == 2 and shape[0] <= LARGEST_BATCH and all(max(each or (1,)) <= LARGEST for each in constants))
    if isinstance(owner, OpsetOp) and owner.KIND == "ScaledDotProductAttention":
        return True
    if not isinstance(owner, OpsetOp) or not (owner.POINTWISE or owner.BROADCASTS):
        return False
    return any(_is_generated(each) for each in owner.operands)


FORMS = (
    Form("separate-queries", (QueriesInPlace,)),
    Form("compute-mish", (MishAfterProduct,)),
)
