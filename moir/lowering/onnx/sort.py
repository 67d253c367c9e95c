"""Operations that order or select elements by their value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, string
from moir.dialects.shapes import element_count, element_of
from moir.expansions.distinct_elements import distinct_elements
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
    """onnx.Unique(x) {axis, sorted = 1} -> opset10.Unique(x, axis) {sorted}

    Without an axis and without sorting, the runtime (2026.4, CPU) computes wrong elements if the indices of the values
    have no uses. In that case the flattened operand is searched along its axis.
    """
    if element_of(x) == string:
        node.fail("the runtime orders no strings", hint="cut the model before this node")
    if not node.has("axis") and element_count(node.shape(0)) == 0:
        # The runtime (2026.4) crashes on constants without elements.
        none = op.constant(np.zeros(0, np.int64))
        return [op.constant_like(np.zeros(0), x), none, none, none]
    if node.has("axis"):
        return distinct_elements(op, x, node.integer("axis"), is_sorted=sorted)
    if sorted or node.is_used(2):
        return distinct_elements(op, x, None, is_sorted=sorted)
    return distinct_elements(op, x if node.rank(0) == 1 else op.Reshape(x, [-1], special_zero=False), 0, is_sorted=False)


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
