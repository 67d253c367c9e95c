"""The operands and attributes of RNN layers (RNN, GRU, LSTM) in the forms that their lowerings need.

In shapes: T time, N batch, D directions, I input, H hidden size, G gates. In the sequences of opset5 the batch is the
first dimension of data, states and results. ONNX has the same layout with `layout = 1`, except that the dimension of
directions is another axis of the first result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import element_of, rank_of, size_along
from moir.errors import InferenceError
from moir.expansions.loops.recurrent_cells import Activation
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder
from moir.rewriting.sequences import initial_zeros, lengths

RANKS = (3, 3, 3, 2, 1, 3, 3, 2)
"""The ranks of x, w, r, b, lengths, h, c and peepholes."""

DIRECTIONS = ("forward", "reverse", "bidirectional")

PARAMETERS: dict[str, tuple[float | None, ...]] = {
    "affine": (1.0, 0.0),
    "elu": (1.0,),
    "hardsigmoid": (0.2, 0.5),
    "leakyrelu": (0.01,),
    "relu": (),
    "scaledtanh": (None, None),
    "sigmoid": (),
    "softplus": (),
    "softsign": (),
    "tanh": (),
    "thresholdedrelu": (1.0,),
}
"""The activations, each with the defaults of its parameters alpha and beta; None for a parameter it does not have.

