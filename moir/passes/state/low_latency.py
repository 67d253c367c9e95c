"""`low-latency`: states of recurrent operations persist from one inference to the next.

    %y, %h = opset5.GRUSequence(%x, %h0, …) {name = "gru", direction = "forward"}
->  %z = opset3.Broadcast(0.0, opset3.ShapeOf(%h0))
    %r = opset6.ReadValue(%z) {variable_id = "gru/state"}
    %y, %h = opset5.GRUSequence(%x, %r, …) {name = "gru", direction = "forward"}
    opset6.Assign(%h) {variable_id = "gru/state"}

So a sequence can be passed in parts, down to one step per inference. States of a TensorIterator or Loop over slices are
treated alike; a loop of one iteration is replaced by its body. States of integers and booleans do not persist: they
count steps from the start of each inference.

Not changed, but noted, are operations that read a sequence from its end, which would need the later pieces first,
and loops that do not go through slices of an input. Loops in bodies are part of a step.

Variables start at zero or, with `use-const-initializer=false`, at the values that the model computes for them. Source:
LowLatency2 of Model Optimizer, which does this to TensorIterators, Loops and sequences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import Block, OpResult, SSAValue, SSAValues

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import REAL_TYPES
from moir.dialects.moir import BodyPort, BodyPortAttr, add_notes, models_of
from moir.dialects.names import name_of
from moir.dialects.opset.control_flow import RepeatingOp, parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.opset.recurrent import SequenceOp
from moir.dialects.shapes import element_of, is_static, normalize_axis, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.variables import VariableNames, assign_variable, read_variable


@dataclass(frozen=True)
class LowLatencyPass(ReportingPass):
    """Turns states of recurrent operations of models into variables.

    Args:
        use_const_initializer: whether the variables start at zero, whatever the model computes for the first step.
    """

    name = "low-latency"
    ROOTS = (SequenceOp, RepeatingOp)

    use_const_initializer: bool = True

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for model in models_of(module):
            states = _States(model.block, self.use_const_initializer)
            for op in list(model.block.ops):
                if isinstance(op, SequenceOp | RepeatingOp):
                    changed |= states.keep(op)
            add_notes(model, states.notes)
        return changed


class _States:
    """The states of one model.

    Attributes:
        notes: notes on the operations that are not changed, with the reasons.
    """

    def __init__(self, block: Block, starts_at_zero: bool) -> None:
        self.notes: list[str] = []
        self._block = block
        self._starts_at_zero = starts_at_zero
        self._names = VariableNames()
        self._known = KnownValues()

    def keep(self, op: SequenceOp | RepeatingOp) -> bool:
        """Make the states of an operation persist; returns whether it has any that can."""
        reason = _obstacle(op)
        if reason is not None:
            name = name_of(op)
            label = op.KIND if name is None else f"{op.KIND} {name!r}"
            self.notes.append(f"low latency: {label} is left as it is, {reason}")
            return False
        pairs = _sequence_states(op) if isinstance(op, SequenceOp) else _loop_states(op)
        for operand, result in pairs:
            self._keep(op, operand, result)
        if isinstance(op, RepeatingOp):
            _inline(op, self._known)
        return bool(pairs)

    def _keep(self, op: SequenceOp | RepeatingOp, operand: int, result: SSAValue) -> None:
        """Replace an operand by a variable, to which a result of the operation is assigned."""
        variable = self._names.unique(f"{name_of(op) or op.KIND}/state")
        before = OpBuilder(self._known, self._block, op)
        initial = op.operands[operand]
        start = self._zeros(before, initial) if self._starts_at_zero else initial
        op.operands[operand] = read_variable(before, variable, initial, start)
        assign_variable(OpBuilder(self._known, self._block, op.next_op), variable, result)

    @staticmethod
    def _zeros(op: OpBuilder, initial: SSAValue) -> SSAValue:
        """Zeros in the shape of a value: the value itself if it is a constant of zeros."""
        value = constant_of(initial)
        if value is not None and not np.any(value):
            return initial
        zero = op.constant(np.zeros((), np.float32), element_of(initial))
        shape = op.constant(np.array(shape_of(initial), np.int64)) if is_static(shape_of(initial)) else op.ShapeOf(initial)
        return op.Broadcast(zero, shape)


def _obstacle(op: SequenceOp | RepeatingOp) -> str | None:
    """The reason why the states of an operation cannot persist; None if they can."""
    if isinstance(op, SequenceOp):
        return None if op.text("direction") == "forward" else "as it reads its sequence from the end"
    slices = [port.slicing for port in op.ports("inputs") if port.slicing is not None]
    if not slices:
        return "as it does not go through the slices of an input"
    return None if all(each.stride > 0 for each in slices) else "as it reads its sequence from the end"


def _sequence_states(op: SequenceOp) -> list[tuple[int, SSAValue]]:
    """The indices of the operands that are initial states of a sequence, with the results that are the final states."""
    return [(index, op.results[index]) for index, axes in enumerate(op.OPERANDS) if axes == "NDH"]


def _loop_states(op: RepeatingOp) -> list[tuple[int, SSAValue]]:
    """The indices of the operands that are initial states of a loop, with the results that are the final states;
    missing results are added.
    """
    inputs = op.ports("inputs")
    wanted = [
        (port.index, port.back_edge)
        for port in inputs
        if port.index is not None and port.back_edge is not None and element_of(op.operands[port.index]) in REAL_TYPES
    ]
    # An operand may initialize several states: each gets one of its own.
    return [(_own_operand(op, index, back_edge), _last_value(op, back_edge)) for index, back_edge in wanted]


def _own_operand(op: RepeatingOp, index: int, back_edge: int) -> int:
    """The index of an operand that initializes only the state with this back edge.

    It is `index` if no other port reads the operand; otherwise the operand is repeated at the end, and the index of
    that is returned.
    """
    inputs = op.ports("inputs")
    if sum(port.index == index for port in inputs) == 1:
        return index
    new = len(op.operands)
    op.operands = [*op.operands, op.operands[index]]
    changed = [replace(port, index=new) if port.index == index and port.back_edge == back_edge else port for port in inputs]
    op.properties["inputs"] = ArrayAttr([BodyPortAttr(port) for port in changed])
    return new


def _last_value(op: RepeatingOp, index: int) -> SSAValue:
    """The result of a loop that is the last value of Result `index` of its body; it is added if the loop lacks it."""
    ports = op.ports("outputs")
    for port, result in zip(ports, op.results, strict=True):
        if port == BodyPort(index):
            return result
    return _add_result(op, BodyPort(index))


def _add_result(op: RepeatingOp, port: BodyPort) -> SSAValue:
    """Add a result to a loop by the output connection `port`, which names a Result of its body; returns the result."""
    op.properties["outputs"] = ArrayAttr([*(BodyPortAttr(each) for each in op.ports("outputs")), BodyPortAttr(port)])
    value = results_of(op.block)[port.index or 0]
    op.results = SSAValues((*op.results, OpResult(value.type, op, len(op.results))))
    return op.results[-1]


def _inline(op: RepeatingOp, known: KnownValues) -> None:
    """Replace a loop of one iteration by its body."""
    inputs, outputs, parameters = op.ports("inputs"), op.ports("outputs"), parameters_of(op.block)
    if op.iterations(known) != 1 or not all(_is_whole(op.operands[port.index or 0], port) for port in inputs):
        return
    assert op.parent is not None
    before = OpBuilder(known, op.parent, op)
    for port, parameter in zip(inputs, parameters, strict=True):
        inner = parameter.results[0]
        # The iteration counter is 0.
        outer = (
            before.constant(np.zeros(shape_of(inner) or (), np.int64), element_of(inner)) if port.index is None else op.operands[port.index]
        )
        inner.replace_all_uses_with(outer)
    results = results_of(op.block)
    for each in list(op.block.ops):
        if not isinstance(each, Parameter | Result):
            each.detach()
            op.parent.insert_op_before(each, op)
    for port, result in zip(outputs, op.results, strict=True):
        result.replace_all_uses_with(results[port.index or 0])
    erase(op)


def _is_whole(operand: SSAValue, port: BodyPort) -> bool:
    """Whether one iteration of a body reads a whole operand."""
    shape = shape_of(operand)
    if port.slicing is None or port.index is None:
        return True
    return shape is not None and shape[normalize_axis(port.slicing.axis, len(shape))] == port.slicing.part_size
