"""Recurrent cells and sequences that are a single node. In shapes: T time, N batch, I input, H hidden size.

    %i, %cs, %f, %o, %ci, %co, %h = tf.LSTMBlockCell(%x, %cs_prev, %h_prev, %w, %wci, %wcf, %wco, %b)
->  %h, %cs = opset4.LSTMCell(%x, %h_prev, %cs_prev, w of x, w of h, %b)

The weights of TensorFlow are one matrix [I + H, gates * H]. opset4.LSTMCell and its like do not return the gates and
have neither peepholes nor clipping of the cell state. Nodes that need these are lowered to elementary operations, which
for a sequence are the body of a TensorIterator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Block, Region, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.opset.control_flow import TensorIterator
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.ranks import fixed
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder
from moir.rewriting.operations_with_bodies import create_repeating
from moir.rewriting.sequences import lengths

OPSET_GATES = "fico"
"""The gates of opset4.LSTMCell in their order: forget, input, cell, output."""

CELL_STATE, HIDDEN_STATE = 1, 6
"""Indices of the results of an LSTM that are its states.

The others are 0 input gate, 2 forget gate, 3 output gate, 4 cell gate, 5 the tanh of the cell state.
"""


@dataclass(frozen=True)
class LongShortTermMemory:
    """The attributes of an LSTM node.

    Args:
        gates: the gates in the order of the weights.
        forget_bias: a constant that is added to the bias of the forget gate.
        clip: the magnitude to which the cell state is clipped; no clipping if it is not positive.
        peephole: whether the gates depend on the cell state.
        hidden_size: H; -1 if it is dynamic.
    """

    gates: str
    forget_bias: float
    clip: float
    peephole: bool
    hidden_size: int

    def is_plain(self, node: LoweringNode) -> bool:
        """Whether opset4.LSTMCell and opset5.LSTMSequence compute all results of the node that have uses."""
        if self.peephole or self.clip > 0 or self.hidden_size < 0:
            return False
        return not any(node.is_used(index) for index in (0, 2, 3, 4, 5))


def attributes_of(node: LoweringNode, gates: str, forget_bias: float, clip: float, first: int) -> LongShortTermMemory:
    """The attributes of a node; `forget_bias` and `clip` are the defaults.

    The operands from index `first` on are c and h [N, H], w [I + H, 4 * H], three peepholes [H] and the bias [4 * H].
    """
    size = hidden_size(node, {first + 6: 4, first + 2: 4, first: 1, first + 1: 1})
    return LongShortTermMemory(
        gates,
        node.number("forget_bias", forget_bias) if forget_bias else 0.0,
        node.number("cell_clip", clip),
        node.flag("use_peephole"),
        size,
    )


def hidden_size(node: LoweringNode, multiples: Mapping[int, int]) -> int:
    """H, inferred from operands whose last dimension is a multiple of it; -1 if all these dimensions are dynamic.

    Args:
        node: the node.
        multiples: for the index of each such operand, the factor of H in its last dimension.

    Raises ConversionError for a dimension that is not a multiple of its factor.
    """
    for index, factor in multiples.items():
        shape = node.shape(index)
        if shape and shape[-1] >= 0:
            if not shape[-1] or shape[-1] % factor:
                node.fail(f"operand {index} has {shape[-1]} columns, which is not a positive multiple of {factor}")
            return shape[-1] // factor
    return -1


def split_weights(op: OpBuilder, weights: SSAValue, size: int) -> tuple[SSAValue, SSAValue]:
    """Weights [I + H, G] split into the weights of the input [G, I] and of the hidden state [G, H]."""
    inputs, hidden = op.VariadicSplit.parts(2, op.Transpose(weights, [1, 0]), 1, [-1, size])
    return inputs, hidden


def opset_weights(node: LoweringNode, op: OpBuilder, cell: LongShortTermMemory, weights: int, bias: int) -> list[SSAValue]:
    """W [4 * H, I], R [4 * H, H] and B [4 * H] with the gates in the order of opset4.LSTMCell.

    `weights` and `bias` are the indices of the operands; the forget bias of the cell is added to B.
    """
    parts = op.Split.parts(4, node.operand(weights), 1, num_splits=4)
    biases = list(op.Split.parts(4, node.operand(bias), 0, num_splits=4))
    order = [cell.gates.index(gate) for gate in OPSET_GATES]
    if cell.forget_bias:
        biases[order[0]] = op.Add(biases[order[0]], cell.forget_bias)
    reordered = op.Concat(*(parts[index] for index in order), axis=1)
    return [*split_weights(op, reordered, cell.hidden_size), op.Concat(*(biases[index] for index in order), axis=0)]


def lstm_step(
    op: OpBuilder, cell: LongShortTermMemory, x: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]
) -> list[SSAValue]:
    """All results of a step of an LSTM, in the order of the results of LSTMBlockCell.

    These are input gate, cell state, forget gate, output gate, cell gate, tanh of the cell state, hidden state.

    Args:
        states: cell state and hidden state of the previous step.
        weights: the matrix [I + H, 4 * H], three vectors of peepholes [H] and the bias [4 * H].
    """
    before, hidden = states
    matrix, peep_input, peep_forget, peep_output, bias = weights
    if cell.forget_bias and cell.hidden_size > 0:
        is_forget = np.repeat([gate == "f" for gate in cell.gates], cell.hidden_size)
        bias = op.Add(bias, op.constant_like(is_forget * cell.forget_bias, bias))
    sums = op.Add(op.MatMul(op.Concat(x, hidden, axis=1), matrix), bias)
    parts = dict(zip(cell.gates, op.Split.parts(4, sums, 1, num_splits=4), strict=True))
    if cell.forget_bias and cell.hidden_size < 0:
        parts["f"] = op.Add(parts["f"], cell.forget_bias)
    if cell.peephole:
        parts["i"] = op.Add(parts["i"], op.Multiply(before, peep_input))
        parts["f"] = op.Add(parts["f"], op.Multiply(before, peep_forget))
    entrance, forget, candidate = op.Sigmoid(parts["i"]), op.Sigmoid(parts["f"]), op.Tanh(parts["c"])
    state = op.Add(op.Multiply(candidate, entrance), op.Multiply(before, forget))
    if cell.clip > 0:
        state = op.Clamp(state, min=-cell.clip, max=cell.clip)
    exit_sum = op.Add(parts["o"], op.Multiply(state, peep_output)) if cell.peephole else parts["o"]
    exit_gate, bounded = op.Sigmoid(exit_sum), op.Tanh(state)
    return [entrance, state, forget, exit_gate, candidate, bounded, op.Multiply(bounded, exit_gate)]


@tf.lowers("LSTMBlockCell", rank=fixed(2, 2, 2, 2, 1, 1, 1, 1))
def lstm_cell(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    cs_prev: SSAValue,
    h_prev: SSAValue,
    w: SSAValue,
    wci: SSAValue,
    wcf: SSAValue,
    wco: SSAValue,
    b: SSAValue,
) -> Replacement:
    """tf.LSTMBlockCell(x, cs, h, w, wci, wcf, wco, b)
    -> opset4.LSTMCell(x, h, cs, W, R, B); elementary operations if the hidden size is dynamic
    """
    cell = attributes_of(node, "icfo", 1.0, 3.0, 1)
    if not cell.is_plain(node):
        return lstm_step(op, cell, x, [cs_prev, h_prev], [w, wci, wcf, wco, b])[: node.result_count]
    states = op.LSTMCell.results(x, h_prev, cs_prev, *opset_weights(node, op, cell, 3, 7), hidden_size=cell.hidden_size)
    return [None, states[1], None, None, None, None, states[0]][: node.result_count]


@tf.lowers("BlockLSTM", rank=fixed(0, 3, 2, 2, 2, 1, 1, 1, 1))
def lstm_sequence(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.BlockLSTM(steps, x [T, N, I], cs, h, w, wci, wcf, wco, b)
    -> Transpose(opset5.LSTMSequence(Transpose(x), …))

    With peepholes or clipping, or if results other than h are used, a TensorIterator computes all results.
    """
    return lstm_steps(node, op, attributes_of(node, "icfo", 1.0, 3.0, 2))