The defaults are those of ONNX's operators of these names.
"""


@dataclass(frozen=True)
class Kind:
    """The properties in which RNN, GRU and LSTM differ.

    `gates` are the gates in the order of opset5, each as its index in ONNX; `states` is the number of states that
    a step passes on.
    """

    name: str
    gates: tuple[int, ...]
    states: int
    activations: tuple[str, ...]


RNN = Kind("RNN", (0,), 1, ("tanh",))
GRU = Kind("GRU", (0, 1, 2), 1, ("sigmoid", "tanh"))
LSTM = Kind("LSTM", (2, 0, 3, 1), 2, ("sigmoid", "tanh", "tanh"))


def activations_of(node: LoweringNode, kind: Kind, directions: int) -> list[tuple[Activation, ...]]:
    """The activations of each direction with their parameters alpha and beta.

    The attributes with the parameters have elements only for activations that have the parameter.
    """
    count = len(kind.activations)
    names = [name.lower() for name in node.texts("activations", ())] or list(kind.activations) * directions
    if kind is RNN and len(names) == 2 and directions == 1:
        # The default of RNN has the activations of two directions.
        names = names[:1]
    if len(names) != count * directions:
        node.fail(f"it has {len(names)} activations where {count * directions} are needed")
    if unknown := sorted(set(names) - PARAMETERS.keys()):
        node.fail(f"the activation {', '.join(unknown)} does not exist")
    parameters = [iter(node.numbers(name, ())) for name in ("activation_alpha", "activation_beta")]
    activations: list[Activation] = []
    for name in names:
        values = [next(own, default) for own, default in zip(parameters, PARAMETERS[name], strict=False)]
        present = [value for value in values if value is not None]
        if len(present) < len(values):
            node.fail(f"the activation {name} has no default for its parameters")
        activations.append(Activation(name, *present))
    return [tuple(activations[start : start + count]) for start in range(0, len(activations), count)]


class RNNLayer:
    """An RNN node, with access to its operands in the layout of opset5's sequences: batch first, gates in opset5's
    order.
    """

    def __init__(self, node: LoweringNode, op: OpBuilder, kind: Kind) -> None:
        self.node, self.op, self.kind = node, op, kind
        for index, rank in enumerate(RANKS[: len(node.op.operands)]):
            if (operand := node.optional(index)) is not None and rank_of(operand) not in (rank, None):
                raise InferenceError(f"operand {index} has {rank_of(operand)} dimensions, not {rank}")
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
        self.input_forget = kind is LSTM and node.flag("input_forget")

    @property
    def has_peepholes(self) -> bool:
        """Whether an LSTM has peephole weights, and they are not a constant of zeros."""
        return (
            self.kind is LSTM
            and self.node.optional(7) is not None
            and ((peepholes := self.node.constant(7)) is None or bool(peepholes.any()))
        )

    def _hidden_size(self) -> int:
        size = self.node.integer("hidden_size", 0)
        shape = self.node.shape(2)
        if shape is not None and len(shape) == 3 and shape[2] > 0:
            size = size or shape[2]
        if size < 1:
            self.node.fail("the hidden size is dynamic")
        return size

    def value(self, index: int, constant: Callable[[Array], Array], general: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """Operand `index`, converted by `general`; if it is constant, a constant of the array that `constant`
        returns.
        """
        array, operand = self.node.constant(index), self.node.operand(index)
        return general(operand) if array is None else self.op.constant(constant(array), element_of(operand))

    def data(self) -> SSAValue:
        """X transposed to [N, T, I]."""
        data = self.node.operand(0)
        return data if self.batch_first else self.op.Transpose(data, [1, 0, 2])

    @cached_property
    def known_batch(self) -> int:
        """The size of the batch, from X, the lengths or an initial state; -1 if it is dynamic."""
        axes = {0: 1 - self.time_axis, 4: 0} | dict.fromkeys(range(5, 5 + self.kind.states), 1 - self.time_axis)
        sizes = [(self.node.shape(index), axis) for index, axis in axes.items() if self.node.optional(index) is not None]
        return max((size_along(shape, axis) for shape, axis in sizes if shape is not None), default=-1)

    def weights(self, index: int) -> SSAValue:
        """Operand `index`, weights [D, G * H, …], with the gates in the order of opset5."""
        return self.node.operand(index) if self._in_order() else self.value(index, self._reordered_array, self._reordered)

    def _in_order(self) -> bool:
        return self.kind.gates == tuple(range(len(self.kind.gates)))

    def _reordered_array(self, array: Array) -> Array:
        if array.shape[1] != len(self.kind.gates) * self.hidden_size:
            self.node.fail(f"the weights have {array.shape[1]} rows for a hidden size of {self.hidden_size}")
        parts = np.split(array, len(self.kind.gates), axis=1)
        return np.concatenate([parts[gate] for gate in self.kind.gates], axis=1)

    def _reordered(self, value: SSAValue) -> SSAValue:
        parts = self.op.Split.parts(len(self.kind.gates), value, 1, num_splits=len(self.kind.gates))
        return self.op.Concat(*[parts[gate] for gate in self.kind.gates], axis=1)

    def bias(self) -> SSAValue:
        """The sum of the biases of input and recurrence, which are concatenated in ONNX: [D, 2 * G * H] -> [D, G * H].

        With `linear_before_reset` the two biases of the last gate are not added: [D, (G + 1) * H].
        """
        if self.node.optional(3) is None:
            gates = len(self.kind.gates) + self.linear_before_reset
            return self.op.filled_like((self.directions, gates * self.hidden_size), 0.0, self.node.operand(0))
        return self.value(3, self._added_array, self._added)

    def _added_array(self, array: Array) -> Array:
        if array.shape[1] != 2 * len(self.kind.gates) * self.hidden_size:
            self.node.fail(f"the biases have {array.shape[1]} columns for a hidden size of {self.hidden_size}")
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
        """The initial state, operand `index`, as [N, D, H]; zeros if it is absent."""
        if self.node.optional(index) is not None:
            value = self.node.operand(index)
            if not self.batch_first:
                value = self.value(index, lambda array: array.swapaxes(0, 1), lambda tensor: self.op.Transpose(tensor, [1, 0, 2]))
            return value
        tail = (self.directions, self.hidden_size)
        if self.states_the_batch:
            return self.op.filled_like((self.known_batch, *tail), 0.0, self.node.operand(0))
        return initial_zeros(self.op, self.node.operand(0), tail, 1 - self.time_axis)

    def lengths(self) -> SSAValue:
        """The lengths of the sequences [N]; T for each sequence if the operand is absent."""
        if self.node.optional(4) is not None:
            return self.node.operand(4)
        data, op = self.node.operand(0), self.op
        if self.states_the_batch:
            return op.Broadcast(op.Gather(op.ShapeOf(data), [self.time_axis], 0), [self.known_batch])
        return lengths(op, data, 1 - self.time_axis, self.time_axis)

    @property
    def time_axis(self) -> int:
        """The dimension of X that is time."""
        return 1 if self.batch_first else 0

    @property
    def states_the_batch(self) -> bool:
        """Whether the type of an operand other than X has a static batch size, while that of X is dynamic."""
        shape = self.node.shape(0)
        return self.known_batch >= 0 and (shape is None or size_along(shape, 1 - self.time_axis) < 0)
