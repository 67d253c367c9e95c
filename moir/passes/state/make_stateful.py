"""`make-stateful`: an input and an output become a variable, which the model reads in the next inference.

    make-stateful{pairs="past=present"}

    %p = opset1.Parameter() {name = "past", dimension_names = ["batch", "", "length", ""]} : tensor<?x2x?x16xf32>
    …
    opset1.Result(%n) {name = "present"}
->  %z = opset3.Broadcast(0.0, [batch of another input, 2, 0, 16])
    %p = opset6.ReadValue(%z) {variable_id = "pastpresent", variable_type = f32, variable_shape = "?,2,?,16"}
    …
    opset6.Assign(%n) {variable_id = "pastpresent"}

The ids of the variables are those that Model Optimizer's MakeStateful gave: both names, one after the other. A
variable is zero before the first inference and after a reset; its dynamic dimensions then have the sizes that
`moir/passes/state/state_sizes.py` defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions
from moir.analysis.known_values import KnownValues
from moir.analysis.order import sort_block
from moir.dialects.element_types import describe
from moir.dialects.inference import set_type
from moir.dialects.moir import add_notes, models_of
from moir.dialects.names import inherit_names, name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError, UsageError
from moir.passes.state.state_sizes import RemainingSizes, Size, initial_sizes
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.state_pairs import inputs_by_name, outputs_by_name, split_pair
from moir.rewriting.variables import VariableNames, assign_variable, check_variable_type, read_variable


@dataclass(frozen=True)
class MakeStatefulPass(ReportingPass):
    """Replaces pairs of inputs and outputs by variables.

    Args:
        pairs: names of an input and of an output with `=` between them.
    """

    name = "make-stateful"

    pairs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module):
            add_notes(model, _make_stateful(model.block, self.pairs, analyses.dimensions()) if self.pairs else ())
        return bool(self.pairs)


def _make_stateful(block: Block, pairs: Sequence[str], dimensions: Dimensions) -> list[str]:
    """Replace pairs of inputs and outputs by variables; returns notes on initial sizes that were assumed.

    `dimensions` are the dimensions of the model, by which sizes are compared.
    """
    inputs, outputs = inputs_by_name(block), outputs_by_name(block)
    parameters = [op for op in block.ops if isinstance(op, Parameter)]
    variables = [split_pair(pair, inputs, outputs) for pair in pairs]
    for index, what in ((0, "input"), (1, "output")):
        used = [inputs[pair[0]] if index == 0 else outputs[pair[1]] for pair in variables]
        repeated = next((pair[index] for pair, op in zip(variables, used, strict=True) if used.count(op) > 1), None)
        if repeated is not None:
            raise UsageError(f"{what} {repeated!r} is in two pairs", hint="each variable has one input and one output")
    taken = [inputs[source] for source, _ in variables]
    used = [outputs[target] for _, target in variables]
    remaining = RemainingSizes([op.results[0] for op in parameters if op not in taken], dimensions)
    sizes = [initial_sizes(op, result.operands[0], remaining) for op, result in zip(taken, used, strict=True)]
    notes = [
        f"dimension {axis} of the state {source!r} is {each[axis]}, as no input that is left says it"
        for (source, _), op, each in zip(variables, taken, sizes, strict=True)
        for axis, size in enumerate(shape_of(op.results[0]) or ())
        if size < 0 and each[axis] not in (0, -1) and isinstance(each[axis], int)
    ]
    names = VariableNames()
    for (source, target), op, result, each in zip(variables, taken, used, sizes, strict=True):
        _replace(op, result, names.unique(source + target), each)
    sort_block(block)
    return notes


def _replace(parameter: Parameter, result: Result, variable: str, sizes: Sequence[Size]) -> None:
    """Replace an input and an output by a variable whose value before the first inference is zeros of these sizes."""
    value, assigned = parameter.results[0], result.operands[0]
    shape = shape_of(value)
    if shape is not None:
        fixed = [each if isinstance(each, int) and each > 0 else size for size, each in zip(shape, sizes, strict=True)]
        set_type(value, tensor(fixed, element_of(value)))
    check_variable_type(variable, value, assigned)
    assert parameter.parent is not None
    op = OpBuilder(KnownValues(), parameter.parent, parameter)
    read = read_variable(op, variable, value, _zeros(op, parameter, sizes))
    inherit_names(parameter, [read])
    value.replace_all_uses_with(read)
    assign_variable(OpBuilder(op.known, parameter.parent, result), variable, result.operands[0])
    erase(result)
    erase(parameter)


def _zeros(op: OpBuilder, parameter: Parameter, sizes: Sequence[Size]) -> SSAValue:
    """Zeros in the shape that a variable has before the first inference."""
    value = parameter.results[0]
    shape = shape_of(value)
    if shape is None:
        raise ConversionError(
            "an input of dynamic rank cannot become a variable",
            operation=parameter.name,
            node=name_of(parameter),
            hint="give its shape, with ? for dynamic dimensions",
        )
    row = describe(element_of(value))
    if row.is_packed or row.bits == 0:
        raise ConversionError(f"an input of type {row.xml} cannot become a variable", operation=parameter.name, node=name_of(parameter))
    zero = op.constant(np.zeros((), row.numpy), row.attribute)
    if all(isinstance(each, int) for each in sizes):
        return op.Broadcast(zero, op.constant(np.array(sizes, np.int64)))
    parts: list[SSAValue] = []
    for each in sizes:
        if isinstance(each, int):
            parts.append(op.constant(np.array([each], np.int64)))
        else:
            source, index = each
            parts.append(op.Gather(op.ShapeOf(source), [index], 0))
    return op.Broadcast(zero, op.Concat(*parts, axis=0))
