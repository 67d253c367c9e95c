"""Which values depend on the inputs or the states of a model, and which on the sizes of its inputs."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp


def is_computed_of_inputs(value: SSAValue) -> bool:
    """Whether a value depends on elements of the model's inputs, and not only on their shapes.

    Values that depend on shapes alone become known with the shapes; a rank that depends on elements of inputs stays
    dynamic.
    """
    return any(isinstance(each, Parameter) and isinstance(each.parent_op(), ModelOp) for each in _producers(value))


def is_computed_of_states(value: SSAValue) -> bool:
    """Whether a value depends on states of the model, and on no input."""
    return not is_computed_of_inputs(value) and any(each.name.endswith(".ReadValue") for each in _producers(value))


def is_computed_of_sizes(value: SSAValue) -> bool:
    """Whether a value is computed from the shape of a value that is not constant.

    Such a value is known if all dimensions are static; but it changes if the inputs of the model are reshaped, so what
    depends on it must not be folded.
    """
    pending, seen = [value], {value}
    while pending:
        producer = pending.pop().owner
        if not isinstance(producer, OpsetOp):
            continue
        if producer.name.endswith(".ShapeOf"):
            if not isinstance(producer.operands[0].owner, Constant):
                return True
            continue
        pending += [each for each in producer.operands if each not in seen]
        seen.update(producer.operands)
    return False


def _producers(value: SSAValue) -> Iterator[OpsetOp]:
    """The opset operations from which a value is computed.

    Operands of ShapeOf are not followed, since only their shapes matter.
    """
    pending, seen = [value], {value}
    while pending:
        producer = pending.pop().owner
        if not isinstance(producer, OpsetOp) or producer.name.endswith(".ShapeOf"):
            continue
        yield producer
        pending += [each for each in producer.operands if each not in seen]
        seen.update(producer.operands)
