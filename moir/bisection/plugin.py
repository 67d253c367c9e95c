"""Whether the runtime, not the conversion, computes a tensor wrongly: the definitions of the operations decide."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.liveness import needed_for
from moir.bisection.state_execution import StateExecution
from moir.dialects.memory_map import Array
from moir.dialects.moir import is_none
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.errors import MoirError
from moir.execution.comparison import difference
from moir.execution.evaluation import evaluate_block, own_results
from moir.execution.ports import interface_of, matched, only_model
from moir.reduction.module_graph import computed_operations
from moir.support.records import Record


class PluginFault(Record):
    """A tensor for which the runtime's result differs from the definitions of the operations.

    Args:
        operation: the operation at fault; None if only several together are computed wrongly, as one kernel.
        reason: the difference.
    """

    operation: Operation | None
    reason: str


def plugin_fault(
    execution: StateExecution, module: ModuleOp, value: SSAValue, expected: Array, tolerance: float | None = None
) -> PluginFault | None:
    """The fault of the runtime, if a module computes the expected value by the definitions of its operations.

    Operations without a definition in numpy (`has_definition`) are computed by the runtime itself, one at a time, so
    their faults are not detected.

    Args:
        execution: the inputs.
        module: a module in opset dialects.
        value: a value of its block that the runtime computes wrongly.
        expected: the correct value.
        tolerance: the relative tolerance for floats; None for those of the element types.

    Returns None if the definitions do not give the expected value, or cannot be computed.
    """
    model = only_model(module)
    interface = interface_of(module)
    inputs = matched(execution.inputs, interface.inputs, "input")
    try:
        defined = evaluate_block(model.block, [inputs[port.name] for port in interface.inputs], [value])[value]
    except MoirError:
        return None
    if difference(defined, expected, tolerance).exceeds:
        return None
    operations = _cone(module, value)
    wanted = list(dict.fromkeys(each for op in operations for each in (*op.operands, *op.results) if not _is_given(each)))
    try:
        _, arrays = execution.run(module, wanted)
    except MoirError as error:
        return PluginFault(None, f"the runtime does not compute what the operations are defined to: {error.reason}")
    known = dict(zip(wanted, arrays, strict=True))
    for op in operations:
        operands = [known.get(each) if not _is_given(each) else _given(each) for each in op.operands]
        try:
            results = own_results(op, operands)
        except MoirError:
            continue
        for result, array in zip(op.results, results or (), strict=False):
            apart = difference(known[result], array, tolerance)
            if apart.exceeds:
                return PluginFault(op, f"the runtime's result differs from its definition ({apart})")
    return PluginFault(None, "the runtime computes it otherwise than the definitions of the operations, but none of them alone")


def has_definition(op: Operation) -> bool:
    """Whether an operation can be computed in numpy: it overrides `evaluate`, or has bodies to interpret."""
    return bool(op.regions) or (isinstance(op, OpsetOp) and type(op).evaluate is not OpsetOp.evaluate)


def _cone(module: ModuleOp, value: SSAValue) -> Sequence[Operation]:
    """The operations on which a value depends, without constants and inputs, in the order of the block."""
    needed = needed_for([value.owner] if isinstance(value.owner, Operation) else [])
    return [op for op in computed_operations(module) if op in needed]


def _is_given(value: SSAValue) -> bool:
    return isinstance(value.owner, Constant) or is_none(value.owner)


def _given(value: SSAValue) -> Array | None:
    return constant_of(value)