@tf.lowers("BlockLSTMV2", rank=fixed(0, 3, 2, 2, 2, 1, 1, 1, 1))
def lstm_sequence_without_forget_bias(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.BlockLSTMV2(…) -> as BlockLSTM with the gates in the order i, f, c, o, no forget_bias, and no clipping by
    default
    """
    return lstm_steps(node, op, attributes_of(node, "ifco", 0.0, 0.0, 2))


def lstm_steps(node: LoweringNode, op: OpBuilder, cell: LongShortTermMemory) -> Replacement:
    """The results of all steps [T, N, H], with zeros after the number of steps that operand 0 gives; None for results
    without uses.

    The loop always computes all T steps, since without iterations it would have no result of the right shape.
    """
    data, full = node.operand(1), has_all_steps(node, op)
    plain = cell.is_plain(node) and not node.is_used(CELL_STATE)
    results = [hidden_states(node, op, cell, data)] if plain else iterated(node, op, cell, data)
    indices = [HIDDEN_STATE] if plain else [index for index in range(node.result_count) if node.is_used(index)]
    if not full:
        length = op.Squeeze(dimension_list(op, data, 0), [0])
        step = op.Range(op.constant(0, si64), length, op.constant(1, si64), output_type=si64)
        reached = op.Unsqueeze(op.Less(step, op.convert(node.operand(0), si64)), [1, 2])
        results = [op.Select(reached, value, op.constant_like(0.0, value)) for value in results]
    results_by_index = dict(zip(indices, results, strict=True))
    return [results_by_index.get(index) for index in range(node.result_count)]


def has_all_steps(node: LoweringNode, op: OpBuilder) -> bool:
    """Whether the number of steps is known to equal the length of the data."""
    count = op.known.elements(node.operand(0))
    length = op.known.elements(op.Gather(op.ShapeOf(node.operand(1)), 0, 0))
    return count is not None and length is not None and count.size == 1 and count.item() == length.item()


def hidden_states(node: LoweringNode, op: OpBuilder, cell: LongShortTermMemory, steps: SSAValue) -> SSAValue:
    """The hidden states of all steps [T, N, H] by opset5.LSTMSequence, for the data `steps` [T, N, I]."""
    weights = [op.Unsqueeze(value, [0]) for value in opset_weights(node, op, cell, 4, 8)]
    states = [op.Unsqueeze(node.operand(index), [1]) for index in (3, 2)]
    data = op.Transpose(steps, [1, 0, 2])
    every = op.LSTMSequence.results(data, *states, lengths(op, data), *weights, hidden_size=cell.hidden_size, direction="forward")[0]
    return op.Squeeze(op.Transpose(every, [2, 1, 0, 3]), [1])


def iterated(node: LoweringNode, op: OpBuilder, cell: LongShortTermMemory, steps: SSAValue) -> list[SSAValue]:
    """The results with uses, of all steps, computed by a TensorIterator over the data `steps` [T, N, I].

    Raises ConversionError if the data do not have rank 3.
    """
    block = Block()
    inside = OpBuilder(node.known, block)
    shape, element = shape_of(steps) or (-1, -1, -1), element_of(steps)
    if len(shape) != 3:
        node.fail(f"the sequence has rank {len(shape)} instead of 3")
    state_type = tensor((shape[1], cell.hidden_size), element)
    types = [tensor((1, *shape[1:]), element), state_type, state_type]
    parameters = [add_parameter(block, type_) for type_ in types]
    operands = [steps, node.operand(2), node.operand(3)]
    inputs = [BodyPort(0, slicing=Slicing(0)), BodyPort(1, 0), BodyPort(2, 1)]
    weights: list[SSAValue] = []
    for index in range(4, 9):
        value = node.operand(index)
        if isinstance(value.owner, Constant):
            weights.append(inside.constant(value.owner.value.array, element_of(value)))
        elif 5 <= index < 8 and not cell.peephole:
            weights.append(value)
        else:
            weights.append(add_parameter(block, value.type))
            inputs.append(BodyPort(len(operands)))
            operands.append(value)
    values = lstm_step(inside, cell, inside.Squeeze(parameters[0], [0]), parameters[1:], weights)
    block.add_ops([Result.create(operands=[values[index]]) for index in (CELL_STATE, HIDDEN_STATE)])
    outputs: list[BodyPort] = []
    for index in (index for index in range(node.result_count) if node.is_used(index)):
        joined = inside.Unsqueeze(values[index], [0])
        outputs.append(BodyPort(2 + len(outputs), slicing=Slicing(0)))
        block.add_op(Result.create(operands=[joined]))
    return create_repeating(op, TensorIterator, operands, inputs, outputs, Region(block))


def add_parameter(block: Block, type_: Any) -> SSAValue:
    """Add a Parameter of a type to the block of a body, and return its value."""
    parameter = Parameter.create(result_types=[type_])
    block.add_op(parameter)
    return parameter.results[0]


@tf.lowers("GRUBlockCell", rank=fixed(2, 2, 2, 2, 1, 1))
def gru_cell(
    node: LoweringNode, op: OpBuilder, x: SSAValue, h_prev: SSAValue, w_ru: SSAValue, w_c: SSAValue, b_ru: SSAValue, b_c: SSAValue
) -> Replacement:
    """tf.GRUBlockCell(x, h, w_ru, w_c, b_ru, b_c)
    -> opset3.GRUCell(x, h, W, R, B), gates update, reset and hidden; elementary operations if the hidden size is
    dynamic
    """
    size = hidden_size(node, {5: 1, 4: 2, 3: 1, 2: 2, 1: 1})
    if size < 0 or any(node.is_used(index) for index in range(3)):
        sums = op.Add(op.MatMul(op.Concat(x, h_prev, axis=1), w_ru), b_ru)
        reset, update = op.Split.parts(2, op.Sigmoid(sums), 1, num_splits=2)
        candidate = op.Tanh(op.Add(op.MatMul(op.Concat(x, op.Multiply(reset, h_prev), axis=1), w_c), b_c))
        state = op.Add(op.Multiply(update, h_prev), op.Multiply(op.Subtract(1.0, update), candidate))
        return [reset, update, candidate, state][: node.result_count]
    reset, update = op.Split.parts(2, w_ru, 1, num_splits=2)
    reset_bias, update_bias = op.Split.parts(2, b_ru, 0, num_splits=2)
    matrices = split_weights(op, op.Concat(update, reset, w_c, axis=1), size)
    biases = op.Concat(update_bias, reset_bias, b_c, axis=0)
    return [None, None, None, op.GRUCell(x, h_prev, *matrices, biases, hidden_size=size)]
