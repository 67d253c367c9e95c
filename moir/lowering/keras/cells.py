"""The cells of recurrent layers: one step, or all steps by an operation such as opset5.LSTMSequence where there is one.

Gates of an LSTM are in the order i, f, c, o, those of a GRU z, r, h. In shapes: N batch, T steps, I inputs, H units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activation_functions import activated
from moir.lowering.keras.attributes import by_axis, is_channel_last
from moir.lowering.keras.convolution import channels_first, channels_last, convolved, window_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.sequences import initial_zeros, lengths

_PLAIN = {"hard_sigmoid": "hardsigmoid", "relu": "relu", "sigmoid": "sigmoid", "tanh": "tanh"}
"""The activations that sequence operations such as opset5.LSTMSequence have, by Keras' names, with the operations'
spelling.
"""


class Cell(ABC):
    """A recurrent cell.

    Args:
        node: the layer.
        config: the configuration of the cell.
        weights: its variables.
    """

    state_count = 1

    def __init__(self, node: LoweringNode, config: dict[str, Any], weights: Sequence[SSAValue]) -> None:
        self.node = node
        self.config = config
        self.weights = weights
        self.units = int(config.get("units") or config.get("filters") or 0)
        self.uses_bias = bool(config.get("use_bias", True))
        if len(weights) != 2 + self.uses_bias or self.units < 1:
            node.fail(f"a cell has {len(weights)} variables instead of {2 + self.uses_bias}")

    def activation(self, op: OpBuilder, x: SSAValue, name: str, default: str) -> SSAValue:
        """The result of the activation that the field `name` of the configuration names, or `default` if the field is
        absent.
        """
        return activated(self.node, op, x, self.config.get(name, default))

    def is_plain(self, **defaults: str) -> bool:
        """Whether a sequence operation such as opset5.LSTMSequence has all activations of the configuration.

        `defaults` has the fields of the configuration and the default activation of each.
        """
        return all(self.config.get(name, default) in [*_PLAIN] for name, default in defaults.items())

    def zeros(self, op: OpBuilder, x: SSAValue) -> list[SSAValue]:
        """The states before the first step, [N, H] each."""
        return [initial_zeros(op, x, [self.units])] * self.state_count

    def activations(self, *names: str) -> dict[str, Any]:
        """The attributes of a sequence operation for the activations with these names."""
        properties: dict[str, Any] = {"activations": [_PLAIN[name] for name in names]}
        if "hard_sigmoid" in names:
            slope = 1 / 6 if self.node.version >= 3 else 0.2
            properties["activations_alpha"] = [slope if name == "hard_sigmoid" else 0.0 for name in names]
            properties["activations_beta"] = [0.5 if name == "hard_sigmoid" else 0.0 for name in names]
        return properties

    def output(self, states: Sequence[SSAValue]) -> SSAValue:
        """The output of a step, from the states after it."""
        return states[0]

    @abstractmethod
    def step(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]) -> list[SSAValue]:
        """The states after a step with the input x [N, I]; `weights` are the variables as operands of the body."""

    def sequence(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], *, reverse: bool) -> list[SSAValue] | None:
        """The outputs of all steps [N, T, H] in the order in which they are computed, and the states after them.

        Returns None if no sequence operation computes the cell. With `reverse` the last step is computed first.
        """
        del op, x, states, reverse
        return None

    def _run(
        self,
        op: OpBuilder,
        operation: str,
        x: SSAValue,
        states: Sequence[SSAValue],
        matrices: Sequence[SSAValue],
        properties: dict[str, Any],
        *,
        reverse: bool,
    ) -> list[SSAValue]:
        """The outputs and the final states of a sequence operation over x [N, T, I].

        Args:
            op: the builder.
            operation: the name of the operation in opset5.
            x: the data.
            states: the initial states [N, H].
            matrices: the weights, the recurrent weights and the bias.
            properties: further attributes of the operation.
            reverse: whether the last step is computed first; the outputs are in the order in which they are computed.
        """
        data = op.Slice(x, [-1], [-(2**31)], [-1], [1]) if reverse else x
        every, *ends = op[f"opset5.{operation}"].results(
            data,
            *(op.Unsqueeze(each, [1]) for each in states),
            lengths(op, x),
            *(op.Unsqueeze(each, [0]) for each in matrices),
            hidden_size=self.units,
            direction="forward",
            **properties,
        )
        return [op.Squeeze(every, [1]), *(op.Squeeze(each, [1]) for each in ends)]


def _gates(op: OpBuilder, value: SSAValue, count: int, axis: int) -> list[SSAValue]:
    return list(op.Split.parts(count, value, axis, num_splits=count))


class LongShortTermMemory(Cell):
    """An LSTM (Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997), states h and c."""

    state_count = 2

    def step(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]) -> list[SSAValue]:
        sums = op.Add(op.MatMul(x, weights[0]), op.MatMul(states[0], weights[1]))
        entrance, forget, candidate, exit_gate = _gates(op, op.Add(sums, weights[2]) if self.uses_bias else sums, 4, 1)
        forget, entrance, exit_gate = (
            self.activation(op, each, "recurrent_activation", "sigmoid") for each in (forget, entrance, exit_gate)
        )
        cell = op.Add(op.Multiply(forget, states[1]), op.Multiply(entrance, self.activation(op, candidate, "activation", "tanh")))
        return [op.Multiply(exit_gate, self.activation(op, cell, "activation", "tanh")), cell]

    def sequence(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], *, reverse: bool) -> list[SSAValue] | None:
        if not self.is_plain(activation="tanh", recurrent_activation="sigmoid"):
            return None
        kernel, recurrent, *rest = self.weights
        bias = rest[0] if rest else op.filled_like([4 * self.units], 0.0, kernel)
        # The order of opset5.LSTMSequence is f, i, c, o.
        matrices = [op.Concat(*(_gates(op, each, 4, 1)[index] for index in (1, 0, 2, 3)), axis=1) for each in (kernel, recurrent)]
        bias = op.Concat(*(_gates(op, bias, 4, 0)[index] for index in (1, 0, 2, 3)), axis=0)
        inner, outer = self.config.get("recurrent_activation", "sigmoid"), self.config.get("activation", "tanh")
        properties = {} if (inner, outer) == ("sigmoid", "tanh") else self.activations(inner, outer, outer)
        every = [*(op.transposed(each, [1, 0]) for each in matrices), bias]
        return self._run(op, "LSTMSequence", x, states, every, properties, reverse=reverse)


class GatedRecurrentUnit(Cell):
    """A GRU (Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014).

    With `reset_after` the reset gate multiplies the product with the recurrent kernel, which then has its own bias.
    """

    @property
    def resets_after(self) -> bool:
        """Whether the reset gate is applied after the product."""
        bias = shape_of(self.weights[2]) if self.uses_bias else None
        return bool(self.config.get("reset_after", bias is not None and len(bias) == 2))

    def biases(self, op: OpBuilder, weights: Sequence[SSAValue]) -> tuple[SSAValue | None, SSAValue | None]:
        """The bias of the input and that of the recurrent product; None for one that the layer does not have."""
        if not self.uses_bias:
            return None, None
        if len(shape_of(weights[2]) or ()) == 2:
            own, recurrent = op.Split.parts(2, weights[2], 0, num_splits=2)
            return op.Squeeze(own, [0]), op.Squeeze(recurrent, [0])
        return weights[2], None

    def step(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]) -> list[SSAValue]:
        own_bias, recurrent_bias = self.biases(op, weights)
        product = op.MatMul(x, weights[0])
        update, reset, candidate = _gates(op, product if own_bias is None else op.Add(product, own_bias), 3, 1)
        hidden = states[0]
        if self.resets_after:
            product = op.MatMul(hidden, weights[1])
            parts = _gates(op, product if recurrent_bias is None else op.Add(product, recurrent_bias), 3, 1)
            update = self.activation(op, op.Add(update, parts[0]), "recurrent_activation", "sigmoid")
            reset = self.activation(op, op.Add(reset, parts[1]), "recurrent_activation", "sigmoid")
            further = op.Multiply(reset, parts[2])
        else:
            matrices = _gates(op, weights[1], 3, 1)
            update = self.activation(op, op.Add(update, op.MatMul(hidden, matrices[0])), "recurrent_activation", "sigmoid")
            reset = self.activation(op, op.Add(reset, op.MatMul(hidden, matrices[1])), "recurrent_activation", "sigmoid")
            further = op.MatMul(op.Multiply(reset, hidden), matrices[2])
        new = self.activation(op, op.Add(candidate, further), "activation", "tanh")
        return [op.Add(op.Multiply(update, hidden), op.Multiply(op.Subtract(1.0, update), new))]

    def sequence(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], *, reverse: bool) -> list[SSAValue] | None:
        if not self.is_plain(activation="tanh", recurrent_activation="sigmoid"):
            return None
        own, recurrent = self.biases(op, self.weights)
        zeros = op.filled_like([3 * self.units], 0.0, self.weights[0])
        own, bias = own or zeros, zeros
        if self.resets_after:
            parts, others = _gates(op, own, 3, 0), _gates(op, recurrent or zeros, 3, 0)
            bias = op.Concat(op.Add(parts[0], others[0]), op.Add(parts[1], others[1]), parts[2], others[2], axis=0)
        else:
            bias = own
        inner, outer = self.config.get("recurrent_activation", "sigmoid"), self.config.get("activation", "tanh")
        properties: dict[str, Any] = {"linear_before_reset": self.resets_after}
        if (inner, outer) != ("sigmoid", "tanh"):
            properties |= self.activations(inner, outer)
        matrices = [op.transposed(self.weights[0], [1, 0]), op.transposed(self.weights[1], [1, 0]), bias]
        return self._run(op, "GRUSequence", x, states, matrices, properties, reverse=reverse)


class SimpleCell(Cell):
    """A fully connected cell: activation(x · kernel + h · recurrent kernel + bias)."""

    def step(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]) -> list[SSAValue]:
        product = op.MatMul(x, weights[0])
        own = op.Add(product, weights[2]) if self.uses_bias else product
        return [self.activation(op, op.Add(own, op.MatMul(states[0], weights[1])), "activation", "tanh")]

    def sequence(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], *, reverse: bool) -> list[SSAValue] | None:
        if not self.is_plain(activation="tanh"):
            return None
        bias = self.weights[2] if self.uses_bias else op.filled_like([self.units], 0.0, self.weights[0])
        matrices = [op.transposed(self.weights[0], [1, 0]), op.transposed(self.weights[1], [1, 0]), bias]
        properties = self.activations(self.config.get("activation", "tanh"))
        return self._run(op, "RNNSequence", x, states, matrices, properties, reverse=reverse)


class ConvolutionalMemory(Cell):
    """A ConvLSTM (Shi et al., "Convolutional LSTM Network", 2015): an LSTM whose products are convolutions."""

    state_count = 2

    def _settings(self, axes: int, kernel: SSAValue) -> tuple[bool, SlidingWindow, tuple[int, ...]]:
        strides, rates = (tuple(np.atleast_1d(self.config.get(name, 1)).tolist()) for name in ("strides", "dilation_rate"))
        last = is_channel_last(self.node, self.config.get("data_format"))
        window = window_of(self.node, axes, strides, rates, self.config.get("padding", "valid"), shape_of(kernel) or ())
        return last, window, tuple(shape_of(kernel) or ())

    def zeros(self, op: OpBuilder, x: SSAValue) -> list[SSAValue]:
        first = op.Squeeze(op.Gather(x, [0], 1), [1])
        axes = len(shape_of(first) or ()) - 2
        shape = shape_of(self.weights[0]) or ()
        nothing = op.constant_like(np.zeros((*shape[:-1], self.units), np.float32), first)
        zeros = self._convolved(op, op.Multiply(first, 0.0), nothing, axes)
        return [zeros] * 2

    def _convolved(self, op: OpBuilder, x: SSAValue, kernel: SSAValue, axes: int) -> SSAValue:
        last, window, shape = self._settings(axes, kernel)
        data = channels_first(op, x, axes + 2, last=last)
        return channels_last(op, convolved(op, data, kernel, shape, shape[-2], window), axes + 2, last=last)

    def step(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]) -> list[SSAValue]:
        axes = len(shape_of(weights[0]) or ()) - 2
        last = is_channel_last(self.node, self.config.get("data_format"))
        channel_axis = axes + 1 if last else 1
        own = self._convolved(op, x, weights[0], axes)
        if self.uses_bias:
            own = op.Add(own, weights[2] if last else op.Reshape(weights[2], [-1, *(1,) * axes], special_zero=False))
        ones, zeros = by_axis(self.node, "strides", (1,), axes), (0,) * axes
        single = SlidingWindow(tuple(ones), tuple(ones), zeros, zeros, "same_upper")
        data = channels_first(op, states[0], axes + 2, last=last)
        shape = tuple(shape_of(weights[1]) or ())
        recurrent = channels_last(op, convolved(op, data, weights[1], shape, shape[-2], single), axes + 2, last=last)
        entrance, forget, candidate, exit_gate = _gates(op, op.Add(own, recurrent), 4, channel_axis)
        inner = "sigmoid" if self.node.version >= 3 else "hard_sigmoid"
        forget, entrance, exit_gate = (self.activation(op, each, "recurrent_activation", inner) for each in (forget, entrance, exit_gate))
        cell = op.Add(op.Multiply(forget, states[1]), op.Multiply(entrance, self.activation(op, candidate, "activation", "tanh")))
        return [op.Multiply(exit_gate, self.activation(op, cell, "activation", "tanh")), cell]


class StackedCells(Cell):
    """Stacked cells; their output is the output of the last cell.

    Args:
        cells: the cells.
        counts: how many variables each has.
    """

    def __init__(self, cells: Sequence[Cell], counts: Sequence[int]) -> None:
        self.cells = cells
        self.counts = counts
        self.state_count = sum(cell.state_count for cell in cells)

    def zeros(self, op: OpBuilder, x: SSAValue) -> list[SSAValue]:
        return [state for cell in self.cells for state in cell.zeros(op, x)]

    def output(self, states: Sequence[SSAValue]) -> SSAValue:
        return states[self.state_count - self.cells[-1].state_count]

    def step(self, op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]) -> list[SSAValue]:
        after: list[SSAValue] = []
        start = 0
        for cell, count in zip(self.cells, self.counts, strict=True):
            own = states[len(after) : len(after) + cell.state_count]
            stepped = cell.step(op, x, own, weights[start : start + count])
            start += count
            x = cell.output(stepped)
            after += stepped
        return after


CELLS: dict[str, type[Cell]] = {
    "ConvLSTM1D": ConvolutionalMemory,
    "ConvLSTM2D": ConvolutionalMemory,
    "ConvLSTM3D": ConvolutionalMemory,
    "GRU": GatedRecurrentUnit,
    "GRUCell": GatedRecurrentUnit,
    "LSTM": LongShortTermMemory,
    "LSTMCell": LongShortTermMemory,
    "SimpleRNN": SimpleCell,
    "SimpleRNNCell": SimpleCell,
}
"""The class of cells here for each of Keras' recurrent layers and cells."""


