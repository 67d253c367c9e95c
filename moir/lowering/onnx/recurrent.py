"""Recurrent networks over sequences: RNN, GRU, LSTM.

In shapes: T time, N batch, D directions, I input, H hidden size, G gates. In the runtime the batch is the first
dimension of data, states and results. In ONNX it is so with `layout = 1`, except that the dimension of directions of
the first result has another place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si32
from moir.dialects.shapes import Shape, element_of, is_static, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

DIRECTIONS = ("forward", "reverse", "bidirectional")

ACTIVATIONS = frozenset(("relu", "tanh", "sigmoid"))
"""Activations of the runtime. None of them has parameters; HardSigmoid is in the IR, but not in the CPU plugin."""


@dataclass(frozen=True)
class Kind:
    """The properties in which RNN, GRU and LSTM differ.

    `gates` are the gates in the order of the runtime, each as its index in ONNX; `states` is the number of states that
    a step passes on.
    """

    name: str
    gates: tuple[int, ...]
    states: int
    activations: tuple[str, ...]


RNN = Kind("RNN", (0,), 1, ("tanh",))
GRU = Kind("GRU", (0, 1, 2), 1, ("sigmoid", "tanh"))
LSTM = Kind("LSTM", (2, 0, 3, 1), 2, ("sigmoid", "tanh", "tanh"))


def activations_of(node: LoweringNode, kind: Kind, directions: int) -> list[tuple[str, ...]]:
    """The activations of each direction."""
    count = len(kind.activations)
    names = [name.lower() for name in node.texts("activations", ())] or list(kind.activations) * directions
    if kind is RNN and len(names) == 2 and directions == 1:
        # The default of RNN is a list for two directions.
        names = names[:1]
    if len(names) != count * directions:
        node.fail(f"it has {len(names)} activations where {count * directions} are needed")
    if unknown := sorted(set(names) - ACTIVATIONS):
        node.fail(f"the runtime does not have the activation {', '.join(unknown)} in a recurrent network")
    return [tuple(names[start : start + count]) for start in range(0, len(names), count)]


class Network:
    """A node with its operands in the layout of the runtime: batch first, gates in the order of the runtime."""

    def __init__(self, node: LoweringNode, op: OpBuilder, kind: Kind) -> None:
        self.node, self.op, self.kind = node, op, kind
        self.batch_first = node.flag("layout")
        self.direction = node.text("direction", "forward").lower()
        if self.direction == "foward":
            # The default of `direction` as GRU of version 1 spells it.
            self.direction = "forward"
        if self.direction not in DIRECTIONS:
            node.fail(f"direction {self.direction!r} does not exist")
        self.directions = 2 if self.direction == "bidirectional" else 1
        self.activations = activations_of(node, kind, self.directions)
        self.hidden_size = self._hidden_size()
        self.clip = node.number("clip", 0.0)
        self.linear_before_reset = kind is GRU and node.flag("linear_before_reset")
        self._dimensions: SSAValue | None = None

    def _hidden_size(self) -> int:
        size = self.node.integer("hidden_size", 0)
        shape = self.node.shape(2)
        if shape is not None and len(shape) == 3 and shape[2] > 0:
            size = size or shape[2]
        if size < 1:
            self.node.fail("the hidden size is unknown")
        return size

    def value(self, index: int, constant: Callable[[Array], Array], general: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """An operand in another form; `constant` converts the array of a constant, `general` any other value."""
        array, operand = self.node.constant(index), self.node.operand(index)
        return general(operand) if array is None else self.op.constant(constant(array), element_of(operand))

    def data(self) -> SSAValue:
        """X as [N, T, I]."""
        data = self.node.operand(0)
        return data if self.batch_first else self.op.Transpose(data, [1, 0, 2])

    def weights(self, index: int) -> SSAValue:
        """Weights [D, G * H, …] with the gates in the order of the runtime."""
        value = self.node.operand(index) if self._in_order() else self.value(index, self._reordered_array, self._reordered)
        shape, data = shape_of(value), shape_of(self.node.operand(0))
        columns = self.hidden_size if index == 2 else -1 if data is None else data[2]
        return self._of_size(value, shape, [self.directions, len(self.kind.gates) * self.hidden_size, columns])

    def _of_size(self, value: SSAValue, shape: Shape, sizes: Sequence[int]) -> SSAValue:
        """A value reshaped to the sizes that the operation implies, which the plugin (2026.4) needs to compile it."""
        return value if shape is not None and is_static(shape) else self.op.Reshape(value, sizes, special_zero=False)

    def _in_order(self) -> bool:
        return self.kind.gates == tuple(range(len(self.kind.gates)))

    def _reordered_array(self, array: Array) -> Array:
        parts = np.split(array, len(self.kind.gates), axis=1)
        return np.concatenate([parts[gate] for gate in self.kind.gates], axis=1)

    def _reordered(self, value: SSAValue) -> SSAValue:
        parts = self.op.Split.parts(len(self.kind.gates), value, 1, num_splits=len(self.kind.gates))
        return self.op.Concat(*[parts[gate] for gate in self.kind.gates], axis=1)

    def bias(self) -> SSAValue:
        """The sum of the biases of input and recurrence, which are side by side in ONNX: [D, 2 * G * H] -> [D, G * H].

        With `linear_before_reset` those of the last gate are not added: [D, (G + 1) * H].
        """
        if self.node.optional(3) is None:
            gates = len(self.kind.gates) + self.linear_before_reset
            return self.op.constant_like(np.zeros((self.directions, gates * self.hidden_size)), self.node.operand(0))
        bias = self.value(3, self._added_array, self._added)
        return self._of_size(bias, shape_of(bias), [self.directions, -1])

    def _added_array(self, array: Array) -> Array:
        inputs, recurrence = np.split(array, 2, axis=1)
        if self.linear_before_reset:
            cut = 2 * self.hidden_size
            return np.concatenate([inputs[:, :cut] + recurrence[:, :cut], inputs[:, cut:], recurrence[:, cut:]], axis=1)
        return self._reordered_array(inputs + recurrence)

    def _added(self, value: SSAValue) -> SSAValue:
        op, size = self.op, self.hidden_size
        if self.linear_before_reset:
            inputs, own, recurrence, other = op.VariadicSplit.parts(4, value, 1, [2 * size, size, 2 * size, size])
            return op.Concat(op.Add(inputs, recurrence), own, other, axis=1)
        added = op.Add(*op.Split.parts(2, value, 1, num_splits=2))
        return added if self._in_order() else self._reordered(added)

    def state(self, index: int) -> SSAValue:
        """An initial state as [N, D, H]; zeros if it is absent."""
        if self.node.optional(index) is not None:
            if self.batch_first:
                return self.node.operand(index)
            return self.value(index, lambda array: array.swapaxes(0, 1), lambda value: self.op.Transpose(value, [1, 0, 2]))
        data = self.node.operand(0)
        batch = self._dimension(0 if self.batch_first else 1)
        tail = (self.directions, self.hidden_size)
        if isinstance(batch, int):
            return self.op.constant_like(np.zeros((batch, *tail)), data)
        return self.op.Broadcast(self.op.constant_like(0.0, data), self.op.Concat(batch, list(tail), axis=0))

    def lengths(self) -> SSAValue:
        """The lengths of the sequences [N]; T for each sequence if the operand is absent."""
        if self.node.optional(4) is not None:
            if isinstance(self._dimension(1 if self.batch_first else 0), SSAValue):
                # With an unknown T the runtime (2026.4, CPU) ignores the lengths.
                self.node.fail("sequence_lens with an unknown number of steps is not supported", hint="fix the length of the model's input")
            return self.node.operand(4)
        time, batch = self._dimension(1 if self.batch_first else 0), self._dimension(0 if self.batch_first else 1)
        if isinstance(time, int):
            if isinstance(batch, int):
                return self.op.constant(np.full(batch, time, np.int32), si32)
            return self.op.Broadcast(time, batch)
        return self.op.Broadcast(time, batch if isinstance(batch, SSAValue) else [batch])

    def _dimension(self, axis: int) -> int | SSAValue:
        """A dimension of X: a number, or a tensor of one entry if it is unknown."""
        data = self.node.operand(0)
        shape = shape_of(data)
        if shape is not None and shape[axis] >= 0:
            return shape[axis]
        if self._dimensions is None:
            self._dimensions = self.op.ShapeOf(data)
        return self.op.Gather(self._dimensions, [axis], 0)

    def properties(self, activations: Sequence[str], direction: str) -> dict[str, Any]:
        """The properties of the sequence operation for one direction."""
        found: dict[str, Any] = {
            "direction": direction,
            "hidden_size": self.hidden_size,
            "activations": activations,
            "clip": self.clip,
        }
        if self.kind is GRU:
            found["linear_before_reset"] = self.linear_before_reset
        return found

    def sequence(self) -> tuple[SSAValue, ...]:
        """The results of the operation of the runtime: [N, D, T, H], then each state [N, D, H]."""
        states = [self.state(index) for index in range(5, 5 + self.kind.states)]
        operands = [self.data(), *states, self.lengths(), self.weights(1), self.weights(2), self.bias()]
        if self.directions == 1 or self.activations[0] == self.activations[1]:
            return self._sequence(operands, self.activations[0], self.direction)
        found: list[tuple[SSAValue, ...]] = []
        lengths = 1 + self.kind.states
        for number, direction in enumerate(("forward", "reverse")):
            parts = [
                value if index in (0, lengths) else self.op.Gather(value, [number], 1 if index < lengths else 0)
                for index, value in enumerate(operands)
            ]
            found.append(self._sequence(parts, self.activations[number], direction))
        return tuple(self.op.Concat(*pair, axis=1) for pair in zip(*found, strict=True))

    def _sequence(self, operands: Sequence[SSAValue], activations: Sequence[str], direction: str) -> tuple[SSAValue, ...]:
        build = getattr(self.op, f"{self.kind.name}Sequence")
        return build.parts(1 + self.kind.states, *operands, **self.properties(activations, direction))

    def lowered(self) -> Replacement:
        """The results of the node: all hidden states, then each state after the last step."""
        every, *last = self.sequence()
        order = [0, 2, 1, 3] if self.batch_first else [2, 1, 0, 3]
        values: list[SSAValue | None] = [self.op.Transpose(every, order) if self.node.is_used(0) else None]
        for index, value in enumerate(last, 1):
            used = self.node.is_used(index)
            values.append(None if not used else value if self.batch_first else self.op.Transpose(value, [1, 0, 2]))
        return values[: self.node.result_count]


@onnx.lowers("RNN")
def rnn(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.RNN(x, w, r, b, lengths, h)
    -> Transpose(opset5.RNNSequence(x as [N, T, I], h as [N, D, H], lengths, w, r, b summed))
    """
    return Network(node, op, RNN).lowered()


@onnx.lowers("GRU")
def gru(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.GRU(x, w, r, b, lengths, h)
    -> Transpose(opset5.GRUSequence(x as [N, T, I], h as [N, D, H], lengths, w, r, b summed))
    """
    return Network(node, op, GRU).lowered()


@onnx.lowers("LSTM")
def lstm(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.LSTM(x, w, r, b, lengths, h, c) -> Transpose(opset5.LSTMSequence(x as [N, T, I], h, c as [N, D, H], lengths,
    w, r, b))

    The gates are i, o, f, c in ONNX and f, i, c, o in the runtime.
    """
    if node.flag("input_forget"):
        node.fail("the runtime does not have an LSTM with coupled input and forget gates")
    if node.optional(7) is not None and ((peepholes := node.constant(7)) is None or peepholes.any()):
        node.fail("the runtime does not have an LSTM with peepholes")
    return Network(node, op, LSTM).lowered()
