"""Matrix products for which the CPU plugin generates code together with their neighbours, wrongly or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue, Use

from moir.analysis.constants import constant_of, is_constant, weight_of
from moir.dialects.element_types import f16, f32
from moir.dialects.moir import RESULT
from moir.dialects.opset.arithmetic import Add, Divide, Maximum, Minimum, Multiply, Power, Subtract
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.operands import is_list
from moir.targets.record import Fault, Form

_HEADS_FIRST = (0, 2, 1, 3)


class QueriesInPlace(Pattern):
    """Transposes the queries or the result of an attention with one more dimension, so that the plugin does not merge
    the Transpose, if it would otherwise merge one of the two.

        %0 = opset1.Transpose(%q, [0, 2, 1, 3])              // %q: [N, 4, 4, 8]
        %1 = opset1.MatMul(%0, %k)
        %y = opset1.MatMul(opset8.Softmax(%1), %v)           // [N, 4, 4, 8]
    ->  %2 = opset1.Transpose(opset1.Reshape(%q, [0, 0, 0, 2, -1]), [0, 2, 1, 3, 4])
        %1 = opset1.MatMul(opset1.Reshape(%2, [0, 0, 0, -1]), %k)

    The plugin computes an attention as one operation, which reads the queries in their order before the Transpose, and
    writes the result in its order after a Transpose. If both have the same sizes, the result is written into the memory
    of the queries. With as many steps as heads and only one of the two Transposes, it overwrites queries that are read
    later.
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
        # The plugin merges no Transpose of queries that are quantized after it.
        is_needed = any(not _is_swapped(each) for each in results) or (bool(results) and _is_quantized_next(op.results[0]))
        if queries is not None and shape_of(queries) == shape_of(data) and _is_used_once(data):
            is_needed = is_needed or not _comes_swapped(queries)
        if not is_needed or constant_of(order) is None:
            return
        build, size = rewriter.op, (shape_of(data) or (1,))[-1]
        split = build.Reshape(data, [0, 0, 0, 1 if size % 2 else 2, -1], special_zero=True)
        moved = build.Transpose(split, [*_HEADS_FIRST, 4])
        rewriter.replace_with(op, build.Reshape(moved, [0, 0, 0, -1], special_zero=True))


def _swaps_heads(op: Operation) -> bool:
    """Whether an operation is a Transpose that swaps the axes of heads and steps: [N, heads, steps, …] and [N, steps,
    heads, …].
    """
    if not isinstance(op, Transpose):
        return False
    order = constant_of(op.operands[1])
    return order is not None and tuple(order.reshape(-1).tolist()) == _HEADS_FIRST


def _is_used_once(value: SSAValue) -> bool:
    return len(list(value.uses)) == 1


def _is_swapped(value: SSAValue) -> bool:
    """Whether the only user of a value is a Transpose that the plugin merges into the operation that computes the
    value.

    The plugin does not merge a Transpose with several users, nor one before which it moves elementwise operations or
    another Transpose, also through a Reshape.
    """
    return _is_used_once(value) and all(_swaps_heads(use.operation) and _is_multiplied_next(use.operation) for use in value.uses)


def _is_multiplied_next(op: Operation) -> bool:
    """Whether the only user of an operation's result, perhaps after some Reshapes, is a MatMul or an output of the
    model.
    """
    while op.results and _is_used_once(op.results[0]):
        (op,) = (use.operation for use in op.results[0].uses)
        if isinstance(op, MatMul) or op.name == RESULT:
            return True
        if not isinstance(op, OpsetOp) or op.KIND not in ("Reshape", "Squeeze", "Unsqueeze"):
            return False
    return False


def _comes_swapped(value: SSAValue) -> bool:
    """Whether a Transpose of heads and steps computes a value, perhaps with elementwise operations after it, so that it
    is merged.

    The plugin looks through elementwise operations with one computed operand and constants of one element.
    """
    while isinstance(owner := value.owner, OpsetOp) and _is_used_once(value):
        if isinstance(owner, Transpose):
            return _swaps_heads(owner)
        constants = [each for each in owner.operands if isinstance(each.owner, Constant)]
        computed = [each for each in owner.operands if each not in constants]
        if len(computed) != 1 or not (owner.POINTWISE or owner.BROADCASTS) or any(map(is_list, constants)):
            return False
        (value,) = computed
    return False


