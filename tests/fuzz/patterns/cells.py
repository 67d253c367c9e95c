"""Recurrent cells that exporters write out for each step of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.fuzz.sketch import DEVIATION, Sketch, pattern


class Cell:
    """The weights of a cell, and how it is written.

    Args:
        g: the graph.
        gates: the number of gates.
        width, size: features of the data and of the state.
    """

    def __init__(self, g: Sketch, gates: int, width: int, size: int) -> None:
        self.g, self.gates, self.size = g, gates, size
        self.joined, self.together = g.draw.chance(0.4), g.draw.chance(0.4)
        # With further users in a step of many operations hardly any sequence is whole.
        self.is_seen = g.draw.chance(0.25)
        self.weights = [g.weights([width, size]) for _ in range(gates)]
        self.recurrent = [g.weights([size, size]) for _ in range(gates)]
        self.bias = [g.weights([size]) for _ in range(gates)]
        self.whole = g.weights([width + size, gates * size]), g.weights([gates * size])

    def op(self, kind: str, *operands: str, **attributes: Any) -> str:
        """Append a node of a step."""
        return self.g.op(kind, *operands, **attributes) if self.is_seen else self.g.plain(kind, *operands, **attributes)[0]

    def sum(self, left: str, right: str) -> str:
        """A sum in either order."""
        return self.op("Add", left, right) if self.g.draw.chance(0.7) else self.op("Add", right, left)

    def product(self, left: str, right: str) -> str:
        """A product in either order."""
        return self.op("Mul", left, right) if self.g.draw.chance(0.7) else self.op("Mul", right, left)

    def gate(self, number: int, x: str, h: str) -> str:
        """A linear combination of data and state, before its activation."""
        terms = self.sum(self.op("MatMul", x, self.weights[number]), self.op("MatMul", h, self.other(self.recurrent)[number]))
        return self.sum(terms, self.bias[number])

    def other(self, weights: Sequence[str]) -> Sequence[str]:
        """The weights, or seldom others of the same shape: then the step is none of the sequence."""
        if not self.g.draw.chance(DEVIATION / 8):
            return weights
        return [self.g.weights(self.g.operands[each].shape) for each in weights]

    def all_gates(self, x: str, h: str) -> list[str]:
        """The linear combinations of all gates, of one product or one for each."""
        if not self.together:
            return [self.gate(number, x, h) for number in range(self.gates)]
        weights, bias = self.whole
        total = self.sum(self.op("MatMul", self.op("Concat", x, h, axis=-1), self.other([weights])[0]), bias)
        return self.g.plain("Split", total, self.g.integers(*[self.size] * self.gates), outputs=self.gates, axis=-1)

    def activation(self, wanted: str, x: str) -> str:
        """An activation, seldom another one."""
        kind = self.g.draw.one_of(("Relu", "Sigmoid", "Tanh", "HardSigmoid")) if self.g.draw.chance(DEVIATION / 8) else wanted
        return self.op(kind, x)


def pieces(g: Sketch, x: str, steps: int, axis: int) -> list[str]:
    """The data of each step, without the axis of time, in the order of time, backward, or in any other."""
    order = list(range(steps))
    if g.draw.chance(0.25):
        order.reverse()
    elif g.draw.chance(DEVIATION):
        order = g.draw.integers(steps, 0, steps - 1)
    match g.draw.integer(0, 2):
        case 0:
            parts = g.plain("Split", x, g.integers(*[1] * steps), outputs=steps, axis=axis)
            results = [g.op("Squeeze", part, g.integers(axis)) for part in parts]
        case 1:
            results = [g.op("Gather", x, g.array(step, np.int64), axis=axis) for step in range(steps)]
        case _:
            slices = [g.op("Slice", x, g.integers(step), g.integers(step + 1), g.integers(axis)) for step in range(steps)]
            results = [g.op("Squeeze", part, g.integers(axis)) for part in slices]
    return [results[step] for step in order]


def state(g: Sketch, batch: int, size: int) -> str:
    """A state before the first step: an input, zeros, or other numbers for each row of the batch or for all."""
    match g.draw.integer(0, 3):
        case 0:
            return g.input([batch, size])
        case 1:
            return g.array(np.zeros([batch, size]), given=0.02)
        case 2:
            return g.weights([1, size])
        case _:
            return g.weights([batch, size])


def result(g: Sketch, states: Sequence[str], axis: int) -> str:
    """What is made of the hidden states: the sequence, rows of all steps, a sum, or the last one."""
    shown = [states[index] for index in g.permutation(list(range(len(states))))]
    match g.draw.integer(0, 3):
        case 0:
            return g.op("Concat", *(g.op("Unsqueeze", each, g.integers(axis)) for each in shown), axis=axis)
        case 1:
            return g.op("Concat", *shown, axis=0)
        case 2:
            return g.op("Add", shown[0], shown[-1])
        case _:
            return g.op("Identity", states[-1])


@pattern("fuse-unrolled-cells.lstm")
def lstm(g: Sketch) -> str:
    batch, steps, width, size = g.draw.integer(1, 2), g.draw.integer(2, 4), g.draw.integer(1, 3), g.draw.integer(1, 3)
    axis = g.draw.one_of((0, 1, 1))
    data = pieces(g, g.input([steps, batch, width] if axis == 0 else [batch, steps, width]), steps, axis)
    cell, h, c = Cell(g, 4, width, size), state(g, batch, size), state(g, batch, size)
    states: list[str] = []
    for x in data:
        forget, entering, candidate, out = cell.all_gates(x, h)
        kept = cell.product(cell.activation("Sigmoid", forget), c)
        c = cell.sum(kept, cell.product(cell.activation("Sigmoid", entering), cell.activation("Tanh", candidate)))
        h = cell.product(cell.activation("Sigmoid", out), cell.activation("Tanh", c))
        states.append(h)
    if g.draw.chance(0.2):
        g.outputs.append(c)
    return result(g, states, axis)


@pattern("fuse-unrolled-cells.gru")
def gru(g: Sketch) -> str:
    batch, steps, width, size = g.draw.integer(1, 2), g.draw.integer(2, 4), g.draw.integer(1, 3), g.draw.integer(1, 3)
    axis = g.draw.one_of((0, 1, 1))
    data = pieces(g, g.input([steps, batch, width] if axis == 0 else [batch, steps, width]), steps, axis)
    cell, h = Cell(g, 3, width, size), state(g, batch, size)
    reset_after, one = g.draw.chance(0.5), g.number(1.0)
    states: list[str] = []
    for x in data:
        update = cell.activation("Sigmoid", cell.gate(0, x, h))
        reset = cell.activation("Sigmoid", cell.gate(1, x, h))
        if reset_after:
            recurrent = cell.sum(cell.op("MatMul", h, cell.recurrent[2]), cell.bias[2])
            candidate = cell.sum(cell.op("MatMul", x, cell.weights[2]), cell.product(reset, recurrent))
        else:
            candidate = cell.gate(2, x, cell.product(reset, h))
        entering = cell.product(cell.op("Sub", one, update), cell.activation("Tanh", candidate))
        h = cell.sum(cell.product(update, h), entering)
        states.append(h)
    return result(g, states, axis)


@pattern("fuse-unrolled-cells.rnn")
def rnn(g: Sketch) -> str:
    batch, steps, width, size = g.draw.integer(1, 2), g.draw.integer(2, 4), g.draw.integer(1, 3), g.draw.integer(1, 3)
    axis = g.draw.one_of((0, 1, 1))
    data = pieces(g, g.input([steps, batch, width] if axis == 0 else [batch, steps, width]), steps, axis)
    cell, h = Cell(g, 1, width, size), state(g, batch, size)
    kind = g.draw.one_of(("Tanh", "Relu", "Sigmoid"))
    states: list[str] = []
    for x in data:
        before = states[0] if states and g.draw.chance(DEVIATION / 4) else h
        h = cell.activation(kind, cell.all_gates(x, before)[0])
        states.append(h)
    return result(g, states, axis)
