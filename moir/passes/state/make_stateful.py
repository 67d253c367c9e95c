"""`make-stateful`: inputs take the values of outputs in the inference before, and are no inputs any more.

    make-stateful{pairs="past=present"}

    %p = opset1.Parameter() {name = "past", dimension_names = ["batch", "", "length", ""]} : tensor<?x2x?x16xf32>
    …
    opset1.Result(%n) {name = "present"}
->  %z = opset3.Broadcast(0.0, [batch of another input, 2, 0, 16])
    %p = opset6.ReadValue(%z) {variable_id = "pastpresent", variable_type = f32, variable_shape = "?,2,?,16"}
    …
    opset6.Assign(%n) {variable_id = "pastpresent"}

The ids of the variables are those that Model Optimizer's MakeStateful gave: both names, one behind the other. A
variable is zero before the first inference and after a reset. Of its unknown dimensions, those that share their name
with a dimension of a remaining input have the size of that one; others have size 0 then, as has the length of a cache.

What computes initial values alone, the CPU plugin (2026.4) makes a part of the ReadValue. A variable whose size changes
then keeps its value at a reset, and some models are not compiled. So an output uses initial values that are not
constant, too: their sum, which is 0, is added to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.analysis.order import sort_block
from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, describe
from moir.dialects.moir import models_of
from moir.dialects.names import inherit_names, name_of, names_of, several_tensor_names
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import string_attribute, value_of
from moir.dialects.shapes import element_of, shape_of
from moir.errors import ConversionError, UsageError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.variables import VariableNames, assign_variable, check_variable_type, read_variable
from moir.suggestions import did_you_mean

Port = TypeVar("Port", Parameter, Result)


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
            _make_stateful(model.block, self.pairs)
        return bool(self.pairs)


def _make_stateful(block: Block, pairs: Sequence[str]) -> None:
    parameters = [op for op in block.ops if isinstance(op, Parameter)]
    inputs = _by_name(parameters, [op.results[0] for op in parameters])
    results = [op for op in block.ops if isinstance(op, Result)]
    outputs = _by_name(results, [op.operands[0] for op in results])
    found = [_split(pair, inputs, outputs) for pair in pairs]
    for index, what in ((0, "input"), (1, "output")):
        used = [inputs[pair[0]] if index == 0 else outputs[pair[1]] for pair in found]
        repeated = next((pair[index] for pair, op in zip(found, used, strict=True) if used.count(op) > 1), None)
        if repeated is not None:
            raise UsageError(f"{what} {repeated!r} is in two pairs", hint="each variable has one input and one output")
    taken = [inputs[source] for source, _ in found]
    sizes = _named_sizes(op for op in parameters if op not in taken)
    names = VariableNames()
    used = [outputs[target] for _, target in found]
    initial = [_replace(inputs[source], outputs[target], names.unique(source + target), sizes) for source, target in found]
    sort_block(block)
    computed = [value for value, is_computed in initial if is_computed]
    if computed:
        _use([op for op in results if op not in used], computed)


def _by_name(operations: Sequence[Port], values: Sequence[SSAValue]) -> dict[str, Port]:
    """Inputs or outputs by their names and those of their tensors; the names of operations take precedence."""
    found: dict[str, Port] = {}
    for op, value in zip(operations, values, strict=True):
        for name in names_of(value):
            found.setdefault(name, op)
    return {**found, **{name: op for op in operations if (name := name_of(op)) is not None}}


def _split(pair: str, inputs: dict[str, Parameter], outputs: dict[str, Result]) -> tuple[str, str]:
    """The names of the input and of the output of a pair; names may contain `=`."""
    places = [index for index, letter in enumerate(pair) if letter == "="]
    splits = [(pair[:index].strip(), pair[index + 1 :].strip()) for index in places]
    if not splits:
        raise UsageError(f"{pair!r} is no pair of an input and an output", hint="write NAME=NAME")
    for source, target in splits:
        if source in inputs and target in outputs:
            return source, target
    source, target = splits[0]
    name, known, what = (target, outputs, "output") if source in inputs else (source, inputs, "input")
    raise ConversionError(f"the model has no {what} {name!r}", hint=did_you_mean(name, known, f"its {what}s are {', '.join(known)}"))


def _named_sizes(parameters: Iterable[Parameter]) -> dict[str, tuple[SSAValue, int]]:
    """The inputs and indices of named dimensions, by their names."""
    found: dict[str, tuple[SSAValue, int]] = {}
    for op in parameters:
        for index, name in enumerate(_dimension_names(op)):
            if name:
                found.setdefault(name, (op.results[0], index))
    return found


def _dimension_names(parameter: Parameter) -> list[str]:
    given = parameter.attributes.get("dimension_names")
    return [] if given is None else list(value_of(given))


def _replace(parameter: Parameter, result: Result, variable: str, sizes: dict[str, tuple[SSAValue, int]]) -> tuple[SSAValue, bool]:
    """Replace an input and an output by a variable; returns its initial value, and whether that is computed."""
    value, assigned = parameter.results[0], result.operands[0]
    check_variable_type(variable, value, assigned)
    assert parameter.parent is not None
    op = OpBuilder(KnownValues(), parameter.parent, parameter)
    initial, is_computed = _zeros(op, parameter, sizes)
    read = read_variable(op, variable, value, initial)
    inherit_names(parameter, [read])
    value.replace_all_uses_with(read)
    assign_variable(OpBuilder(op.known, parameter.parent, result), variable, result.operands[0])
    erase(result)
    erase(parameter)
    return initial, is_computed


def _zeros(op: OpBuilder, parameter: Parameter, sizes: dict[str, tuple[SSAValue, int]]) -> tuple[SSAValue, bool]:
    """Zeros in the shape that a variable has before the first inference, and whether the shape is computed."""
    value = parameter.results[0]
    shape = shape_of(value)
    if shape is None:
        raise ConversionError(
            "an input of unknown rank cannot become a variable",
            operation=parameter.name,
            node=name_of(parameter),
            hint="give its shape, with ? for unknown dimensions",
        )
    row = describe(element_of(value))
    if row.is_packed or row.bits == 0:
        raise ConversionError(f"an input of type {row.xml} cannot become a variable", operation=parameter.name, node=name_of(parameter))
    zero = op.constant(np.zeros((), row.numpy), row.attribute)
    names = [*_dimension_names(parameter), *[""] * len(shape)]
    if not any(size < 0 and name in sizes for size, name in zip(shape, names, strict=False)):
        return op.Broadcast(zero, op.constant(np.maximum(np.array(shape, np.int64), 0))), False
    parts: list[SSAValue] = []
    for size, name in zip(shape, names, strict=False):
        if size < 0 and name in sizes:
            source, index = sizes[name]
            parts.append(op.Gather(op.ShapeOf(source), [index], 0))
        else:
            parts.append(op.constant(np.array([max(size, 0)], np.int64)))
    return op.Broadcast(zero, op.Concat(*parts, axis=0)), True


def _use(results: Sequence[Result], zeros: Sequence[SSAValue]) -> None:
    """Add the sum of zeros, of which there may be none at all, to the first output of numbers; or to none."""
    numbers = REAL_TYPES | INTEGER_TYPES
    result = next((op for op in results if element_of(op.operands[0]) in numbers), None)
    if result is None or result.parent is None:
        return
    value = result.operands[0]
    op = OpBuilder(KnownValues(), result.parent, result)
    sums: list[SSAValue] = []
    for each in zeros:
        axes = np.arange(len(shape_of(each) or ()))
        sums.append(op.convert(op.ReduceSum(each, axes, keep_dims=False), element_of(value)))
    added = op.create(Add, [value, reduce(op.Add, sums)], {})
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
