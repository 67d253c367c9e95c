"""Connectionist temporal classification: greedy decoding."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("CTCGreedyDecoder")
def ctc_greedy_decoder(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.CTCGreedyDecoder(x [T, N, C], marks [T, N]) -> opset1.CTCGreedyDecoder(x, marks)"""
    given = parameters(node, "ctc_decoder_param")
    return op.CTCGreedyDecoder(node.operand(0), node.operand(1), ctc_merge_repeated=given.flag("ctc_merge_repeated", True))
