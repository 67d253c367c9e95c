"""Addition of zeros to outputs, so that the operations which compute the zeros have a use."""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from moir.dialects.names import name_of, names_of, several_tensor_names
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute
from moir.rewriting.builder import OpBuilder


def add_to_output(op: OpBuilder, result: Result, zeros: SSAValue) -> None:
    """Add zeros to an output, which keeps its names.

    The zeros have the element type of the output, and a shape that broadcasts to its shape.
    """
    value = result.operands[0]
    added = op.create(Add, [value, zeros], {})
    if isinstance(value, OpResult):
        producer = value.op
        names = [names_of(each) for each in producer.results]
        # The output is found by the names of its tensor.
        if names[value.index]:
            added.attributes["tensor_names"] = several_tensor_names([names[value.index]])
            names[value.index] = []
            producer.attributes["tensor_names"] = several_tensor_names(names)
        if (name := name_of(producer)) is not None:
            added.attributes["name"] = string_attribute(f"{name}/state")
    result.operands[0] = added.results[0]
