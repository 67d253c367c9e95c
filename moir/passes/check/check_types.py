"""`check-types`: verifies that every operation can be written as IR.

    %x = opset1.Parameter() {name = "x"} : tensor<1x8x!moir.dynamic>
->  error: opset1.Parameter 'x': the element type of result 0 is unknown

Every operation must be one that the IR can hold, have a version, and have results with element types. This is the last
pass before emission; the emitter can write every module that passes it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.analysis.remaining_operations import kinds_and_names, remaining_operations
from moir.dialects.element_types import dynamic
from moir.dialects.framework import MODEL_OPTIMIZER
from moir.dialects.moir import is_none
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.errors import EmissionError
from moir.rewriting.reporting_pass import ReportingPass

_FOREIGN = f"{MODEL_OPTIMIZER}."


class CheckTypesPass(ReportingPass):
    """Raises EmissionError for the first operation that cannot be written as IR."""

    name = "check-types"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        foreign = [each for each in analyses.classes if each.name.startswith(_FOREIGN)]
        untyped = remaining_operations(module, lambda each: type(each) in foreign) if foreign else {}
        others = {each for each in analyses.classes if not issubclass(each, OpsetOp)}
        if other := next((op for op in analyses.operations(*others) if not is_none(op) and type(op) not in foreign), None):
            raise EmissionError("it is not an operation of an operation set", operation=other.name, node=name_of(other))
        for each in analyses.operations(OpsetOp):
            for result in each.results:
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
        return False
