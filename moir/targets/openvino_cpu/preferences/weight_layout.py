"""Constant weights of matrix products in the layout in which the CPU plugin multiplies by them."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import FLOATS, values_of
from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.data import DataAttr
from moir.dialects.inference import set_type
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.properties import boolean_attribute
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of, tensor
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form
from moir.targets.stages import PREFERRED


class WeightsInColumns(Pattern):
    """Stores the weights of products transposed, for all products that use them.

        %1 = opset1.MatMul(%x, %w)                           // %w: a constant [K, N]
    ->  %1 = opset1.MatMul(%x, %v) {transpose_b = true}      // %v: a constant [N, K]

    The plugin multiplies by weights [N, K]; it transposes others each time that it loads the model, which takes time
    and the memory of both forms. Weights that another operation uses untransposed, for example as a table, are
    unchanged: they would be stored twice.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        weights = op.operands[1]
        return rank_of(weights) == 2 and isinstance(weights.owner, Constant | Convert)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        weights = op.operands[1]
        source = weights.owner.operands[0] if isinstance(weights.owner, Convert) else weights
        if not isinstance(source.owner, Constant) or source.owner.value.data.values is None:
            return
        if source.owner.value.element not in FLOATS or element_of(weights) not in FLOATS:
            return
        products = [use.operation for use in live_uses(weights)]
        if not all(multiplies_untransposed(each, weights) for each in products) or (source is not weights and not has_one_live_use(source)):
            return
        transpose(source.owner)
        if isinstance(weights.owner, Convert):
            exchange_sizes(weights.owner)
        for each in products:
            each.properties["transpose_b"] = boolean_attribute(True)
        rewriter.has_done_action = True


class QuantizedWeightsInColumns(Pattern):
    """Stores quantized weights of a product transposed, with their zero points and scales.

        %0 = opset1.Multiply(opset1.Subtract(opset1.Convert(%w), %z), %s)     // %w: a constant [K, N], %s: [N]
        %1 = opset1.MatMul(%x, %0)
    ->  %0 = opset1.Multiply(opset1.Subtract(opset1.Convert(%v), %z), %t)     // %v: a constant [N, K], %t: [N, 1]
        %1 = opset1.MatMul(%x, %0) {transpose_b = true}

    The zero point is optional. The plugin multiplies by quantized weights in the layout [N, K], too.
    """

    roots = (MatMul,)
    companions = ((Multiply,), (Convert,))

    def may_match(self, op: Operation) -> bool:
        weights = op.operands[1]
        return isinstance(weights.owner, Multiply) and rank_of(weights) == 2 and multiplies_untransposed(op, weights)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        if is_quantized(op.operands[1]):
            op.operands[1] = transposed(rewriter.op, op.operands[1])
            op.properties["transpose_b"] = boolean_attribute(True)
            rewriter.has_done_action = True


def is_quantized(value: SSAValue) -> bool:
    """Whether a value of rank ≤ 2 is computed by Convert, Subtract and Multiply from constants that are not packed.

    Scales and zero points with one element may be computed in any way. False if another operation uses an intermediate
    value or a matrix.
    """
    if (rank_of(value) or 0) > 2:
        return False
    if isinstance(value.owner, Constant):
        # A matrix that other operations use untransposed would be stored twice.
        return values_of(value) is not None and ((rank_of(value) or 0) < 2 or has_one_live_use(value))
    if not isinstance(value.owner, Multiply | Subtract | Convert) or not has_one_live_use(value):
        return False
    return all(element_count(shape_of(each)) == 1 or is_quantized(each) for each in value.owner.operands)


def transposed(build: OpBuilder, value: SSAValue) -> SSAValue:
    """The transposition of a quantized matrix (see `is_quantized`), built by transposing its constants."""
    op = value.owner
    assert isinstance(op, OpsetOp)
    if element_count(shape_of(value)) == 1:
        return value
    if isinstance(op, Constant):
        values = values_of(value)
        assert values is not None
        rows = values.reshape((1, *values.shape)) if values.ndim == 1 else values
        built = build.create(Constant, [], {"value": DataAttr.of(rows.transpose((1, 0)), op.value.element)})
    else:
        built = build.create(type(op), [transposed(build, each) for each in op.operands], dict(op.properties))
    # It is another tensor, of the same node.
    built.attributes.update({name: each for name, each in op.attributes.items() if name != "tensor_names"})
    return built.results[0]


def multiplies_untransposed(op: Operation, weights: SSAValue) -> bool:
    """Whether an operation is a MatMul whose right operand is `weights` [K, N], that is without transpose_b.

    False if `weights` is its left operand, too, and for data of dynamic rank or of less than two dimensions.
    """
    if not isinstance(op, MatMul) or op.operands[1] is not weights or op.operands[0] is weights or op.flag("transpose_b"):
        return False
    # Of data without a static rank, the plugin multiplies by weights as by any other value.
    return (rank_of(op.operands[0]) or 0) >= 2


def transpose(constant: Constant) -> None:
    """Exchange the dimensions of a matrix, without moving its elements in memory."""
    data = constant.value
    constant.properties["value"] = DataAttr.of(data.values.transpose((1, 0)), data.element)
    exchange_sizes(constant)


def exchange_sizes(op: Constant | Convert) -> None:
    """Set the type of a result whose two dimensions were exchanged, and remove the names of its tensor."""
    [result] = op.results
    set_type(result, tensor((shape_of(result) or ())[::-1], element_of(result)))
    op.attributes.pop("tensor_names", None)


FORMS = (
    Form("transpose-weights", (WeightsInColumns,), in_place=True, stage=PREFERRED),
    Form("transpose-quantized-weights", (QuantizedWeightsInColumns,), stage=PREFERRED),
)
