"""RNN layers as loops over their steps, for layers that the sequences of opset5 cannot express.

    %y, %h = onnx.RNN(%x, %w, %r, %b) {activations = ["Softsign"]}
->  %0 = Add(MatMul(%x, %w), %b)
    %y, %h = opset1.TensorIterator(%0, %h0) ({ h = Softsign(Add(MatMul(h, %r), slice of %0)) })

All computations that do not depend on the states are done for all steps before the loop. After the end of its sequence
a row keeps its states, and its outputs are 0. In the backward direction it begins with the last step of its sequence.

In shapes: T time, N batch, D directions, I input, H hidden size, G gates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.moir import Slicing
from moir.dialects.shapes import element_of, rank_of, shape_of, size_along
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.expansions.loops.recurrent_cells import RecurrentCell
from moir.lowering.onnx.recurrent.layer import GRU, LSTM, RNNLayer
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def decomposed(layer: RNNLayer) -> Replacement:
    """Build a layer as loops: returns all hidden states, then each state after the last step."""
    directions = [_direction(layer, direction) for direction in range(layer.directions)]
    op, lead = layer.op, 1 if layer.batch_first else 0
    axes = [2 if layer.batch_first else 1, *[lead] * layer.kind.states]
    results: list[SSAValue | None] = []
    for index, (axis, parts) in enumerate(zip(axes, zip(*directions, strict=True), strict=True)):
        if not layer.node.is_used(index):
            results.append(None)
            continue
        separate = [op.Unsqueeze(part, [axis]) for part in parts]
        results.append(separate[0] if len(separate) == 1 else op.Concat(*separate, axis=axis))
    return results[: layer.node.result_count]


def _of_direction(layer: RNNLayer, index: int, direction: int, sizes: Sequence[int]) -> SSAValue:
    """One direction's slice of operand `index` of an RNN layer, reshaped to `sizes` unless the operand is constant."""
    array = layer.node.constant(index)
    if array is not None:
        return layer.op.constant(array[direction], element_of(layer.node.operand(index)))
    # All directions are reshaped at once: `Model.reshape` gives dynamic dimensions to a Reshape right before a MatMul.
    value = layer.op.Reshape(layer.node.operand(index), [layer.directions, *sizes], special_zero=False)
    return layer.op.Gather(value, direction, 0)


def _cell(op: OpBuilder, layer: RNNLayer, direction: int, weights: Sequence[SSAValue]) -> RecurrentCell:
    """The cell of a direction, for the body of its loop.

    Args:
        op: the builder of the body.
        layer: the layer.
        direction: the index of the direction.
        weights: the weights of the recurrence [G * H, H], then the bias of the last gate's recurrence of a GRU with
            `linear_before_reset`, and peepholes [3 * H]; the latter two only if the layer has them.
    """
    kind, others = layer.kind, weights[1:]
    return RecurrentCell(
        op,
        kind.name,
        layer.hidden_size,
        layer.activations[direction],
        weights[0],
        gates="iofc",
        clip=layer.clip,
        linear_before_reset=bool(layer.linear_before_reset),
        last_bias=others[0] if others and kind is GRU else None,
        peepholes=others[0] if others and kind is LSTM else None,
        input_forget=bool(layer.input_forget),
    )


def _direction(layer: RNNLayer, direction: int) -> list[SSAValue]:
    """All hidden states [T, N, H] of a direction, or [N, T, H], then each state [N, H] after the last step."""
    op, time, backwards = layer.op, layer.time_axis, layer.direction == "reverse" or direction == 1
    inputs, weights = _inputs(layer, direction)
    forwards = Slicing(0, -1, 0, -1) if backwards else Slicing(0)
    cuts = [Cut(inputs, forwards.with_fields(axis=time))]
    if layer.has_peepholes:
        weights.append(_of_direction(layer, 7, direction, [3 * layer.hidden_size]))
    count = len(weights)
    lengths = layer.node.optional(4)
    if lengths is not None:
        weights.append(op.Unsqueeze(op.convert(lengths, si32), [1]))
        limit = op.convert(op.Gather(op.ShapeOf(layer.node.operand(0)), time, 0), si32)
        steps = op.Range(np.array(0, np.int32), limit, np.array(1, np.int32), output_type=si32)
        cuts.append(Cut(op.Unsqueeze(steps, [1]), forwards))

    def body(inside: OpBuilder, states: list[SSAValue], slices: list[SSAValue], fixed: list[SSAValue]) -> Step:
        cell = _cell(inside, layer, direction, fixed[:count])
        following = list(cell.step(states, inside.Squeeze(slices[0], [time])))
        shown = following[0]
        if lengths is not None:
            runs = inside.Less(slices[1], fixed[count])
            following = [inside.Select(runs, new, old) for new, old in zip(following, states, strict=True)]
            shown = inside.Select(runs, shown, inside.constant_like(0.0, shown))
        return Step(following, [inside.Unsqueeze(shown, [time])])

    states = [op.Gather(layer.state(index), direction, 1) for index in range(5, 5 + layer.kind.states)]
    if lengths is not None:
        # The states of a sequence without steps are 0, as in the sequences of opset5.
        states = [op.Select(op.Less(0, weights[count]), state, op.constant_like(0.0, state)) for state in states]
    *last, every = repeated_steps(op, body, states, cuts=cuts, invariants=weights, joins=[forwards.with_fields(axis=time)])
    return [every, *last]


def _inputs(layer: RNNLayer, direction: int) -> tuple[SSAValue, list[SSAValue]]:
    """The contributions of the inputs of all steps to the gates [T, N, G * H], and the weights of the recurrence.

    The biases are included, except the recurrence bias of the last gate of a GRU with `linear_before_reset`.
    """
    op, hidden = layer.op, layer.hidden_size
    rows = len(layer.kind.gates) * hidden
    data = layer.node.operand(0)
    if rank_of(data) is None:
        data = op.Reshape(data, [0, 0, -1], special_zero=True)
    columns = size_along(shape_of(data) or (-1,), -1)
    products = op.MatMul(data, _of_direction(layer, 1, direction, [rows, columns]), transpose_b=True)
    weights = [_of_direction(layer, 2, direction, [rows, hidden])]
    if layer.node.optional(3) is None:
        return products, weights
    of_input, of_recurrence = op.Split.parts(2, _of_direction(layer, 3, direction, [2 * rows]), 0, num_splits=2)
    if layer.linear_before_reset:
        gates, last = op.VariadicSplit.parts(2, of_recurrence, 0, [2 * hidden, hidden])
        zeros = op.filled_like((hidden,), 0.0, last)
        return op.Add(products, op.Add(of_input, op.Concat(gates, zeros, axis=0))), [*weights, last]
    return op.Add(products, op.Add(of_input, of_recurrence)), weights
