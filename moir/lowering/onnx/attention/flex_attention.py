"""Attention whose scores and probabilities are modified by bodies of the node.

    %y = onnx.ai.onnx.preview.FlexAttention(%q, %k, %v) ({ score_mod }, { prob_mod })
->  %s = score_mod(opset1.MatMul(%q, %k) · scale)
    %p = prob_mod(opset8.Softmax(%s))
    %y = opset1.MatMul(%p, %v)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, f64
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import captured_values, graph_of
from moir.lowering.control_flow.branches import inlined
from moir.lowering.onnx.attention.operations import Scores, attention, products, shared_heads
from moir.lowering.onnx.element_types import element_type
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("ai.onnx.preview.FlexAttention")
def flex_attention(node: LoweringNode, op: OpBuilder, q: SSAValue, k: SSAValue, v: SSAValue, *, scale: float | None = None) -> SSAValue:
    """onnx.ai.onnx.preview.FlexAttention(q, k, v) {scale, softmax_precision} ({score_mod}, {prob_mod})
    -> opset13.ScaledDotProductAttention(q, k, v) without bodies, else the definition of the operation
    """
    key, value = k, v
    key, value = (shared_heads(node, op, each, q) for each in (key, value))
    element = element_of(q)
    precision = element_type(node, "softmax_precision", f64 if element is f64 else f32)
    if not node.texts("graph_attributes", ()):
        return attention(op, q, key, value, Scores(scale))
    scores = _modified(node, op, "score_mod", op.convert(products(op, q, key, scale), precision))
    weights = _modified(node, op, "prob_mod", op.Softmax(scores, axis=-1))
    return op.MatMul(op.convert(weights, element), value)


def _modified(node: LoweringNode, op: OpBuilder, graph: str, value: SSAValue) -> SSAValue:
    """The result of the body in attribute `graph` for a value; the value itself if the node does not have the
    attribute.
    """
    if graph not in node.texts("graph_attributes", ()):
        return value
    results = inlined(node, op, graph_of(node, graph), [value, *captured_values(node)])
    if len(results) != 1:
        node.fail(f"the graph {graph} has {len(results)} outputs, not 1")
    return results[0]
