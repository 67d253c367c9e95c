"""Operations that order or select elements by their value."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, string
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("TopK")
def top_k_attribute(node: LoweringNode, op: OpBuilder, *, k: int) -> Sequence[SSAValue]:
    """onnx.TopK(x) {k, axis = -1} -> opset11.TopK(x, k) {axis, mode = max, sort = value, stable}"""
    return ranked(node, op, k)


@onnx.lowers("TopK", since=10)
def top_k(node: LoweringNode, op: OpBuilder, _x: SSAValue, k: SSAValue) -> Sequence[SSAValue]:
    """onnx.TopK(x, k) {axis = -1, largest = 1, sorted = 1} -> opset11.TopK(x, k) {axis, mode, sort, stable}"""
    return ranked(node, op, as_scalar(op, k))


@onnx.lowers("Unique")
def unique(node: LoweringNode, op: OpBuilder, x: SSAValue, *, sorted: bool = True) -> Sequence[SSAValue]:
    """onnx.Unique(x) {axis, sorted = 1} -> opset10.Unique(x, axis) {sorted}"""
    if element_of(x) == string:
        node.fail("opset11.TopK orders no strings", hint="cut the model before this node")
    return op.Unique.results(x, node.integer("axis"), sorted=sorted) if node.has("axis") else op.Unique.results(x, sorted=sorted)


def ranked(node: LoweringNode, op: OpBuilder, k: Operand) -> Sequence[SSAValue]:
    """The k largest or smallest elements of operand 0 and their indices; of equal elements the first ones."""
    by_value = node.flag("sorted", True)
    return op.TopK.results(
        node.operand(0),
        k,
        axis=node.integer("axis", -1),
        mode="max" if node.flag("largest", True) else "min",
        sort="value" if by_value else "none",
        stable=by_value,
        index_element_type=si64,
    )
