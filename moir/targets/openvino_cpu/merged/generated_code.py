"""Matrix products for which the CPU plugin generates code together with their neighbours, wrongly or not at all."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
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
    """Transposes the queries or the result of an attention in one dimension more, which the plugin does apart, if it
    would otherwise transpose one of them.

        %0 = opset1.Transpose(%q, [0, 2, 1, 3])              // %q: [N, 4, 4, 8]
        %1 = opset1.MatMul(%0, %k)
        %y = opset1.MatMul(opset8.Softmax(%1), %v)           // [N, 4, 4, 8]
    ->  %2 = opset1.Transpose(opset1.Reshape(%q, [0, 0, 0, 2, -1]), [0, 2, 1, 3, 4])
        %1 = opset1.MatMul(opset1.Reshape(%2, [0, 0, 0, -1]), %k)

    The plugin computes an attention as one operation, which reads the queries where they are before the Transpose, and
    writes the result to where it is after one. If both have the same sizes, the result is written into the memory of
    the queries; with as many steps as heads and one Transpose, over queries that are read later.
    """

    roots = (Transpose,)
    companions = ((MatMul, "opset13.ScaledDotProductAttention"),)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return shape is not None and len(shape) == 4 and is_static(shape) and shape[1] == shape[2] > 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, order = op.operands
        if not _swaps_heads(op):
            return
        results = [each for each in _results_of_queries(op.results[0]) if shape_of(each) == shape_of(op.results[0])]
        queries = _queries_of(data)
        is_needed = any(not _is_swapped(each) for each in results)
        if queries is not None and shape_of(queries) == shape_of(data) and _is_used_once(data):
            is_needed = is_needed or not _comes_swapped(queries)
        if not is_needed or constant_of(order) is None:
            return
        build, size = rewriter.op, (shape_of(data) or (1,))[-1]
        split = build.Reshape(data, [0, 0, 0, 1 if size % 2 else 2, -1], special_zero=True)
        moved = build.Transpose(split, [*_HEADS_FIRST, 4])
        rewriter.replace_with(op, build.Reshape(moved, [0, 0, 0, -1], special_zero=True))


def _swaps_heads(op: Operation) -> bool:
    """Whether an operation is a Transpose between heads first and steps first."""
    if not isinstance(op, Transpose):
        return False
    order = constant_of(op.operands[1])
    return order is not None and tuple(order.reshape(-1).tolist()) == _HEADS_FIRST


def _is_used_once(value: SSAValue) -> bool:
    return len(list(value.uses)) == 1


def _is_swapped(value: SSAValue) -> bool:
    """Whether the only user of a value is a Transpose that the plugin does together with what computes the value."""
    return _is_used_once(value) and all(_swaps_heads(use.operation) for use in value.uses)


def _comes_swapped(value: SSAValue) -> bool:
    """Whether a value is computed by such a Transpose, perhaps with elementwise operations after it."""
    while isinstance(owner := value.owner, OpsetOp) and _is_used_once(value):
        if isinstance(owner, Transpose):
            return _swaps_heads(owner)
        if not owner.operands or not (owner.POINTWISE or owner.BROADCASTS):
            return False
        value = next((each for each in owner.operands if not isinstance(each.owner, Constant)), owner.operands[0])
    return False


def _results_of_queries(value: SSAValue) -> list[SSAValue]:
    """The results of attentions whose queries a value is, perhaps after elementwise operations."""
    found: list[SSAValue] = []
    for use in value.uses:
        user = use.operation
        if not isinstance(user, OpsetOp) or not user.results:
            continue
        if user.KIND == "ScaledDotProductAttention" and use.index == 0:
            found.append(user.results[0])
        elif isinstance(user, MatMul) and use.index == 0:
            found.extend(_products_of_shares(user.results[0]))
        elif (user.POINTWISE or user.BROADCASTS) and shape_of(user.results[0]) == shape_of(value):
            found.extend(_results_of_queries(user.results[0]))
    return found


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


def _queries_of(value: SSAValue) -> SSAValue | None:
    """The queries of the attention that computes a value; None if none does."""
    owner = value.owner
    if isinstance(owner, OpsetOp) and owner.KIND == "ScaledDotProductAttention":
        return owner.operands[0]
    if not isinstance(owner, MatMul):
        return None
    scores, has_shares = owner.operands[0], False
    while isinstance(inner := scores.owner, OpsetOp) and not isinstance(inner, MatMul):
        if not inner.operands or not (inner.KIND == "Softmax" or inner.POINTWISE or inner.BROADCASTS):
            return None
        has_shares = has_shares or inner.KIND == "Softmax"
        scores = next((each for each in inner.operands if not isinstance(each.owner, Constant)), inner.operands[0])
    return inner.operands[0] if has_shares and isinstance(inner, MatMul) else None


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
