"""Einsum of ONNX."""

from __future__ import annotations

from functools import partial

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.einsum import ELLIPSIS, Equation
from moir.dialects.shapes import element_count, shape_of
from moir.errors import InferenceError
from moir.lowering.binder import LoweringNode
from moir.lowering.narrow_integers import in_32_bits
from moir.lowering.onnx.table import onnx
from moir.lowering.shape_values import dimension_list
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
    if len(equation.inputs) != len(node.operands):
        node.fail(f"the equation is of {len(equation.inputs)} operands, {len(node.operands)} are given")
    zeros = _sums_over_nothing(node, op, equation)
    return in_32_bits(op, partial(op.Einsum, equation=equation.text), *node.operands) if zeros is None else zeros


def _sums_over_nothing(node: LoweringNode, op: OpBuilder, equation: Equation) -> SSAValue | None:
    """The result of an Einsum of which an operand is known to have no element: zeros of the sizes of the labels.

    None for other operands, and for an ellipsis. The CPU plugin (2026.4) does not compile it if sizes are unknown.
    """
    if all(element_count(shape_of(operand)) != 0 for operand in node.operands):
        return None
    places = {
        label: (operand, axis) for labels, operand in zip(equation.inputs, node.operands, strict=True) for axis, label in enumerate(labels)
    }
    if ELLIPSIS in places:
        return None
    sizes = [op.constant([], si64), *(dimension_list(op, *places[label]) for label in equation.output)]
    return op.Broadcast(op.constant_like(0, node.operand(0)), op.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0])
