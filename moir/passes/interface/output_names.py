"""The names of outputs whose tensors are replaced: users find outputs by them."""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.moir import PARAMETER, RESULT
from moir.dialects.names import name_of, names_of, set_names
from moir.dialects.properties import string_attribute


def keep_output_name(value: SSAValue) -> None:
    """Give the operation that computes an output the name of the output, unless it has a name.

    The name of an operation is a name of its tensor.
    """
    result = next((use.operation for use in value.uses if use.operation.name == RESULT), None)
    name = None if result is None else name_of(result)
    if name is not None and isinstance(value, OpResult):
        value.op.attributes.setdefault("name", string_attribute(name))


def move_output_names(result: Operation, before: SSAValue) -> None:
    """Move the names of an output to the tensor that replaces it.

    Args:
        result: the Result, whose operand is the new tensor.
        before: the tensor that was its operand. If it is an input or another output as well, it keeps the names that
            are not the Result's own.
    """
    own, names = name_of(result), names_of(before)
    producer = before.owner
    is_input = isinstance(producer, Operation) and producer.name == PARAMETER
    if is_input:
        moved = [] if own is None or own in names else [own]
    elif any(use.operation.name == RESULT for use in before.uses):
        moved = [] if own is None else [own]
    else:
        moved = names or _names_of_node(before)
    set_names(before, [name for name in names if name not in moved])
    set_names(result.operands[0], moved)
    keep_output_name(result.operands[0])


def _names_of_node(value: SSAValue) -> list[str]:
    """The name of the node that computes a tensor, as a list, for a tensor without names of its own."""
    name = name_of(value.op) if isinstance(value, OpResult) else None
    if name is None or not isinstance(value, OpResult):
        return []
    return [name if len(value.op.results) == 1 else f"{name}:{value.index}"]
