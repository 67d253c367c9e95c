"""`name-ports`: the first name of each input and output is the one that the model declares.

    %s = opset1.Sigmoid(%x) {tensor_names = ["s,y1,y2"]}
    opset1.Result(%s) {name = "y1"}
    opset1.Result(%s) {name = "y2"}
->  %s = opset1.Sigmoid(%x) {tensor_names = ["s,y1"]}
    %i = opset16.Identity(%s) {tensor_names = ["y2"]}
    opset1.Result(%s) {name = "y1", output_names = "y1"}
    opset1.Result(%i) {name = "y2"}

Of the names of a tensor, the alphabetically first one is that of the input or output of a loaded IR, and code relies
on it. So inputs keep no names that come before the declared one, and the Result of an output says which names the
output has. A loaded IR has the same names for two outputs of one tensor, and to an output that is an input: an
Identity is inserted between.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import string
from moir.dialects.moir import ModelOp, models_of
from moir.dialects.names import OUTPUT_NAMES, escaped, name_of, names_of, set_names
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.reporting_pass import ReportingPass


class NamePortsPass(ReportingPass):
    """Makes the declared names of inputs and outputs their first names."""

    name = "name-ports"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        ports = [op for op in analyses.operations(Parameter, Result) if isinstance(op.parent_op(), ModelOp)]
        for model in models_of(module):
            own = [op for op in ports if op.parent is model.block]
            results = [op for op in own if isinstance(op, Result)]
            changed |= _name_outputs(model.block, results)
            changed |= _name_inputs([op for op in own if isinstance(op, Parameter)], results)
        return changed


def _declared(op: Operation, names: Container[str]) -> str | None:
    """The name of an input or output if it is among `names`, the names of its tensor; else None."""
    name = name_of(op)
    return name if name is not None and name in names else None


def _not_before(declared: str, names: Iterable[str]) -> list[str]:
    """The declared name, and the names that come after it alphabetically: a loaded IR lists its names in this order."""
    return [declared, *(name for name in names if name > declared)]


def _name_outputs(block: Block, results: Sequence[Result]) -> bool:
    changed = False
    # Thousands of outputs may be one tensor, whose names are split once.
    names: dict[SSAValue, dict[str, None]] = {}
    moved: dict[SSAValue, None] = {}
    for result in results:
        value = result.operands[0]
        is_shared = value in names or isinstance(value.owner, Parameter)
        if value not in names:
            names[value] = dict.fromkeys(names_of(value))
        declared = _declared(result, names[value])
        # Not all targets have Identity of strings.
        if declared is None or element_of(value) == string:
            continue
        if is_shared and declared != (name_of(value.owner) if isinstance(value.owner, Parameter) else None):
            del names[value][declared]
            moved[value] = None
            identity = OpBuilder(KnownValues(), block, result).Identity(value)
            set_names(identity, [declared])
            names[identity] = {declared: None}
            result.operands[0] = identity
            changed = True
    for value in moved:
        set_names(value, names[value])
    for result in results:
        present = names[result.operands[0]]
        declared = _declared(result, present)
        if declared is not None and min(present) != declared:
            result.attributes[OUTPUT_NAMES] = string_attribute(",".join(map(escaped, _not_before(declared, present))))
            changed = True
    return changed


def _name_inputs(parameters: Sequence[Parameter], results: Sequence[Result]) -> bool:
    changed = False
    outputs = {name_of(each) for each in results}
    for parameter in parameters:
        value = parameter.results[0]
        names = names_of(value)
        declared = _declared(parameter, names)
        if declared is not None and min(names) != declared:
            later = _not_before(declared, names)
            set_names(value, [name for name in names if name in later or name in outputs])
            changed = True
    return changed
