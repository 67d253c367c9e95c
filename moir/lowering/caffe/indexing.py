"""Rows of a table at computed indices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Embed")
@with_parameters("embed_param")
def embed(node: LoweringNode, op: OpBuilder, indices_: SSAValue, *, num_output: int, bias_term: bool = True, input_dim: int) -> SSAValue:
    """caffe.Embed(indices, w [K, N], b) -> opset1.Add(opset8.Gather(w, indices, 0), b)"""
    indices = op.convert(indices_, si32)
    result = op.Gather(op.constant(blob(node, 0, (input_dim, num_output))), indices, 0)
    return op.Add(result, op.constant(blob(node, 1, (num_output,)))) if bias_term else result
