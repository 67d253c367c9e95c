"""Recurrent cells and sequences.

ONNX has only sequences, with data [steps, batch, …] and separate biases for inputs and states. A cell is a sequence of
one step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder, small_constant
from moir.lowering.to_onnx.table import opset

_ACTIVATIONS = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu", "hardsigmoid": "HardSigmoid"}


def _reordered(node: LoweringNode, op: OnnxBuilder, value: SSAValue, index: int, axis: int, gates: str = "fico") -> SSAValue:
    """Gather the gates of an LSTM's weights or biases in ONNX's order.

    Args:
        node: the node.
        op: the builder.
        value: the operand with the weights or biases.
        index: its index.
        axis: the axis of the gates, negative.
        gates: their order.
    """
    order = [gates.index(gate) for gate in "iofc"]
    constant = node.constant(index)
    if constant is not None:
        blocks = np.split(constant, 4, axis)
        return op.constant(np.concatenate([blocks[each] for each in order], axis), node.element(index))
    shape = node.shape(index)
    if shape is None or shape[axis] < 0:
        node.fail(f"the size of its operand {index} is dynamic", hint="make the weights static")
    parts = op.Split.results(4, value, [shape[axis] // 4] * 4, axis=axis)
    return op.Concat(*(parts[each] for each in order), axis=axis)


def _directions(direction: str) -> int:
    return 2 if direction == "bidirectional" else 1


def _attributes(node: LoweringNode, direction: str) -> dict[str, object]:
    """The attributes that all recurrent kinds of ONNX have: hidden size, direction, activations, clip."""
    names = node.texts("activations", ())
    activations = [_ACTIVATIONS[each] for each in names]
    count = _directions(direction)
    # activation_alpha and activation_beta of ONNX have elements only for activations with parameters.
    alpha, beta = (
        tuple(number for number, name in zip(node.numbers(which, ()), names, strict=False) if name == "hardsigmoid")
        for which in ("activations_alpha", "activations_beta")
    )
    clip = node.number("clip", 0.0)
    return {
        "activations": activations * count or None,
        "activation_alpha": alpha * count or None,
        "activation_beta": beta * count or None,
        "clip": clip or None,
        "direction": direction,
        "hidden_size": node.integer("hidden_size"),
    }


def _sequence(
    node: LoweringNode,
    op: OnnxBuilder,
    kind: str,
    operands: tuple[SSAValue, SSAValue | None, SSAValue, SSAValue, SSAValue],
    states: Sequence[SSAValue],
    direction: str,
    **attributes: object,
) -> list[SSAValue]:
    """Build an RNN, GRU or LSTM of ONNX for x [batch, steps, inputs] and states [batch, directions, hidden].

    Returns the hidden states of all steps [batch, directions, steps, hidden], and the last states. `operands` are x,
    the lengths (None for all steps), input weights, recurrent weights and biases.
    """
    x, lengths, w, r, biases = operands
    steps = op.transposed(x, [1, 0, 2])
    first = [op.transposed(each, [1, 0, 2]) for each in states]
    results = op.create(
        kind, [steps, w, r, biases, lengths, *first], {**_attributes(node, direction), **attributes}, 1 + len(states)
    ).results
    return [op.transposed(results[0], [2, 1, 0, 3]), *(op.transposed(each, [1, 0, 2]) for each in results[1:])]


def _lengths(node: LoweringNode, op: OnnxBuilder, value: SSAValue, index: int) -> SSAValue | None:
    """The lengths of the sequences, operand `index`, in i32; None if all equal the number of steps."""
    constant, shape = node.constant_integers(index), node.shape(0)
    if constant is not None and shape is not None and set(constant) == {shape[1]}:
        return None
    return op.cast(value, si32)


def _both_biases(op: OnnxBuilder, biases: SSAValue) -> SSAValue:
    """The biases of ONNX: those for the inputs, then zeros for the states."""
    constant = small_constant(biases)
    if constant is not None:
        return op.constant(np.concatenate([constant, np.zeros_like(constant)], 1), element_of(biases))
    return op.Concat(biases, op.Mul(biases, 0.0), axis=1)


def _gru_biases(node: LoweringNode, op: OnnxBuilder, biases: SSAValue, is_linear: bool) -> SSAValue:
    """The biases of ONNX's GRU: [z, r, h] -> [z, r, h, 0, 0, 0], or if `is_linear` [z, r, h, h'] -> [z, r, h, 0, 0,
    h'].
    """
    if not is_linear:
        return _both_biases(op, biases)
    hidden = node.integer("hidden_size")
    own = op.Slice(biases, [0], [3 * hidden], [1])
    zeros = op.Mul(op.Slice(biases, [0], [2 * hidden], [1]), 0.0)
    return op.Concat(own, zeros, op.Slice(biases, [3 * hidden], [4 * hidden], [1]), axis=1)


@opset.lowers("LSTMSequence")
def lstm_sequence(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    hidden: SSAValue,
    cell: SSAValue,
    lengths: SSAValue,
    w: SSAValue,
    r: SSAValue,
    biases: SSAValue,
    *,
    direction: str,
) -> list[SSAValue]:
    """opset5.LSTMSequence(…) -> onnx.LSTM(…), with the gates in ONNX's order"""
    w, r, biases = (_reordered(node, op, each, *where) for each, where in ((w, (4, -2)), (r, (5, -2)), (biases, (6, -1))))
    operands = (x, _lengths(node, op, lengths, 3), w, r, _both_biases(op, biases))
    return _sequence(node, op, "LSTM", operands, (hidden, cell), direction)


@opset.lowers("GRUSequence")
def gru_sequence(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    hidden: SSAValue,
    lengths: SSAValue,
    w: SSAValue,
    r: SSAValue,
    biases: SSAValue,
    *,
    direction: str,
    linear_before_reset: bool = False,
) -> list[SSAValue]:
    """opset5.GRUSequence(…) -> onnx.GRU(…)"""
    operands = (x, _lengths(node, op, lengths, 2), w, r, _gru_biases(node, op, biases, linear_before_reset))
    return _sequence(node, op, "GRU", operands, (hidden,), direction, linear_before_reset=int(linear_before_reset))


@opset.lowers("RNNSequence")
def rnn_sequence(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    hidden: SSAValue,
    lengths: SSAValue,
    w: SSAValue,
    r: SSAValue,
    biases: SSAValue,
    *,
    direction: str,
) -> list[SSAValue]:
    """opset5.RNNSequence(…) -> onnx.RNN(…)"""
    operands = (x, _lengths(node, op, lengths, 2), w, r, _both_biases(op, biases))
    return _sequence(node, op, "RNN", operands, (hidden,), direction)


def _cell(
    node: LoweringNode,
    op: OnnxBuilder,
    kind: str,
    operands: tuple[SSAValue, SSAValue, SSAValue, SSAValue],
    states: Sequence[SSAValue],
    **attributes: object,
) -> list[SSAValue]:
    """Build one step as an ONNX sequence of length 1; returns the states after it."""
    x, w, r, biases = operands
    results = op.create(
        kind,
        [op.unsqueezed(x, 0), op.unsqueezed(w, 0), op.unsqueezed(r, 0), biases, None, *(op.unsqueezed(each, 0) for each in states)],
        {**_attributes(node, "forward"), **attributes},
        1 + len(states),
    ).results
    return [op.squeezed(each, 0) for each in results[1:]]


@opset.lowers("LSTMCell")
def lstm_cell(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    hidden: SSAValue,
    cell: SSAValue,
    w: SSAValue,
    r: SSAValue,
    biases: SSAValue,
) -> list[SSAValue]:
    """opset4.LSTMCell(…) -> onnx.LSTM(…)"""
    w, r, biases = (_reordered(node, op, each, *where) for each, where in ((w, (3, -2)), (r, (4, -2)), (biases, (5, -1))))
    return _cell(node, op, "LSTM", (x, w, r, _both_biases(op, op.unsqueezed(biases, 0))), (hidden, cell))


@opset.lowers("opset1.LSTMCell")
def lstm_cell_1(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    hidden: SSAValue,
    cell: SSAValue,
    w: SSAValue,
    r: SSAValue,
    biases: SSAValue | None = None,
    _peepholes: SSAValue | None = None,
    *,
    input_forget: bool = False,
    weights_format: str = "fico",
) -> list[SSAValue]:
    """opset1.LSTMCell(…) -> onnx.LSTM(…), whose weights are in one of several orders"""
    if node.optional(6) is not None or biases is None:
        node.fail("it has peepholes or no biases", hint="use opset4.LSTMCell")
    w, r, biases = (_reordered(node, op, each, *where, weights_format) for each, where in ((w, (3, -2)), (r, (4, -2)), (biases, (5, -1))))
    operands = (x, w, r, _both_biases(op, op.unsqueezed(biases, 0)))
    return _cell(node, op, "LSTM", operands, (hidden, cell), input_forget=int(input_forget))


@opset.lowers("GRUCell")
def gru_cell(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    hidden: SSAValue,
    w: SSAValue,
    r: SSAValue,
    biases: SSAValue,
    *,
    linear_before_reset: bool = False,
) -> list[SSAValue]:
    """opset3.GRUCell(…) -> onnx.GRU(…)"""
    own = _gru_biases(node, op, op.unsqueezed(biases, 0), linear_before_reset)
    return _cell(node, op, "GRU", (x, w, r, own), (hidden,), linear_before_reset=int(linear_before_reset))


@opset.lowers("RNNCell")
def rnn_cell(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, hidden: SSAValue, w: SSAValue, r: SSAValue, biases: SSAValue
) -> list[SSAValue]:
    """opset1.RNNCell(…) -> onnx.RNN(…)"""
    return _cell(node, op, "RNN", (x, w, r, _both_biases(op, op.unsqueezed(biases, 0))), (hidden,))
