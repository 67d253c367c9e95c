"""Einsum of ONNX."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.opset.einsum import Equation
from moir.errors import InferenceError
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Einsum")
def einstein_summation(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Einsum(…) {equation}
    -> opset7.Einsum(…) {equation}, where the equation has no blanks and an explicit result
    """
    try:
        equation = Equation.parse(node.text("equation").replace(" ", ""))
    except InferenceError as error:
        node.fail(error.reason)
    return op.Einsum(*node.operands, equation=equation.text)
