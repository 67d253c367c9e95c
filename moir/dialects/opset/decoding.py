"""Decoding of sequences: connectionist temporal classification and beam search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.element_types import si32
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import REALS, require_element
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, element_property, optional_operands
from moir.dialects.opset.interfaces.spatial import expanded
from moir.dialects.shapes import Shapes, SymbolicShape, is_fixed, merge_dimensions, merge_shapes
from moir.dialects.symbols import Dimension


class DecodingOp(OpsetOp):
    """Base of the decoding operations, whose operands have fixed ranks."""

    RANKS: ClassVar[tuple[int, ...]] = ()

    def checked(self, shapes: Shapes) -> list[tuple[Dimension, ...]]:
        """The shapes of the operands, with dynamic dimensions for a dynamic rank.

        Raises InferenceError if an operand has another rank.
        """
        return [expanded(shape, rank, f"operand {index}") for index, (rank, shape) in enumerate(zip(self.RANKS, shapes, strict=False))]


@deferred_definition
class CTCGreedyDecoderSeqLen(DecodingOp):
    """The most probable class of each step of `data` [batch, time, class], without blanks.

    `merge_repeated` removes repetitions, too. Results: classes [batch, time], padded with -1, and their number in each
    sequence. The blank is the last class unless it is given.
    """

    name = "opset6.CTCGreedyDecoderSeqLen"
    data = operand_def()
    sequence_length = operand_def()
    blank_index = optional_operands(1)
    merge_repeated = boolean_property(True)
    classes_index_type = element_property(si32)
    sequence_length_type = element_property(si32)
    classes_index = result_def()
    sequence_length_output = result_def()

    RANKS: ClassVar[tuple[int, ...]] = (3, 1)

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        data, lengths = self.checked(shapes)
        batch = merge_dimensions(data[0], lengths[0])
        return (batch, data[1]), (batch,)

    def result_elements(self) -> Sequence[Attribute]:
        return self.element("classes_index_type"), self.element("sequence_length_type")


@deferred_definition
class CTCLoss(DecodingOp):
    """The negative logarithm of the probability of `labels` [batch, time] for `logits` [batch, time, class]."""

    name = "opset4.CTCLoss"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"ctc_merge_repeated": False}
    logits = operand_def()
    logit_length = operand_def()
    labels = operand_def()
    label_length = operand_def()
    blank_index = optional_operands(1)
    preprocess_collapse_repeated = boolean_property(False)
    ctc_merge_repeated = boolean_property(True)
    unique = boolean_property(False)
    result = result_def()

    RANKS: ClassVar[tuple[int, ...]] = (3, 1, 2, 1)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        logits, logit_length, labels, label_length = self.checked(shapes)
        merge_dimensions(logits[1], labels[1])
        batch = merge_dimensions(merge_dimensions(logits[0], logit_length[0]), merge_dimensions(labels[0], label_length[0]))
        return (batch,)

    def result_element(self) -> Attribute:
        require_element(self.element_type(0), REALS)
        return self.element_type(0)


@deferred_definition
class GatherTree(DecodingOp):
    """The sequences of a beam search: `step_ids` [time, batch, beam], traced back from the last step by `parent_idx`.

    Only end tokens follow the first `end_token` of a sequence and step `max_seq_len`.
    """

    name = "opset1.GatherTree"
    step_ids = operand_def()
    parent_idx = operand_def()
    max_seq_len = operand_def()
    end_token = operand_def()
    result = result_def()

    RANKS: ClassVar[tuple[int, ...]] = (3, 3, 1, 0)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        steps, parents, lengths, _ = self.checked(shapes)
        time, batch, beam = merge_shapes(steps, parents) or steps
        if shapes[0] is None and shapes[1] is None:
            return None
        return (time, merge_dimensions(batch, lengths[0]), beam)

    def result_element(self) -> Attribute:
        return self.common_element()


def larger(a: Dimension, b: Dimension) -> Dimension:
    """The larger of two dimensions that should be equal; if one is dynamic, the other one."""
    return max(a, b) if is_fixed(a) and is_fixed(b) else merge_dimensions(a, b)


@deferred_definition
class CTCGreedyDecoder(OpsetOp):
    """The best path [N, T, 1, 1] through probabilities [T, N, C] where the mask [T, N] is 1."""

    name = "opset1.CTCGreedyDecoder"
    data = operand_def()
    sequence_mask = operand_def()
    ctc_merge_repeated = boolean_property(True)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, mask = expanded(shapes[0], 3, "data"), expanded(shapes[1], 2, "the mask")
        return (larger(data[1], mask[1]), larger(data[0], mask[0]), 1, 1)
