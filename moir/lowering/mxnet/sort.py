"""Operations that order elements by their value."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("topk", "_npx_topk")
def top_k(
    node: LoweringNode, op: OpBuilder, *, k: int = 1, ret_typ: str = "indices", is_ascend: bool = False, dtype: Attribute = f32
) -> Replacement:
    """mxnet.topk(x) {axis = -1, k = 1, ret_typ = "indices", is_ascend = false} -> opset11.TopK(x, k)

    `ret_typ` selects the results: `value`, `indices`, `both`, or `mask`, which is 1 at the selected elements.
    """
    x, axis = _along(node, op)
    size = op.Gather(op.ShapeOf(x), axis, 0)
    mode = "min" if is_ascend else "max"
    amount = op.Minimum(size, k) if k > 0 else size
    values, indices = op.TopK.results(x, amount, axis=axis, mode=mode, sort="value", index_element_type=si64, stable=True)
    if ret_typ == "mask":
        zeros, ones = (op.Broadcast(op.ConvertLike(op.constant(value), x), op.ShapeOf(like)) for value, like in ((0.0, x), (1.0, indices)))
        return [op.ScatterElementsUpdate(zeros, indices, ones, op.constant(axis))]
    ranked = op.convert(indices, dtype)
    if ret_typ not in ("value", "indices", "both"):
        node.fail(f"ret_typ {ret_typ!r} does not exist")
    return {"value": [values], "indices": [ranked], "both": [values, ranked]}[ret_typ]


def _along(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, int]:
    """The data and the axis along which it is sorted; if the attribute `axis` is None, the flattened data and 0."""
    x = node.operand(0)
    if node.attribute("axis", None) == "None":
        return op.Reshape(x, [-1], special_zero=False), 0
    return x, normalize_axis(node.integer("axis", -1), rank_of_operand(node))


@mxnet.lowers("sort", "argsort", "_npi_sort", "_npi_argsort")
def sort(node: LoweringNode, op: OpBuilder, *, is_ascend: bool = True, dtype: Attribute = f32) -> SSAValue:
    """mxnet.sort(x) {axis = -1, is_ascend = true} -> all of opset11.TopK(x, size), argsort its indices as floats"""
    x, axis = _along(node, op)
    size = op.Gather(op.ShapeOf(x), axis, 0)
    mode = "min" if is_ascend else "max"
    values, indices = op.TopK.results(x, size, axis=axis, mode=mode, sort="value", index_element_type=si64, stable=True)
    return op.convert(indices, dtype) if "argsort" in node.op.KIND else values
