"""Decoding of sequences: connectionist temporal classification and beam search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import as_scalar, dimension, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

BATCH_FIRST = np.array([1, 0, 2], np.int64)
"""The permutation from [time, batch, class] to [batch, time, class]."""


@tf.lowers("CTCGreedyDecoder")
def greedy_decoder(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, sequence_length: SSAValue, *, merge_repeated: bool = False
) -> Sequence[SSAValue | None]:
    """tf.CTCGreedyDecoder(x, sequence_length) {merge_repeated, blank_index}
    -> opset6.CTCGreedyDecoderSeqLen, whose classes are converted to a sparse tensor

    Results: coordinates [n, 2], classes [n], shape [2], and for each sequence the negative sum of its largest logits
    [batch, 1].
    """
    data = op.Transpose(inputs, BATCH_FIRST)
    classes, counts = op.CTCGreedyDecoderSeqLen.results(
        data,
        sequence_length,
        blank_class(node, op, inputs),
        merge_repeated=merge_repeated,
        classes_index_type=si64,
        sequence_length_type=si64,
    )
    results: list[SSAValue | None] = [None] * node.result_count
    if node.is_used(0) or node.is_used(1):
        coordinates = op.Transpose(op.NonZero(op.GreaterEqual(classes, 0), output_type=si64), [1, 0])
        results[0] = coordinates
        if node.is_used(1):
            results[1] = op.GatherND(classes, coordinates, batch_dims=0)
    if node.is_used(2):
        results[2] = op.Concat(dimension_list(op, inputs, 1), op.ReduceMax(counts, [0], keep_dims=True), axis=0)
    if node.is_used(3):
        results[3] = negative_score(op, inputs, sequence_length)
    return results


def blank_class(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue | None:
    """The index of CTC's blank class; None if it is the last class, which is CTCGreedyDecoder's default.

    Raises ConversionError if the index is negative and the number of classes is dynamic.
    """
    blank = node.integer("blank_index", -1)
    if blank == -1:
        return None
    shape = shape_of(inputs)
    if blank >= 0:
        return op.constant(blank, si32)
    if shape is None or shape[2] < 0:
        node.fail("the blank counts from the end, and the number of classes is dynamic", hint="give the model's inputs a static shape")
    return op.constant(blank + shape[2], si32)


def negative_score(op: OpBuilder, inputs: SSAValue, lengths: SSAValue) -> SSAValue:
    """For each sequence, the negative sum over its steps of the largest logit, [batch, 1].

    `inputs` are the logits [steps, batch, classes]; steps from the length of the sequence on do not count.
    """
    largest = op.ReduceMax(inputs, [2], keep_dims=False)
    steps = dimension(op, inputs, 0)
    steps_range = op.constant(np.arange(steps, dtype=np.int32)) if isinstance(steps, int) else op.Range(0, steps, 1, output_type=si32)
    counted = op.Less(op.Unsqueeze(steps_range, [1]), op.Unsqueeze(lengths, [0]))
    total = op.ReduceSum(op.Select(counted, largest, op.constant_like(0, largest)), [0], keep_dims=True)
    return op.Transpose(op.Negative(total), [1, 0])


@tf.lowers("CTCLoss", "CTCLossV2")
def loss(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    labels_indices: SSAValue,
    labels_values: SSAValue,
    sequence_length: SSAValue,
    *,
    ignore_longer_outputs_than_inputs: bool = False,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
) -> Sequence[SSAValue | None]:
    """tf.CTCLoss(x, labels_indices, labels_values, sequence_length)
    -> opset4.CTCLoss(x, sequence_length, labels as a dense tensor, counts of labels_values, blank)

    The blank is the last class, for CTCLossV2 class 0. The second result, the gradient, is not computed.
    """
    if node.is_used(1):
        node.fail("its gradient is used", hint="cut the model at the loss")
    if ignore_longer_outputs_than_inputs:
        node.fail("it ignores labels that are longer than their sequences", hint="leave ignore_longer_outputs_than_inputs out")
    logits = op.Transpose(inputs, BATCH_FIRST)
    batch, time = dimension_list(op, inputs, 1), dimension_list(op, inputs, 0)
    dense = op.ScatterNDUpdate(
        op.Broadcast(op.constant(0, si32), op.Concat(batch, time, axis=0)), labels_indices, labels_values, reduction="none"
    )
    rows = op.Gather(labels_indices, [0], 1)
    ones = op.Broadcast(op.constant(1, si32), op.ShapeOf(labels_values))
    counts = op.ScatterNDUpdate(op.Broadcast(op.constant(0, si32), batch), rows, ones, reduction="sum")
    losses = op.CTCLoss(
        logits,
        sequence_length,
        dense,
        counts,
        op.constant(0, si32) if node.op.KIND == "CTCLossV2" else None,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        unique=False,
    )
    return [losses, None][: node.result_count] if element_of(losses) == element_of(logits) else [op.convert(losses, element_of(logits))]


@tf.lowers("GatherTree", "Addons>GatherTree")
def gather_tree(op: OpBuilder, steps: SSAValue, parents: SSAValue, lengths: SSAValue, end: SSAValue) -> SSAValue:
    """tf.GatherTree(steps, parents, lengths, end) -> opset1.GatherTree(steps, parents, lengths, end)"""
    return op.GatherTree(steps, parents, lengths, as_scalar(op, end))
