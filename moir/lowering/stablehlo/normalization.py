"""Batch normalization, and calls of functions that JAX has in libraries.

    %y = stablehlo.batch_norm_inference(%x, %scale, %offset, %mean, %variance) {epsilon, feature_index = 1}
->  %y = opset5.BatchNormInference(%x, …)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder


@stablehlo.lowers("batch_norm_inference")
def batch_norm_inference(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    scale: SSAValue,
    offset: SSAValue,
    mean: SSAValue,
    variance: SSAValue,
    *,
    epsilon: float,
    feature_index: int,
) -> SSAValue:
    """stablehlo.batch_norm_inference(x, scale, offset, mean, variance) -> opset5.BatchNormInference or x · a + b"""
    rank = node.known_rank(0)
    if feature_index == 1:
        return op.BatchNormInference(operand, scale, offset, mean, variance, epsilon=epsilon)
    factor = op.Divide(scale, op.Sqrt(op.Add(variance, epsilon)))
    shift = op.Subtract(offset, op.Multiply(mean, factor))
    after = rank - 1 - feature_index
    if after:
        factor, shift = (op.Reshape(each, [-1, *(1,) * after], special_zero=False) for each in (factor, shift))
    return op.Add(op.Multiply(operand, factor), shift)


@stablehlo.lowers("custom_call")
def custom_call(node: LoweringNode, op: OpBuilder, *operands: SSAValue, call_target_name: str) -> Sequence[SSAValue]:
    """stablehlo.custom_call(x…) {call_target_name = "mhlo.topk"} -> the operation of that name"""
    name = call_target_name.rpartition(".")[2]
    if name in ("topk", "TopK") and node.has("k"):
        found = op.TopK.results(
            operands[0], op.constant(node.integer("k"), si64), axis=-1, mode="max", sort="value", stable=True, index_element_type=si32
        )
        return list(found)[: node.result_count]
    single = {
        "erf": "Erf",
        "tan": "Tan",
        "asin": "Asin",
        "acos": "Acos",
        "sinh": "Sinh",
        "cosh": "Cosh",
        "asinh": "Asinh",
        "acosh": "Acosh",
    }
    if name not in single or not call_target_name.startswith("mhlo.") or len(operands) != 1:
        node.fail(
            f"it calls {call_target_name!r}, a function of a library that is not in the program",
            hint="write a lowering for custom_call, or cut the model in front of it",
        )
    return [getattr(op, single[name])(operands[0])]