def _is_elementwise(op: OpsetOp) -> bool:
    """Whether each element of an operation's result depends only on the elements at the same index, as in a
    FakeQuantize.
    """
    return op.POINTWISE or op.BROADCASTS or isinstance(op, FakeQuantize)


def _following_uses(value: SSAValue, *, shares: bool = False) -> Iterator[Use]:
    """The uses of a value, and of the results of elementwise operations on it, each once.

    Args:
        value: the value.
        shares: whether a Softmax counts as elementwise.
    """
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            yield use
            user = use.operation
            is_passed = isinstance(user, OpsetOp) and (_is_elementwise(user) or (shares and user.KIND == "Softmax"))
            if is_passed and user.results[0] not in seen:
                seen.add(user.results[0])
                pending.append(user.results[0])


def _is_quantized_next(value: SSAValue) -> bool:
    """Whether a value reaches a FakeQuantize, directly or through elementwise operations."""
    return any(isinstance(use.operation, FakeQuantize) for use in _following_uses(value))


def _results_of_queries(value: SSAValue) -> list[SSAValue]:
    """The results of the attentions whose queries are a value, or computed from it by elementwise operations."""
    results: list[SSAValue] = []
    for use in _following_uses(value):
        user = use.operation
        if not isinstance(user, OpsetOp) or use.index != 0:
            continue
        if user.KIND == "ScaledDotProductAttention":
            results.append(user.results[0])
        elif isinstance(user, MatMul):
            results.extend(_products_of_shares(user.results[0]))
    return results


def _products_of_shares(scores: SSAValue) -> list[SSAValue]:
    """The matrix products that read the Softmax of attention scores, perhaps with elementwise operations before or
    after the Softmax.
    """
    uses = _following_uses(scores, shares=True)
    return [use.operation.results[0] for use in uses if isinstance(use.operation, MatMul) and use.index == 0]


def _queries_of(value: SSAValue) -> SSAValue | None:
    """The queries of the attention that computes a value; None if no attention computes it."""
    owner = value.owner
    if isinstance(owner, OpsetOp) and owner.KIND == "ScaledDotProductAttention":
        return owner.operands[0]
    if not isinstance(owner, MatMul):
        return None
    scores, has_shares = owner.operands[0], False
    while isinstance(inner := scores.owner, OpsetOp) and not isinstance(inner, MatMul):
        if not inner.operands or not (inner.KIND == "Softmax" or _is_elementwise(inner)):
            return None
        has_shares = has_shares or inner.KIND == "Softmax"
        scores = next((each for each in inner.operands if not isinstance(each.owner, Constant)), inner.operands[0])
    return inner.operands[0] if has_shares and isinstance(inner, MatMul) else None


