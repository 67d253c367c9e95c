"""Reading elements at computed positions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Embed")
def embed(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Embed(indices, w [K, N], b) -> opset1.Add(opset8.Gather(w, indices, 0), b)"""
    given = parameters(node, "embed_param")
    count = given.integer("num_output")
    indices = op.convert(node.operand(0), si32)
    result = op.Gather(op.constant(blob(node, 0, (given.integer("input_dim"), count))), indices, 0)
    return op.Add(result, op.constant(blob(node, 1, (count,)))) if given.flag("bias_term", True) else result
