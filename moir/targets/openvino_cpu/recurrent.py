"""Recurrent networks whose sequences the CPU plugin computes beyond their lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.dimensions import Dimensions
from moir.dialects.element_types import si64
from moir.dialects.moir import Slicing
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.recurrent import GRUSequence, LSTMSequence, RNNSequence, SequenceOp
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.shapes import element_of, shape_of
from moir.dialects.symbols import same
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.targets.record import Form

CELLS: Mapping[type[SequenceOp], str] = {
    GRUSequence: "opset3.GRUCell",
    LSTMSequence: "opset4.LSTMCell",
    RNNSequence: "opset1.RNNCell",
}
"""The operation of one step of each sequence."""

TIME = 1
"""The axis of the steps of x [N, T, I] and of a direction's output [N, T, H]."""


class PaddedSequences(Pattern):
    """Replaces a sequence operation with lengths and unknown sizes by a TensorIterator for each direction.

        %y, %h, %c = opset5.LSTMSequence(%x, %h0, %c0, %lengths, …)      // %x: [?, ?, I]
    ->  %runs = opset1.Less([0, 1, … T - 1], %lengths)
        %h, %c, %y = opset1.TensorIterator(%x, %runs, %h0, %c0) ({
          %1, %2 = opset4.LSTMCell(a step of %x, %h, %c, …)
          %h = opset1.Select(the step of %runs, %1, %h)                  // and so on
        })

    The plugin computes all T steps of each sequence if the number of sequences or T is unknown.

    Args:
        known: the dimensions of the module.
    """

    roots = (GRUSequence, LSTMSequence, RNNSequence)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, SequenceOp)
        if has_unknown_sizes(op) and not _are_whole(op, self.known):
            rewriter.replace_with(op, _stepped(rewriter.op, op))


def has_unknown_sizes(op: SequenceOp) -> bool:
    """Whether the number of sequences or T is unknown."""
    return min((shape_of(op.operands[0]) or (-1,))[:2]) < 0


def _step_through_sequences(module: ModuleOp, analyses: Analyses) -> bool:
    if not any(has_unknown_sizes(op) for op in analyses.operations(SequenceOp)):
        return False
    return rewrite(module, [PaddedSequences(analyses.dimensions())], analyses=analyses)


def _operands(op: SequenceOp) -> tuple[SSAValue, list[SSAValue], SSAValue, list[SSAValue]]:
    """The data, the initial states, the lengths, and the weights: those of the input, those of the states, and the
    biases.
    """
    x, *others = op.operands
    states = len(others) - 4
    return x, others[:states], others[states], others[states + 1 :]


def _are_whole(op: SequenceOp, known: Dimensions) -> bool:
    """Whether all lengths are known to be T, in the shapes that the inputs of the model have now."""
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


def _stepped(op: OpBuilder, sequence: SequenceOp) -> list[SSAValue]:
    """The results of a sequence: the output [N, D, T, H], and the states [N, D, H].

    A step after the end of its sequence keeps the states, and has an output of 0. The states of a sequence without
    steps are 0.
    """
    x, states, lengths, weights = _operands(sequence)
    direction = sequence.text("direction")
    orders = {"forward": [Slicing(TIME)], "reverse": [Slicing(TIME, -1, 0, -1)]}.get(direction, [Slicing(TIME), Slicing(TIME, -1, 0, -1)])
    steps = op.Range(op.constant(np.array(0)), op.Gather(op.ShapeOf(x), TIME, 0), op.constant(np.array(1)), output_type=si64)
    counts = op.Unsqueeze(op.convert(lengths, si64), [1])
    runs, has_steps = op.Unsqueeze(op.Less(steps, counts), [2]), op.Greater(counts, 0)
    found = [
        _direction(
            op, sequence, x, runs, [op.Gather(each, number, 1) for each in states], [_part(op, each, number) for each in weights], order
        )
        for number, order in enumerate(orders)
    ]
    results: list[SSAValue] = []
    for index, parts in enumerate(zip(*found, strict=True)):
        kept = [op.Select(has_steps, each, op.constant_like(0.0, each)) for each in parts] if index else parts
        single = [op.Unsqueeze(each, [1]) for each in kept]
        results.append(op.Concat(*single, axis=1) if len(single) > 1 else single[0])
    return results


def _part(op: OpBuilder, value: SSAValue, number: int) -> SSAValue:
    """The weights of one direction."""
    array = constant_of(value)
    return op.Gather(value, number, 0) if array is None else op.constant(array[number], element_of(value))


def _direction(
    op: OpBuilder,
    sequence: SequenceOp,
    x: SSAValue,
    runs: SSAValue,
    states: Sequence[SSAValue],
    weights: Sequence[SSAValue],
    order: Slicing,
) -> list[SSAValue]:
    """The output [N, T, H] and the states [N, H] of one direction, for states [N, H] and its weights."""
    from moir.expansions.loops.built_loops import Cut, Step, repeated_steps

    properties = {name: value for name, value in sequence.properties.items() if name != "direction"}

    def body(inside: OpBuilder, carried: list[SSAValue], slices: list[SSAValue], fixed: list[SSAValue]) -> Step:
        current, running = (inside.Squeeze(value, [TIME]) for value in slices)
        found = inside[CELLS[type(sequence)]].results(current, *carried, *fixed, **properties)
        kept = [inside.Select(running, new, old) for new, old in zip(found, carried, strict=True)]
        shown = inside.Select(running, found[0], inside.constant_like(0.0, found[0]))
        return Step(kept, [inside.Unsqueeze(shown, [TIME])])

    *last, output = repeated_steps(op, body, states, cuts=[Cut(x, order), Cut(runs, order)], invariants=weights, joins=[order])
    return [output, *last]


FORMS = (
    Form(
        "step-through-sequences",
        summary="Computes recurrent sequences with individual lengths and unknown sizes by loops over steps.",
        run=_step_through_sequences,
        roots=(GRUSequence, LSTMSequence, RNNSequence),
    ),
)