class MishAfterProduct(Pattern):
    """Computes Mish after a matrix product of static sizes by powers of e.

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
"""The largest number of rows of the other operand, for which the plugin generates code."""


def _is_generated(value: SSAValue) -> bool:
    """Whether the plugin may generate code for the matrix product before a value, looking through elementwise
    operations, Reshape and Transpose.
    """
    owner = value.owner
    if isinstance(owner, MatMul):
        constants = [shape_of(each) for each in owner.operands if isinstance(each.owner, Constant)]
        shape = shape_of(value) or ()
        return not constants or (len(shape) == 2 and shape[0] <= LARGEST_BATCH and all(max(each or (1,)) <= LARGEST for each in constants))
    if isinstance(owner, OpsetOp) and owner.KIND == "ScaledDotProductAttention":
        return True
    if isinstance(owner, OpsetOp) and owner.KIND in ("Reshape", "Transpose"):
        return _is_generated(owner.operands[0])
    if not isinstance(owner, OpsetOp) or not (owner.POINTWISE or owner.BROADCASTS):
        return False
    return any(_is_generated(each) for each in owner.operands)


class SumBetweenProducts(Pattern):
    """Combines a result of small matrix products in a row with another computed value in three dimensions.

        %1 = opset1.MatMul(opset1.Relu(opset1.MatMul(%x, %v)), %w)  // [2, 16], %v and %w: constants
        %y = opset1.Add(%1, opset1.Sigmoid(%0))
    ->  %1 = opset1.MatMul(opset1.Relu(opset1.MatMul(%x, %v)), %w)
        %2 = opset1.Add(opset1.Unsqueeze(%1, [0]), opset1.Sigmoid(%0))
        %y = opset1.Squeeze(%2, [0])

    The plugin generates code for several such products and the elementwise operations between and after them, which
    have two dimensions. If an elementwise operation combines two computed values, and there are several constants, the
    plugin ends the process while it compiles the model. The added dimension does not move data. Declines if the other
    operand is a constant (a bias).
    """

    roots = (Add, Divide, Maximum, Minimum, Multiply, Power, Subtract)
    companions = ((MatMul,),)
    elements = frozenset((f16, f32))

    def may_match(self, op: Operation) -> bool:
        is_computed = not any(is_constant(each) for each in op.operands)
        return is_computed and len(shape_of(op.results[0]) or ()) == PRODUCT_RANK and _index_of_product(op) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        if (index := _index_of_product(op)) is None:
            return
        build, operands = rewriter.op, list(op.operands)
        operands[index] = build.Unsqueeze(operands[index], [0])
        rewriter.replace_with(op, build.Squeeze(build.create(type(op), operands, dict(op.properties)).results[0], [0]))


def _index_of_product(op: Operation) -> int | None:
    """The index of the first operand that is computed by a chain of small matrix products; None if there is no such
    operand.
    """
    products = ((index, _small_product(value)) for index, value in enumerate(op.operands))
    is_followed = _is_multiplied(op.results[0])
    return next((index for index, each in products if each and (is_followed or _small_product(each.operands[0]))), None)


def _is_multiplied(value: SSAValue) -> bool:
    """Whether a small product reads a value as its first operand, directly or through elementwise operations."""
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, MatMul):
                if use.index == 0 and _is_small_product(user):
                    return True
            elif isinstance(user, OpsetOp) and user.results and (user.POINTWISE or user.BROADCASTS) and user.results[0] not in seen:
                seen.add(user.results[0])
                pending.append(user.results[0])
    return False


PRODUCT_RANK = 2
"""The rank of the products in a row for which the plugin generates code."""


def _small_product(value: SSAValue) -> MatMul | None:
    """The product with a small constant matrix from which elementwise operations alone compute a value; None if there
    is none.
    """
    pending, seen = [value], {value}
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, MatMul):
            if _is_small_product(owner):
                return owner
        elif isinstance(owner, OpsetOp) and (owner.POINTWISE or owner.BROADCASTS):
            following = [each for each in owner.operands if each not in seen]
            seen.update(following)
            pending += following
    return None


def _is_small_product(op: MatMul) -> bool:
    """Whether the plugin may generate code for a product with constant weights, together with others."""
    shape, weights = shape_of(op.results[0]), op.operands[1]
    is_small = shape is not None and len(shape) == PRODUCT_RANK and is_static(shape) and shape[0] <= LARGEST_BATCH
    return is_small and weight_of(weights) is not None and max(shape_of(weights) or (0,)) <= LARGEST


FORMS = (
    Form(
        "separate-queries",
        (QueriesInPlace,),
        faults=(
            Fault(
                "queries-in-place",
                "attention whose queries or whose result are transposed, of as many steps as heads, with values as wide as the queries",
                "is written over queries that are read after that",
            ),
            Fault(
                "activated-in-place",
                "attention whose queries and result are transposed, of as many steps as heads, if something other than one MatMul or "
                "an output of the model reads the transposed result",
                "is written over queries that are read after that",
            ),
        ),
    ),
    Form(
        "compute-mish",
        (MishAfterProduct,),
        faults=(
            Fault(
                "mish-after-products",
                "Mish of an attention, or between MatMuls of few rows by constants of up to 256 rows and columns",
                "is not compiled",
            ),
        ),
    ),
    Form(
        "unsqueeze-product-chains",
        (SumBetweenProducts,),
        faults=(
            Fault(
                "chains-of-products",
                "MatMuls of few rows by constants of up to 256 rows and columns, constants, and an elementwise operation with "
                "the result of another one",
                "ends the process while it is compiled",
            ),
        ),
    ),
)
