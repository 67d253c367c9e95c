"""Matrix products: InnerProduct.

Source: inner_product_layer.cpp and embed_layer.cpp of BVLC Caffe 1.0.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, bottoms, parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("InnerProduct")
def inner_product(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """caffe.InnerProduct(x, w [N, K], b) {axis = 1}
    -> opset1.Add(opset1.MatMul(x as [M, K], w) {transpose_b = true}, b as [1, N])

    The dimensions from `axis` on become one.
    """
    given = parameters(node, "inner_product_param")
    count, is_transposed = given.integer("num_output"), given.flag("transpose")
    weights = op.constant(blob(node, 0, (-1, count) if is_transposed else (count, -1)))
    results: list[SSAValue] = []
    for x in bottoms(node):
        axis = given.integer("axis", 1)
        axis = axis if axis >= 0 else normalize_axis(axis, node.known_rank(0))
        flat = x if node.rank(0) == axis + 1 else op.Reshape(x, [*[0] * axis, -1], special_zero=True)
        product = op.MatMul(flat, weights, transpose_b=not is_transposed)
        results.append(op.Add(product, op.constant(blob(node, 1, (*[1] * axis, count)))) if given.flag("bias_term", True) else product)
    return results
