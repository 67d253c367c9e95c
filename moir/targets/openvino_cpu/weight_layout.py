"""Constant weights of matrix products as the CPU plugin multiplies by them."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import FLOATS
from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.data import DataAttr
from moir.dialects.inference import set_type
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.matrix import MatMul
from moir.dialects.properties import boolean_attribute
from moir.dialects.shapes import element_of, rank_of, shape_of, tensor
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
        if not all(has_columns(each, weights) for each in products) or (source is not weights and not has_one_live_use(source)):
            return
        transpose(source.owner)
        if isinstance(weights.owner, Convert):
            exchange_sizes(weights.owner)
        for each in products:
            each.properties["transpose_b"] = boolean_attribute(True)
        rewriter.has_done_action = True


def has_columns(op: Operation, weights: SSAValue) -> bool:
    """Whether an operation multiplies data of known rank by the columns of weights."""
    if not isinstance(op, MatMul) or op.operands[1] is not weights or op.operands[0] is weights or op.flag("transpose_b"):
        return False
    # Of data without a known rank, the plugin multiplies by weights as by any other value.
    return (rank_of(op.operands[0]) or 0) >= 2


def transpose(constant: Constant) -> None:
    """Exchange the dimensions of a matrix, which stays where it is in memory."""
    data = constant.value
    constant.properties["value"] = DataAttr.of(data.values.transpose((1, 0)), data.element)
    exchange_sizes(constant)


def exchange_sizes(op: Constant | Convert) -> None:
    """Set the type of a result of two dimensions that were exchanged, which is another tensor then."""
    [result] = op.results
    set_type(result, tensor((shape_of(result) or ())[::-1], element_of(result)))
    op.attributes.pop("tensor_names", None)


FORMS = (
    Form(
        "transpose-weights",
        "Stores weights of matrix products in the order in which the plugin multiplies by them.",
        lambda: [WeightsInColumns()],
        in_place=True,
    ),
)
