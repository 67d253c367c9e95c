"""Constant weights of matrix products as the CPU plugin multiplies by them."""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.constants import FLOATS
from moir.analysis.uses import live_uses
from moir.dialects.data import DataAttr
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.matrix import MatMul
from moir.dialects.properties import boolean_attribute
from moir.dialects.shapes import element_of, rank_of, shape_of, tensor
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class WeightsInColumns(Pattern):
    """Stores the weights of products transposed, for all products by them.

        %1 = opset1.MatMul(%x, %w)                           // %w: a constant [K, N]
    ->  %1 = opset1.MatMul(%x, %v) {transpose_b = true}      // %v: a constant [N, K]

    The plugin multiplies by [N, K], and otherwise transposes the weights each time that it loads the model, which takes
    time, and the memory of both forms. Weights that another operation has as they are, as a table or transposed, stay:
    they would be stored twice.
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
        if source is not weights and len(list(live_uses(source))) > 1:
            return
        if all(has_columns(each, weights) for each in products):
            transposed = stored_transposed(rewriter.op, weights)
            for each in products:
                each.operands[1] = transposed
                each.properties["transpose_b"] = boolean_attribute(True)
            rewriter.has_done_action = True


def has_columns(op: Operation, weights: SSAValue) -> bool:
    """Whether an operation multiplies data of known rank by the columns of weights."""
    if not isinstance(op, MatMul) or op.operands[1] is not weights or op.operands[0] is weights or op.flag("transpose_b"):
        return False
    # Of data without a known rank, the plugin multiplies by weights as by any other value.
    return (rank_of(op.operands[0]) or 0) >= 2


def stored_transposed(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A constant of two dimensions, or one that is converted, with its dimensions exchanged."""
    assert isinstance(value, OpResult)
    producer = value.op
    if isinstance(producer, Convert):
        operands = [stored_transposed(op, producer.operands[0])]
        properties = producer.properties
    else:
        assert isinstance(producer, Constant)
        data = producer.value
        operands, properties = [], {"value": DataAttr.of(data.values.transpose((1, 0)), data.element)}
    shape = shape_of(value) or ()
    attributes = {name: each for name, each in producer.attributes.items() if name != "tensor_names"}
    built = type(producer).create(
        operands=operands, properties=properties, attributes=attributes, result_types=[tensor(shape[::-1], element_of(value))]
    )
    op.insert(built)
    return built.results[0]


FORMS = (
    Form(
        "transpose-weights",
        "Stores weights of matrix products in the order in which the plugin multiplies by them.",
        lambda: [WeightsInColumns()],
    ),
)
