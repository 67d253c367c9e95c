"""Greedy CTC decoding: the most probable classes of a sequence, without blanks and repetitions.

Source: Graves et al., "Connectionist Temporal Classification", 2006, section 3.2 (best path decoding).
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import is_fixed, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset

NONE = np.array([[-1]])
"""The class number that fills a row after its last class."""


def _best_path(op: OnnxBuilder, data: SSAValue, inside: SSAValue, blank: SSAValue, *, merge: bool) -> tuple[SSAValue, SSAValue]:
    """The classes of the best path, and their number.

    Args:
        op: the builder.
        data: probabilities [N, T, C].
        inside: whether each step belongs to its sequence: booleans [N, T].
        blank: the index of the blank, i64.
        merge: whether equal classes that follow each other are one.

    Returns the classes [N, T], padded with -1, and their number [N], in i64.
    """
    path = op.ArgMax(data, axis=2, keepdims=0)
    kept = op.And(inside, op.Not(op.Equal(path, blank)))
    if merge:
        before = op.Concat(op.Expand(op.constant(NONE), op.joined(op.sizes(data, 0, 1), [1])), op.Slice(path, [0], [-1], [1]), axis=1)
        kept = op.And(kept, op.Not(op.Equal(path, before)))
    ones = op.cast(kept, si64)
    number = op.reduced("ReduceSum", ones, [1], keepdims=False)
    # Classes that are not kept go to a further column, which is cut off.
    size = op.sizes(data, 1, 2)
    columns = op.Where(kept, op.Sub(op.CumSum(ones, op.constant(1)), 1), op.Expand(size, op.Shape(path)))
    padding = op.Expand(op.constant(NONE), op.joined(op.sizes(data, 0, 1), op.Add(size, op.constant([1]))))
    classes = op.ScatterElements(padding, columns, path, axis=1)
    return op.Slice(classes, [0], [-1], [1]), number


@opset.lowers("CTCGreedyDecoderSeqLen")
def ctc_greedy_decoder_of_lengths(
    op: OnnxBuilder,
    data: SSAValue,
    lengths: SSAValue,
    blank: SSAValue | None = None,
    *,
    merge_repeated: bool = True,
    classes_index_type: Attribute = si32,
    sequence_length_type: Attribute = si32,
) -> list[SSAValue | None]:
    """opset6.CTCGreedyDecoderSeqLen(data [N, T, C], lengths [N]) -> onnx.ArgMax, and a scatter of what is kept"""
    blank_index = _last_class(op, data) if blank is None else op.Reshape(op.integers(blank), [1])
    steps = op.Range(op.constant(0), op.Squeeze(op.sizes(data, 1, 2), [0]), op.constant(1))
    inside = op.Less(op.Unsqueeze(steps, [0]), op.Unsqueeze(op.integers(lengths), [1]))
    classes, number = _best_path(op, data, inside, blank_index, merge=merge_repeated)
    return [op.cast(classes, classes_index_type), op.cast(number, sequence_length_type)]


@opset.lowers("CTCGreedyDecoder")
def ctc_greedy_decoder(
    node: LoweringNode, op: OnnxBuilder, data: SSAValue, sequence_mask: SSAValue, *, ctc_merge_repeated: bool = True
) -> SSAValue:
    """opset1.CTCGreedyDecoder(data [T, N, C], mask [T, N]) -> onnx.ArgMax, and a scatter of what is kept: [N, T, 1, 1]

    A sequence ends before the first step whose mask is 0.
    """
    inside = op.Transpose(op.Equal(sequence_mask, 0), perm=(1, 0))
    ended = op.CumSum(op.cast(inside, si64), op.constant(1))
    batch_first = op.Transpose(data, perm=(1, 0, 2))
    classes, _ = _best_path(op, batch_first, op.Equal(ended, 0), _last_class(op, data), merge=ctc_merge_repeated)
    return op.Unsqueeze(op.cast(classes, node.element(0)), [2, 3])


def _last_class(op: OnnxBuilder, data: SSAValue) -> SSAValue:
    """The index of the last class of data [·, ·, C]: a 1-D tensor of one element."""
    shape = shape_of(data)
    if shape is not None and is_fixed(shape[2]):
        return op.constant([shape[2] - 1])
    return op.Sub(op.sizes(data, 2, 3), op.constant([1]))
