"""Matrix products: InnerProduct.

Source: inner_product_layer.cpp and embed_layer.cpp of BVLC Caffe 1.0.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import MAXIMUM_RANK, normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, bottoms, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("InnerProduct")
@with_parameters("inner_product_param")
def inner_product(
    node: LoweringNode, op: OpBuilder, *, num_output: int, transpose: bool = False, axis_: int = 1, bias_term: bool = True
) -> list[SSAValue]:
    """caffe.InnerProduct(x, w [N, K], b) {axis = 1}
    -> opset1.Add(opset1.MatMul(x as [M, K], w) {transpose_b = true}, b as [1, N])

    The dimensions from `axis` on are merged into one.
    """
    weights = op.constant(blob(node, 0, (-1, num_output) if transpose else (num_output, -1)))
    results: list[SSAValue] = []
    for x in bottoms(node):
        # The rank may be dynamic if the axis counts from the front.
        axis = normalize_axis(axis_, MAXIMUM_RANK if node.rank(0) is None and axis_ >= 0 else node.known_rank(0))
        flat = x if node.rank(0) == axis + 1 else op.Reshape(x, [*[0] * axis, -1], special_zero=True)
        product = op.MatMul(flat, weights, transpose_b=not transpose)
        results.append(op.Add(product, op.constant(blob(node, 1, (*[1] * axis, num_output)))) if bias_term else product)
    return results
