"""Variables of a model as inputs and outputs: ONNX has no state.

    %r = opset6.ReadValue(%initial) {variable_id = "cache"}
    %a = opset6.Assign(%new) {variable_id = "cache"}
->  %r = opset1.Parameter {name = "cache"}
    opset1.Result(%new) {name = "cache.next"}
"""

from __future__ import annotations

import re

from xdsl.ir import Operation, SSAValue

from moir.dialects import opset
from moir.dialects.moir import ModelOp
from moir.dialects.names import tensor_names
from moir.dialects.properties import string_attribute, value_of
from moir.rewriting.dead_code import erase

NEXT = ".next"
"""The suffix of the name of an output with the new value of a variable."""


_PAIR = re.compile(r"(past.*)(present.*)")
"""The name of a variable of an exported language model: the concatenated names of an input (`past…`) and an output
(`present…`).
"""


def names_of_variable(variable: str) -> tuple[str, str]:
    """The names of the input and the output of a variable."""
    pair = _PAIR.fullmatch(variable)
    return (pair[1], pair[2]) if pair is not None else (variable, variable + NEXT)


def expose_states(model: ModelOp) -> list[str]:
    """Replace the variables of a model by inputs and outputs; returns a note for each variable.

    A variable that is read several times becomes one input; one that is only assigned becomes no input.
    """
    block = model.block
    inputs: dict[str, SSAValue] = {}
    notes: list[str] = []
    parameters: list[Operation] = [op for op in block.ops if op.name == "opset1.Parameter"]
    for op in list(block.ops):
        kind = op.name.partition(".")[2]
        if kind not in ("ReadValue", "Assign") or not op.name.startswith("opset"):
            continue
        variable: str = value_of(op.properties["variable_id"])
        name, following = names_of_variable(variable)
        if kind == "ReadValue":
            if variable not in inputs:
                attributes = {"name": string_attribute(name), "tensor_names": tensor_names(name)}
                parameter = opset.operation("opset1.Parameter").create(result_types=[op.results[0].type], attributes=attributes)
                if parameters:
                    block.insert_op_after(parameter, parameters[-1])
                else:
                    block.insert_op_before(parameter, next(iter(block.ops)))
                parameters.append(parameter)
                inputs[variable] = parameter.results[0]
                notes.append(f"the variable {variable!r} is the input {name!r}, and its new value the output {following!r}")
            op.results[0].replace_all_uses_with(inputs[variable])
        else:
            if op.results:
                op.results[0].replace_all_uses_with(op.operands[0])
            result = opset.operation("opset1.Result").create(operands=[op.operands[0]], attributes={"name": string_attribute(following)})
            block.add_op(result)
        erase(op)
    return notes
