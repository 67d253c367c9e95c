"""Connectionist temporal classification: greedy decoding."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.caffe.layer_parameters import with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("CTCGreedyDecoder")
@with_parameters("ctc_decoder_param")
def ctc_greedy_decoder(op: OpBuilder, x: SSAValue, operand_1: SSAValue, *, ctc_merge_repeated: bool = True) -> SSAValue:
    """caffe.CTCGreedyDecoder(x [T, N, C], marks [T, N]) -> opset1.CTCGreedyDecoder(x, marks)"""
    return op.CTCGreedyDecoder(x, operand_1, ctc_merge_repeated=ctc_merge_repeated)
