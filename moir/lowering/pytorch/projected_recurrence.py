"""LSTM whose hidden state is a projection: h = W · (o · tanh(c)); sizes H of the cell, P of the hidden state.

Source: "Long Short-Term Memory Based Recurrent Neural Network Architectures …", Sak et al., 2014; RNN.cpp of PyTorch
2.13.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.moir import Slicing
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.rewriting.builder import OpBuilder


def projected_layers(
    op: OpBuilder, x: SSAValue, hidden: SSAValue, cell: SSAValue, weights: Sequence[Sequence[SSAValue]], directions: int
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The output [N, T, D · P] of the last layer, and the final states [L · D, N, P] and [L · D, N, H].

    Args:
        op: the builder.
        x: the input [N, T, I].
        hidden: the initial hidden states [L · D, N, P].
        cell: the initial states of the cells [L · D, N, H].
        weights: for each direction of each layer the matrices of the input [4 · H, I] and of the hidden state
            [4 · H, P], the biases [4 · H] if there are any, and the projection [P, H].
        directions: 1 or 2.
    """
    ends: list[tuple[SSAValue, SSAValue]] = []
    for first in range(0, len(weights), directions):
        outputs: list[SSAValue] = []
        for direction, each in enumerate(weights[first : first + directions]):
            states = [op.Gather(state, first + direction, 0) for state in (hidden, cell)]
            output, *final = _direction(op, x, states, each, is_reverse=direction == 1)
            outputs.append(output)
            ends.append((final[0], final[1]))
        x = op.Concat(*outputs, axis=2) if len(outputs) > 1 else outputs[0]
    finals = [[op.Unsqueeze(state, [0]) for state in each] for each in zip(*ends, strict=True)]
    last_hidden, last_cell = (op.Concat(*each, axis=0) if len(each) > 1 else each[0] for each in finals)
    return x, last_hidden, last_cell


def _direction(
    op: OpBuilder, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue], *, is_reverse: bool
) -> tuple[SSAValue, ...]:
    """The output [N, T, P] of a direction, and its final states [N, P] and [N, H].

    `states` are the initial ones, `weights` those of the direction, as in `projected_layers`; `is_reverse` goes back in
    time.
    """
    own, recurrent, *biases, projection = weights
    gates = op.MatMul(x, own, transpose_b=True)
    for bias in biases:
        gates = op.Add(gates, bias)

    def body(inside: OpBuilder, carried: list[SSAValue], slices: list[SSAValue], fixed: list[SSAValue]) -> Step:
        total = inside.Add(inside.Squeeze(slices[0], [1]), inside.MatMul(carried[0], fixed[0], transpose_b=True))
        i, f, g, o = inside.Split.parts(4, total, inside.constant(1), num_splits=4)
        kept = inside.Multiply(inside.Sigmoid(f), carried[1])
        c = inside.Add(kept, inside.Multiply(inside.Sigmoid(i), inside.Tanh(g)))
        h = inside.MatMul(inside.Multiply(inside.Sigmoid(o), inside.Tanh(c)), fixed[1], transpose_b=True)
        return Step([h, c], [inside.Unsqueeze(h, [1])])

    order = Slicing(1, -1, 0, -1) if is_reverse else Slicing(1)
    hidden, cell, output = repeated_steps(op, body, states, cuts=[Cut(gates, order)], invariants=[recurrent, projection], joins=[order])
    return output, hidden, cell
