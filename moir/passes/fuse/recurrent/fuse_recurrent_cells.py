"""`fuse-recurrent-cells`: a loop over the steps of sequences whose body is a recurrent cell becomes one operation.

    %y = opset1.TensorIterator(%h, %c, %x) ({ LSTM })
->  %all, %h, %c = opset5.LSTMSequence(%x, %h, %c, %lengths, W, R, B) {direction = "forward", hidden_size = 32}

The loop is a TensorIterator or Loop with one iteration for each slice of x. `recurrent_cells` defines which bodies are
cells. A loop over reversed x becomes a sequence operation with `direction = "reverse"` if all uses of its hidden states
reverse them again, or if only the last state is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.dimensions import Dimensions
from moir.dialects.data import Array
from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.names import inherit_names
from moir.dialects.opset.control_flow import Loop, RepeatingOp, parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Squeeze, Squeeze1, Unsqueeze
from moir.dialects.opset.slicing import Slice
from moir.dialects.shapes import are_same_axes, element_of, rank_of, shape_of
from moir.dialects.symbols import Symbol, same
from moir.errors import InferenceError
from moir.passes.fuse.recurrent.recurrent_cells import Cell, gru_cell, lstm_cell, rnn_cell
from moir.rewriting.builder import OpBuilder
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.sequences import lengths, reversal_of

STATES = {"LSTM": 2, "GRU": 1, "RNN": 1}


class FuseRecurrentCellsPass(ReportingPass):
    """Fuses loops over recurrent cells."""

    name = "fuse-recurrent-cells"

    ROOTS = (RepeatingOp,)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        loops = list(analyses.operations(RepeatingOp))
        # Replacing a cell does not invalidate facts about the others: each loop has its own body.
        known: Dimensions | None = None
        changed = False
        for loop in loops:
            recurrence = recognized(loop)
            if recurrence is None:
                continue
            if known is None:
                known = analyses.dimensions()
            if recurrence.covers_all_slices(known):
                recurrence.replace(known)
                changed = True
        return changed


@dataclass
class Recurrence:
    """A loop whose body is a recurrent cell.

    `data` is the sliced operand. `states` are the indices of the operands that are the initial states. `outputs` has an
    entry per result of the loop: the index of a state of the cell, or -1 for the hidden states of all steps together
    with the slicing by which they are concatenated.
    """

    loop: RepeatingOp
    cell: Cell
    data: SSAValue
    slicing: Slicing
    states: list[int]
    outputs: list[tuple[int, Slicing | None]]

    def covers_all_slices(self, known: Dimensions) -> bool:
        """Whether the loop has one iteration for each slice of its data."""
        if self.slicing not in (Slicing(self.slicing.axis), Slicing(self.slicing.axis, -1, 0, -1)):
            return False
        if not isinstance(self.loop, Loop):
            return True
        # The lengths of a reversed value are those of the value before the reversal.
        data = reversal_of(self.data, self.slicing.axis) or self.data
        count, tokens = known.elements(self.loop.operands[0]), known.tokens(data)
        if tokens is None or count is None or count.size != 1:
            return False
        entry = count.reshape(-1)[0]
        return same(entry if isinstance(entry, Symbol) else int(entry), tokens[self.slicing.axis])

    def replace(self, known: Dimensions) -> None:
        """Replace the loop by a sequence operation; nothing happens if type inference rejects that operation."""
        assert self.loop.parent is not None
        op = OpBuilder(known, self.loop.parent, self.loop)
        op.inserted = []
        try:
            values = self._sequence(op)
        except InferenceError:
            for built in reversed(op.inserted):
                built.detach()
                built.erase()
            return
        inherit_names(self.loop, values)
        for result, value in zip(self.loop.results, values, strict=True):
            result.replace_all_uses_with(value)
        self.loop.detach()
        self.loop.erase()

    def _sequence(self, op: OpBuilder) -> list[SSAValue]:
        axis, data, direction = self.slicing.axis, self.data, "forward" if self.slicing.stride > 0 else "reverse"
        turned, turning = reversal_of(data, axis), self._turned_back()
        if turned is not None and turning is not None:
            data, direction = turned, "reverse" if direction == "forward" else "forward"
            for slice_ in turning:
                slice_.results[0].replace_all_uses_with(slice_.operands[0])
        x = data if axis == 1 else op.Transpose(data, [1, 0, 2])
        states = [op.Unsqueeze(self.loop.operands[number], 1) for number in self.states]
        weights = [_constant(op, array, x) for array in (self.cell.w, self.cell.r, self.cell.b)]
        properties = {"direction": direction, "hidden_size": self.cell.hidden_size, "activations": self.cell.activations}
        if self.cell.kind == "GRU":
            properties["linear_before_reset"] = self.cell.linear_before_reset
        results = op[f"opset5.{self.cell.kind}Sequence"].results(x, *states, lengths(op, x), *weights, **properties)
        values: list[SSAValue] = []
        for state, slicing in self.outputs:
            value = op.Squeeze(results[state + 1], [1])
            values.append(op.Transpose(value, [1, 0, 2]) if slicing is not None and slicing.axis == 0 else value)
        return values

    def _turned_back(self) -> list[Slice] | None:
        """The Slices that reverse the sequence of hidden states, if they are its only users; otherwise None."""
        slices: list[Slice] = []
        for result, (_, slicing) in zip(self.loop.results, self.outputs, strict=True):
            pending = [] if slicing is None else [(use, slicing.axis) for use in result.uses]
            while pending:
                use, axis = pending.pop()
                user = use.operation
                if isinstance(user, Slice) and use.index == 0 and reversal_of(user.results[0], axis) is not None:
                    slices.append(user)
                elif isinstance(user, Transpose) and (order := constant_of(user.operands[1])) is not None:
                    pending.extend((each, order.tolist().index(axis)) for each in user.results[0].uses)
                else:
                    return None
        return slices


def _constant(op: OpBuilder, array: Array, like: SSAValue) -> SSAValue:
    return op.constant(np.ascontiguousarray(array)[np.newaxis], element_of(like))


def recognized(loop: RepeatingOp) -> Recurrence | None:
    """The recurrent cell that the body of a loop computes; None if the body is not such a cell."""
    ports, parameters, results = loop.ports("inputs"), parameters_of(loop.block), results_of(loop.block)
    sliced = [(port, parameter) for port, parameter in zip(ports, parameters, strict=True) if port.slicing is not None]
    states = [(port, parameter) for port, parameter in zip(ports, parameters, strict=True) if port.back_edge is not None]
    if len(sliced) != 1 or not 1 <= len(states) <= 2 or len(sliced) + len(states) != len(ports):
        return None
    if isinstance(loop, Loop) and not _always(loop, results):
        return None
    port, parameter = sliced[0]
    x = _element(parameter, port)
    if x is None or len(shape_of(x) or ()) != 2:
        return None
    for order in (states, states[::-1]):
        values = [each.results[0] for _, each in order]
        following = [results[each.back_edge or 0] for each, _ in order]
        cell = _cell(x, values, following)
        outputs = None if cell is None else _outputs(loop, following, results)
        if cell is not None and outputs is not None and port.slicing is not None:
            operands = [each.index or 0 for each, _ in order]
            return Recurrence(loop, cell, loop.operands[port.index or 0], port.slicing, operands, outputs)
    return None


def _always(loop: Loop, results: Sequence[SSAValue]) -> bool:
    """Whether only the trip count ends a loop: the initial condition and the condition among `results` are constant and
    true.
    """
    conditions = [constant_of(loop.operands[1]), constant_of(results[loop.integer("condition")])]
    return all(condition is not None and condition.all() for condition in conditions)


def _element(parameter: Parameter, port: BodyPort) -> SSAValue | None:
    """The Squeeze along the sliced axis, if it is the only use of a slice in the body; else None.

    Args:
        parameter: the Parameter of the body.
        port: its connection, which slices an operand.
    """
    uses = list(parameter.results[0].uses)
    if (
        len(uses) != 1
        or not isinstance(squeeze := uses[0].operation, Squeeze | Squeeze1)
        or port.slicing is None
        or port.slicing.part_size != 1
    ):
        return None
    axes = constant_of(squeeze.operands[1]) if len(squeeze.operands) > 1 else None
    return squeeze.results[0] if axes is not None and _is_axis(axes, port.slicing.axis, squeeze.rank(0)) else None


def _is_axis(axes: Array, axis: int, rank: int | None) -> bool:
    """Whether axes, counted from either end of a tensor, are one axis; counted from the end they are not if the rank is
    dynamic.
    """
    return axes.ravel().tolist() == [axis] or are_same_axes(axes.ravel().tolist(), [axis], rank)


def _cell(x: SSAValue, states: Sequence[SSAValue], following: Sequence[SSAValue]) -> Cell | None:
    if any(len(shape := shape_of(state) or ()) != 2 or shape[1] < 0 for state in states) or (shape_of(x) or (-1,))[-1] < 0:
        return None
    if len(states) == 2:
        return lstm_cell(x, states[0], states[1], following[0], following[1])
    return gru_cell(x, states[0], following[0]) or rnn_cell(x, states[0], following[0])


def _outputs(loop: RepeatingOp, following: Sequence[SSAValue], results: Sequence[SSAValue]) -> list[tuple[int, Slicing | None]] | None:
    """The meaning of each result of a loop.

    (index, None) for the last value of the state with that index; (-1, slicing) for the values of the first state at
    all steps, concatenated as the slicing says. None if a result is neither.

    Args:
        loop: the loop.
        following: the states that the cell computes.
        results: the results of the body.
    """
    outputs: list[tuple[int, Slicing | None]] = []
    for port in loop.ports("outputs"):
        value = results[port.index or 0]
        if port.slicing is None:
            if value not in following:
                return None
            outputs.append((list(following).index(value), None))
            continue
        joined = value.owner
        if not isinstance(joined, Unsqueeze) or joined.operands[0] is not following[0] or port.slicing not in (Slicing(0), Slicing(1)):
            return None
        axes = constant_of(joined.operands[1])
        if axes is None or not _is_axis(axes, port.slicing.axis, rank_of(joined.results[0])):
            return None
        outputs.append((-1, port.slicing))
    return outputs
