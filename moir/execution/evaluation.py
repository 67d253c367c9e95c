"""Modules by the definitions of their operations: each operation's own `evaluate`, in numpy.

A loop or a branch is evaluated by its body (`moir.execution.bodies`). An operation without a definition (a convolution,
a pooling) is run alone on OpenVINO Runtime, where that is installed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import values_of
from moir.analysis.known_values import evaluate
from moir.analysis.liveness import needed_for
from moir.dialects import opset
from moir.dialects.element_types import describe, from_numpy, to_numpy
from moir.dialects.memory_map import Array
from moir.dialects.moir import ModelOp, is_none
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result, VariableOp
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ExecutionError, InferenceError
from moir.execution import openvino_runtime
from moir.execution.bodies import results_of_control_flow
from moir.execution.ports import only_model
from moir.execution.runner import Runner
from moir.execution.values import named_values

TITLE = "moir's definitions of the operations"


class EvaluationRunner(Runner):
    """Runs a module by the definitions of its operations.

    Args:
        module: a module in opset dialects.
        alone: whether operations without a definition in numpy are run alone on OpenVINO Runtime.
    """

    title = TITLE

    def __init__(self, module: ModuleOp, *, alone: bool = True) -> None:
        super().__init__(module)
        self.alone = alone

    def run(self, inputs: Mapping[str, Array], tensors: Sequence[str] = ()) -> dict[str, Array]:
        model = only_model(self.module)
        values = named_values(model.block)
        wanted = {name: values[name] for name in tensors if name in values}
        results = [op.operands[0] for op in model.block.ops if isinstance(op, Result)]
        arrays = self.interface.in_order(inputs)
        known = evaluate_block(model.block, arrays, [*results, *wanted.values()], alone=self.alone)
        outputs = {port.name: known[value] for port, value in zip(self.interface.outputs, results, strict=True)}
        return {name: known[value] for name, value in wanted.items()} | outputs


Compute: TypeAlias = Callable[[Operation, Sequence[Array | None]], Sequence[Array]]
"""The type of functions that compute the results of an operation from its operands; None for an absent operand."""


def evaluate_block(
    block: Block, inputs: Sequence[Array], wanted: Sequence[SSAValue], *, alone: bool = True, compute: Compute | None = None
) -> dict[SSAValue, Array]:
    """The wanted values of a model's block.

    Args:
        block: the block, in topological order.
        inputs: an array for each Parameter, in order.
        wanted: the values; only what they depend on is computed.
        alone: whether operations without a definition in numpy are run alone on OpenVINO Runtime.
        compute: computes each operation but Parameters and Constants; by default `evaluate_operation`.

    Raises ExecutionError, with the name of the operation, if one cannot be computed.
    """
    compute = compute or partial(evaluate_operation, alone=alone)
    parameters = [op for op in block.ops if isinstance(op, Parameter)]
    known: dict[SSAValue, Array] = {op.results[0]: array for op, array in zip(parameters, inputs, strict=True)}
    needed = needed_for(value.owner for value in wanted if isinstance(value.owner, Operation))
    left = Counter(operand for op in needed for operand in op.operands)
    kept = set(wanted)
    for op in block.ops:
        if op not in needed or isinstance(op, Parameter) or is_none(op):
            continue
        if isinstance(op, Constant):
            values = values_of(op.results[0])
            if values is None and describe(op.value.element).is_packed and op.value.data.values is not None:
                # numpy has no such type. What reads it runs alone, where constants stay constants.
                continue
            if values is None:
                raise ExecutionError("the text does not have its value", operation=op.name, node=name_of(op))
            known[op.results[0]] = np.asarray(values)
            continue
        known.update(zip(op.results, compute(op, [known.get(each) for each in op.operands]), strict=True))
        for operand in op.operands:
            left[operand] -= 1
            if not left[operand] and operand not in kept:
                known.pop(operand, None)
    return {value: known[value] for value in wanted}


def defined_results(op: Operation, operands: Sequence[Array | None]) -> Sequence[Array] | None:
    """The results of an operation by its definition in numpy; None if it has none, or one that does not cover these
    operands.

    Args:
        op: the operation.
        operands: its operands; None for an absent one.
    """
    if not isinstance(op, OpsetOp) or op.regions or any(array is None for array in operands):
        return None
    try:
        return evaluate(op, [array for array in operands if array is not None])
    except (InferenceError, TypeError, AttributeError):
        return None


def own_results(op: Operation, operands: Sequence[Array | None], *, alone: bool = True) -> Sequence[Array] | None:
    """The results of an operation by its definition in numpy or, for control flow, by its bodies; None if it has
    neither.

    Args:
        op: the operation.
        operands: its operands; None for an absent one.
        alone: whether operations in bodies that have no definition are run alone on OpenVINO Runtime.
    """
    if op.regions:
        return results_of_control_flow(op, operands, partial(evaluate_block, alone=alone))
    return defined_results(op, operands)


def evaluate_operation(op: Operation, operands: Sequence[Array | None], *, alone: bool = True) -> Sequence[Array]:
    """The results of an operation, by its definition in numpy, by its bodies, or else alone on OpenVINO Runtime.

    A variable has its initial value, since a model is run only once.
    """
    if isinstance(op, VariableOp):
        return [_initial_value(op, operands)]
    results = own_results(op, operands, alone=alone)
    if results is not None:
        return results
    if not alone or not openvino_runtime.is_installed():
        reason = "moir has no definition of it in numpy" if isinstance(op, OpsetOp) else "it is not lowered"
        raise ExecutionError(reason, operation=op.name, node=name_of(op), hint="install moir[run], which has OpenVINO Runtime")
    return alone_on_runtime(op, operands)


def _initial_value(op: VariableOp, operands: Sequence[Array | None]) -> Array:
    """The initial value of a variable: its operand; without an operand zeros, where a dynamic dimension has size 0."""
    if operands and operands[0] is not None:
        return operands[0]
    return np.zeros([max(size, 0) for size in shape_of(op.results[0]) or ()], to_numpy(element_of(op.results[0])))


def alone_on_runtime(op: Operation, operands: Sequence[Array | None]) -> Sequence[Array]:
    """The results of an operation, computed by OpenVINO Runtime as a model of this operation alone.

    Its constants stay constants. Raises ExecutionError if the runtime fails.
    """
    block = Block()
    copies: dict[SSAValue, SSAValue] = {}
    inputs: list[Array] = []
    for operand, array in zip(op.operands, operands, strict=True):
        if operand in copies:
            continue
        owner = operand.owner
        if isinstance(owner, Constant) or is_none(owner):
            assert isinstance(owner, Operation)
            block.add_op(copy := owner.clone())
        else:
            assert array is not None
            type_ = tensor(array.shape, from_numpy(array.dtype))
            block.add_op(copy := opset.operation("opset1.Parameter").create(result_types=[type_]))
            inputs.append(array)
        copies[operand] = copy.results[0]
    block.add_op(copy := op.clone(copies))
    for result in copy.results:
        block.add_op(opset.operation("opset1.Result").create(operands=[result]))
    results, _ = openvino_runtime.run_module(ModuleOp([ModelOp.of("alone", block)]), inputs)
    return results
