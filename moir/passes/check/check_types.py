"""`check-types`: verifies that every operation can be written as IR, and notes why the runtime would not load it.

    %x = opset1.Parameter() {name = "x"} : tensor<1x8x!moir.dynamic>
->  error: opset1.Parameter 'x': the element type of result 0 is unknown

Every operation must be one that the IR can hold, have a version, and have results with element types. This is the last
pass before emission; the emitter can write every module that passes it.

The CPU plugin loads no model with a tensor of unknown rank. Its rank may become known by shapes that are given to the
IR later (`model.reshape()`), so that this is not an error: a note names the inputs, or else the first operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, UnrankedTensorType
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.remaining_operations import kinds_and_names, remaining_operations
from moir.dialects.element_types import dynamic
from moir.dialects.framework import MODEL_OPTIMIZER
from moir.dialects.moir import ModelOp, add_notes, is_none
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.errors import EmissionError
from moir.rewriting.reporting_pass import ReportingPass

_SHOWN = 4
_FOREIGN = f"{MODEL_OPTIMIZER}."


class CheckTypesPass(ReportingPass):
    """Raises EmissionError for the first operation that cannot be written as IR."""

    name = "check-types"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        foreign = [each for each in analyses.classes if each.name.startswith(_FOREIGN)]
        untyped = remaining_operations(module, lambda each: type(each) in foreign) if foreign else {}
        unranked: list[Operation] = []
        others = {each for each in analyses.classes if not issubclass(each, OpsetOp)}
        if other := next((op for op in analyses.operations(*others) if not is_none(op) and type(op) not in foreign), None):
            raise EmissionError("it is not an operation of an operation set", operation=other.name, node=name_of(other))
        for each in analyses.operations(OpsetOp):
            for result in each.results:
                if type(result.type) is UnrankedTensorType:
                    unranked.append(each)
                if element_of(result) is dynamic:
                    raise EmissionError(
                        f"the element type of result {result.index} is unknown",
                        operation=each.name,
                        node=name_of(each),
                        hint="the types of the model's inputs must be known",
                    )
        if untyped:
            raise EmissionError(
                f"operations without a type are left (it is None), which the IR does not have: {kinds_and_names(untyped)}",
                hint="a transformation must replace them, or their Op class give them a type and a version",
            )
        if unranked:
            add_notes(unranked[0], [_unranked_note(unranked)])
        return bool(unranked)


def _unranked_note(unranked: Sequence[Operation]) -> str:
    """The note about operations with results of unknown rank."""
    inputs = [name_of(each) or "" for each in unranked if isinstance(each, Parameter) and isinstance(each.parent_op(), ModelOp)]
    if inputs:
        shown = ", ".join(map(repr, inputs[:_SHOWN])) + (", …" if len(inputs) > _SHOWN else "")
        hint = f"give shapes with --input, ? for unknown dimensions, {inputs[0]}[] if it is a scalar"
        return f"the IR will not load until the rank of {shown} is known: {hint}"
    first = unranked[0]
    hint = "give the inputs static shapes with --input"
    return f"the IR will not load until the rank of what {first.name} {name_of(first)!r} computes is known: {hint}"
