"""Recurrent sequences as loops over their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.dimensions import Dimensions
from moir.dialects.element_types import si64
from moir.dialects.moir import Slicing
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.recurrent import (
    GRUSequence,
    LSTMSequence,
    RNNSequence,
    SequenceOp,
)
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.shapes import element_of, shape_of
from moir.dialects.symbols import same
from moir.rewriting.builder import OpBuilder
from moir.targets.openvino_cpu.recurrent.cells import contribution, gates, needs_decomposed_gates

CELLS: Mapping[type[SequenceOp], str] = {
    GRUSequence: "opset3.GRUCell",
    LSTMSequence: "opset4.LSTMCell",
    RNNSequence: "opset1.RNNCell",
}
"""The operation of one step of each sequence."""

TIME = 1
"""The axis of the steps of x [N, T, I] and of a direction's output [N, T, H]."""


def _operands(op: SequenceOp) -> tuple[SSAValue, list[SSAValue], SSAValue, list[SSAValue]]:
    """The operands of a sequence: data, initial states, lengths, and weights (those of the input, those of the states,
    the biases).
    """
    x, *others = op.operands
    states = len(others) - 4
    return x, others[:states], others[states], others[states + 1 :]


def are_whole(op: SequenceOp, known: Dimensions) -> bool:
    """Whether all sequence lengths are known to be T, for the present shapes of the model's inputs."""
    x, _, lengths, _ = _operands(op)
    owner = lengths.owner
    while isinstance(owner, Broadcast | Convert) and known.elements(lengths) is None:
        lengths = owner.operands[0]
        owner = lengths.owner
    every = known.elements(lengths)
    if every is None:
        return False
    steps = (shape_of(x) or (-1,) * (TIME + 1))[TIME], known.dimension(x, TIME)
    return all(same(each, steps[0]) or same(each, steps[1]) for each in every.flat)


def stepped(op: OpBuilder, sequence: SequenceOp, *, is_whole: bool = False) -> list[SSAValue]:
    """The results of a sequence: the output [N, D, T, H], and the states [N, D, H].

    A step after the end of its sequence keeps the states, and has an output of 0. The states of a sequence without
    steps are 0.

    Args:
        op: the builder.
        sequence: the operation.
        is_whole: whether all lengths equal the number of steps T.
    """
    x, states, lengths, weights = _operands(sequence)
    direction = sequence.text("direction")
    orders = {"forward": [Slicing(TIME)], "reverse": [Slicing(TIME, -1, 0, -1)]}.get(direction, [Slicing(TIME), Slicing(TIME, -1, 0, -1)])
    runs = has_steps = None
    if not is_whole:
        steps = op.Range(op.constant(np.array(0)), op.Gather(op.ShapeOf(x), TIME, 0), op.constant(np.array(1)), output_type=si64)
        counts = op.Unsqueeze(op.convert(lengths, si64), [1])
        runs, has_steps = op.Unsqueeze(op.Less(steps, counts), [2]), op.Greater(counts, 0)
    directions = [
        _direction(
            op, sequence, x, runs, [op.Gather(each, number, 1) for each in states], [_part(op, each, number) for each in weights], order
        )
        for number, order in enumerate(orders)
    ]
    results: list[SSAValue] = []
    for index, parts in enumerate(zip(*directions, strict=True)):
        kept = parts
        if index and has_steps is not None:
            kept = [op.Select(has_steps, each, op.constant_like(0.0, each)) for each in parts]
        single = [op.Unsqueeze(each, [1]) for each in kept]
        results.append(op.Concat(*single, axis=1) if len(single) > 1 else single[0])
    return results


def _part(op: OpBuilder, value: SSAValue, index: int) -> SSAValue:
    """The weights of one direction: the slice at index `index` of the first dimension, without this dimension."""
    array = constant_of(value)
    return op.Gather(value, index, 0) if array is None else op.constant(array[index], element_of(value))


def _direction(
    op: OpBuilder,
    sequence: SequenceOp,
    x: SSAValue,
    runs: SSAValue | None,
    states: Sequence[SSAValue],
    weights: Sequence[SSAValue],
    order: Slicing,
) -> list[SSAValue]:
    """Build the loop over the steps of one direction; returns the output [N, T, H] and the last states [N, H].

    Args:
        op: the builder.
        sequence: the operation.
        x: the data.
        runs: booleans [N, T, 1], true for steps within their sequences; None if all steps are.
        states: the initial states [N, H].
        weights: the weights of the direction.
        order: the slicing of the steps, forward or backward.
    """
    from moir.expansions.loops.built_loops import Cut, Step, repeated_steps

    properties = {name: value for name, value in sequence.properties.items() if name != "direction"}
    has_gates = needs_decomposed_gates(sequence)
    if has_gates:
        # The products of the inputs are computed for all steps at once.
        x, *weights = contribution(op, sequence, x, weights[0], weights[1], weights[2])

    def body(inside: OpBuilder, carried: list[SSAValue], slices: list[SSAValue], fixed: list[SSAValue]) -> Step:
        current, *running = (inside.Squeeze(value, [TIME]) for value in slices)
        if has_gates:
            kept = list(gates(inside, sequence, fixed).step(carried, current))
        else:
            kept = list(inside[CELLS[type(sequence)]].results(current, *carried, *fixed, **properties))
        shown = kept[0]
        if running:
            shown = inside.Select(running[0], shown, inside.constant_like(0.0, shown))
            kept = [inside.Select(running[0], new, old) for new, old in zip(kept, carried, strict=True)]
        return Step(kept, [inside.Unsqueeze(shown, [TIME])])

    cuts = [Cut(value, order) for value in (x, runs) if value is not None]
    *last, output = repeated_steps(op, body, states, cuts=cuts, invariants=weights, joins=[order])
    return [output, *last]
