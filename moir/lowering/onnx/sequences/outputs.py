"""Sequences that are outputs of a model: each member becomes an output.

    opset1.Result(onnx.SequenceConstruct(%a, %b)) {name = "s"}
->  opset1.Result(%a) {name = "s.0"}
    opset1.Result(%b) {name = "s.1"}
"""

from __future__ import annotations

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import ModelOp, add_notes
from moir.dialects.names import add_tensor_names, escaped, name_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute
from moir.errors import UnsupportedOperationError

HINT = "make the members outputs, or a tensor of them by ConcatFromSequence"


def split_sequences(model: ModelOp) -> None:
    """Replace outputs that are sequences by their members, with a note. Other outputs are unchanged.

    Raises ConversionError for a sequence whose number of members is not known, or that has no members.
    """
    sequences = {"SequenceConstruct", "SequenceStack", "SequencePieces"}
    for result in [op for op in model.block.ops if isinstance(op, Result)]:
        producer = result.operands[0].owner
        if not isinstance(producer, FrameworkOp) or producer.KIND not in sequences:
            continue
        name = name_of(result) or ""
        if producer.KIND != "SequenceConstruct" or not producer.operands:
            reason = f"output {name!r} is a sequence {'without members' if not producer.operands else 'of a computed number of members'}"
            raise UnsupportedOperationError(reason, operation=producer.name, node=name_of(producer), hint=HINT)
        names = [f"{name}.{index}" for index in range(len(producer.operands))]
        for member, own in zip(producer.operands, names, strict=True):
            add_tensor_names(member, escaped(own), required=True)
            created = Result.create(operands=[member], attributes={"name": string_attribute(own)})
            model.block.insert_op_before(created, result)
        add_notes(model, [f"output {name!r} is a sequence: its members are the outputs {', '.join(names)}"])
        result.detach()
        result.erase()
        if not producer.results[0].uses:
            producer.detach()
            producer.erase()
