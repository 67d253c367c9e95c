"""Constant weights of matrix products that the CPU plugin does not compile."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant, is_quantized_weight, weight_of
from moir.analysis.known_values import evaluate
from moir.analysis.uses import live_uses
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import describe, si8, ui8
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class SingleWeight(Pattern):
    """Replaces a MatMul with a constant [1, 1] by a Multiply.

        %1 = opset1.MatMul(%0, %w)                           // %0: [5, 1], %w: a constant [1, 1]
    ->  %1 = opset1.Multiply(%0, %w as [1])

    The plugin does not compile two such products in sequence if it may use one thread only.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        return shape_of(op.operands[1]) == (1, 1) and isinstance(op.operands[1].owner, Constant | Convert)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        data, weight = op.operands[0], weight_of(op.operands[1])
        shape = shape_of(data)
        # For a value of dynamic shape the last dimension is 1 as well, else the product would be invalid.
        if weight is not None and (shape is None or shape[-1:] == (1,)) and not op.flag("transpose_a"):
            factor = rewriter.op.constant(np.asarray(weight).reshape(1), element_of(op.operands[1]))
            rewriter.replace_with(op, rewriter.op.Multiply(data, factor))


class DequantizedBatch(Pattern):
    """Dequantizes a constant batch of matrices at conversion time if data of dynamic rank are multiplied by it.

        %1 = opset1.MatMul(%0, opset1.Multiply(opset1.Convert(%w), %s))   // %w: a constant [3, 5, 6]
    ->  %1 = opset1.MatMul(%0, %v)                           // %v: a constant

    The plugin does not compile such a product with dequantized weights.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        data, weights = op.operands
        return rank_of(data) is None and (rank_of(weights) or 0) > 2 and isinstance(weights.owner, Multiply)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        data, weights = op.operands
        known = rewriter.known.constant(weights)
        if known is not None:
            flags = {name: op.flag(name) for name in ("transpose_a", "transpose_b")}
            rewriter.replace_with(op, rewriter.op.MatMul(data, rewriter.op.constant(known, element_of(weights)), **flags))


class ConstantVector(Pattern):
    """Reshapes a constant vector to a matrix of one column for a MatMul.

        %y = opset1.MatMul(%x, %v)                           // %v: a constant [4]
    ->  %0 = opset1.MatMul(%x, %v as [4, 1])
        %y = opset15.Squeeze(%0, [-1])

    The plugin does not compile the product with a constant vector and a factor after it.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        a, b = op.operands
        return rank_of(b) == 1 and rank_of(a) != 1 and shape_of(b) != (0,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        (a, b), build = op.operands, rewriter.op
        vector = weight_of(b)
        if vector is not None:
            column = build.constant(np.asarray(vector).reshape(-1, 1), element_of(b))
            rewriter.replace_with(op, build.Squeeze(build.MatMul(a, column, transpose_a=op.flag("transpose_a")), [-1]))


class DequantizedWeights(Pattern):
    """Removes leading dimensions of 1 from dequantized weights, and adds them to the result if it would lose them.

        %1 = opset1.MatMul(%0, opset1.Multiply(opset1.Convert(%w), %s))   // %w: a constant [1, 1, 5, 6]
    ->  %1 = opset1.MatMul(%0, opset1.Multiply(opset1.Convert(%w as [5, 6]), %s))

    The plugin does not compile dequantized weights with such dimensions.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[1]) or ()
        return isinstance(op.operands[1].owner, Multiply) and len(shape) > 3 and set(shape[:-2]) == {1}

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        data, weights = op.operands
        rank = rank_of(data)
        if rank is None or not _is_made_of_constants(weights):
            return
        flags = {name: op.flag(name) for name in ("transpose_a", "transpose_b")}
        product = rewriter.op.MatMul(data, _as_matrix(rewriter.op, weights), **flags)
        missing = len(shape_of(weights) or ()) - max(rank, 2)
        rewriter.replace_with(op, rewriter.op.Unsqueeze(product, list(range(missing))) if missing > 0 else product)


def _is_made_of_constants(value: SSAValue) -> bool:
    """Whether a value is a constant, or is computed from constants alone by a dequantization."""
    if isinstance(value.owner, Constant):
        return set(value.owner.value.shape[:-2]) <= {1}
    return isinstance(value.owner, Convert | Subtract | Multiply) and all(map(_is_made_of_constants, value.owner.operands))


def _as_matrix(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value computed from constants, reshaped to its last two dimensions; the others are 1."""
    match value.owner:
        case Constant() as constant:
            data, sizes = constant.value, constant.value.shape[-2:]
            packed = describe(data.element).is_packed
            values = DataAttr.of(data.values if packed else data.values.reshape(sizes), data.element, sizes)
            return op.create(Constant, (), {"value": values}).results[0]
        case Convert() as convert:
            return op.convert(_as_matrix(op, convert.data), element_of(value))
        case Subtract() as difference:
            return op.Subtract(*(_as_matrix(op, each) for each in difference.operands))
        case product:
            assert isinstance(product, Multiply)
            return op.Multiply(*(_as_matrix(op, each) for each in product.operands))


class ConstantProduct(Pattern):
    """Multiplies a constant by dequantized weights at conversion time.

        %y = opset1.MatMul(%c, opset1.Multiply(opset1.Convert(%w), %s))   // %c and %w: constants
    ->  %y = opset1.Constant()

    The plugin does not compile such a product. Declines for elements of less than 8 bits.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        return is_constant(op.operands[0]) and is_quantized_weight(op.operands[1])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        product = _evaluated(op.results[0])
        if product is not None:
            rewriter.replace_with(op, rewriter.op.constant(product, element_of(op.results[0])))


def _evaluated(value: SSAValue) -> Array | None:
    """The elements of a value that is computed from constants alone; None for any other value."""
    if is_constant(value):
        return constant_of(value)
    if not isinstance(owner := value.owner, OpsetOp) or not owner.operands:
        return None
    operands = [_evaluated(each) for each in owner.operands]
    results = evaluate(owner, [each for each in operands if each is not None]) if all(each is not None for each in operands) else None
    return None if results is None else results[0]


class SignedWeights(Pattern):
    """Stores dequantized weights of u8 as i8 if they are only multiplied with data that a FakeQuantize rounds.

        %2 = opset1.Subtract(opset1.Convert(%w), 130.0)      // %w: a constant, u8
        %4 = opset1.MatMul(opset1.FakeQuantize(%x, …), opset1.Multiply(%2, %s))
    ->  %2 = opset1.Subtract(opset1.Convert(%v), 2.0)        // %v: %w - 128, i8

    The plugin has no product with weights of u8 whose result is f32.
    """

    roots = (Subtract,)

    def may_match(self, op: Operation) -> bool:
        converted = op.operands[0].owner
        return isinstance(converted, Convert) and isinstance(converted.data.owner, Constant) and element_of(converted.data) == ui8

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        converted, zero_point = op.operands[0].owner, rewriter.known.constant(op.operands[1])
        assert isinstance(converted, Convert)
        codes = rewriter.known.constant(converted.data)
        if zero_point is None or codes is None or not all(_scales_weights_of_quantized(each) for each in _users(op)):
            return
        build, element = rewriter.op, element_of(op.operands[0])
        signed = build.convert(build.constant((codes ^ np.uint8(128)).view(np.int8), si8), element)
        rewriter.replace_with(op, build.Subtract(signed, build.constant(zero_point - 128, element)))


def _users(op: Operation) -> list[Operation]:
    return [use.operation for use in live_uses(op.results[0])]


def _scales_weights_of_quantized(scaled: Operation) -> bool:
    """Whether an operation multiplies weights by their scale, and all its users are MatMuls with a FakeQuantize as left
    operand.

    False for an operation without users.
    """
    users = _users(scaled)
    is_scaled = isinstance(scaled, Multiply) and bool(users)
    return is_scaled and all(isinstance(each, MatMul) and isinstance(each.operands[0].owner, FakeQuantize) for each in users)


FORMS = (
    Form(
        "store-signed-weights",
        (SignedWeights,),
        faults=(
            Fault(
                "unsigned-weights",
                "MatMul of values that a FakeQuantize rounds and weights of u8 with a zero point, if f32 is asked for",
                "is not compiled",
                versions=("2024.6", "2026.0"),
            ),
        ),
    ),
    Form(
        "compute-constant-products",
        (ConstantProduct,),
        faults=(Fault("constant-products", "MatMul of a constant and dequantized constant weights", "is not compiled"),),
    ),
    Form(
        "simplify-matmul",
        (SingleWeight, DequantizedWeights, DequantizedBatch, ConstantVector),
        "Writes products with one element as multiplications, those with a vector as products with a column.",
        faults=(
            Fault("vector-product", "MatMul with a constant vector, and a factor after it", "is not compiled"),
            Fault("dequantized-batch", "MatMul with dequantized weights that have more than one leading dimension", "is not compiled"),
        ),
    ),
)