def cell_of(node: LoweringNode, kind: str, config: dict[str, Any], weights: Sequence[SSAValue]) -> Cell:
    """The cell `kind` of a layer. Raises ConversionError if it is not a cell of Keras."""
    if kind == "RNN":
        inner: Any = config.get("cell")
        return _stacked(node, cast("Sequence[Any]", inner if isinstance(inner, tuple) else (inner,)), weights)
    if kind not in CELLS:
        node.fail(f"the cell {kind} is not supported", hint="write a lowering for the layer")
    return CELLS[kind](node, config, weights)


def _stacked(node: LoweringNode, configurations: Sequence[Any], weights: Sequence[SSAValue]) -> Cell:
    """The cell of a layer RNN, or several stacked ones, from the configurations of the cells.

    Raises ConversionError for an unknown cell, or if there are none.
    """
    entries: list[dict[str, Any]] = []
    for each in configurations:
        held = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        if held.get("class_name") == "StackedRNNCells":
            entries += cast("Sequence[dict[str, Any]]", cast("dict[str, Any]", held.get("config") or {}).get("cells") or ())
        else:
            entries.append(held)
    cells: list[Cell] = []
    counts: list[int] = []
    for entry in entries:
        kind, config = str(entry.get("class_name")), cast("dict[str, Any]", entry.get("config") or {})
        if kind not in CELLS:
            node.fail(f"the cell {kind} is not supported", hint="write a lowering for the layer")
        count = 2 + bool(config.get("use_bias", True))
        start = sum(counts)
        cells.append(CELLS[kind](node, config, weights[start : start + count]))
        counts.append(count)
    if not cells:
        node.fail("it has no cells")
    return cells[0] if len(cells) == 1 else StackedCells(cells, counts)
