"""Einsum of ONNX."""

from __future__ import annotations

from functools import partial

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.matrix import ELLIPSIS, Equation
from moir.dialects.shapes import shape_of
from moir.errors import InferenceError
from moir.expansions.narrow_integers import in_32_bits
from moir.expansions.shape_values import dimension_list
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
    if len(equation.inputs) != len(node.operands):
        node.fail(f"the equation is of {len(equation.inputs)} operands, {len(node.operands)} are given")
    zeros = _sums_over_nothing(node, op, equation)
    return in_32_bits(op, partial(op.Einsum, equation=equation.text), *node.operands) if zeros is None else zeros


def _sums_over_nothing(node: LoweringNode, op: OpBuilder, equation: Equation) -> SSAValue | None:
    """The result of an Einsum of which an operand is known to have no element: zeros of the sizes of the labels.

    None for other operands, and for an ellipsis. The CPU plugin (2026.4) does not compile it if sizes are unknown.
    """
    shapes = [shape_of(operand) or () for operand in node.operands]
    if not any(0 in shape for shape in shapes) or any(ELLIPSIS in labels for labels in equation.inputs):
        return None
    places: dict[str, tuple[SSAValue, int]] = {}
    for labels, operand, shape in zip(equation.inputs, node.operands, shapes, strict=True):
        # A dimension of 1 is repeated, as often as another operand says.
        places |= {label: (operand, axis) for axis, label in enumerate(labels) if label not in places or shape[axis : axis + 1] != (1,)}
    sizes = [op.constant([], si64), *(dimension_list(op, *places[label]) for label in equation.output)]
    return op.Broadcast(op.constant_like(0, node.operand(0)), op.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0])
