"""RNN layers: several stacked layers, one or two directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.expansions.layered_recurrence import MODES, StackedRNN, computed
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Tensors, present
from moir.lowering.pytorch.projected_recurrence import projected_layers
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.sequences import lengths


@aten.lowers("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input")
def rnn_layers(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    *,
    hx: Tensors = (),
    params: Tensors,
    has_biases: bool,
    num_layers: int,
    dropout: float = 0.0,
    train: bool = False,
    bidirectional: bool,
    batch_first: bool,
) -> Replacement:
    """aten.lstm.input(x, [h, c], weights) {num_layers, bidirectional, batch_first} -> one opset5.LSTMSequence per
    layer

    `gru` -> opset5.GRUSequence, `rnn_tanh` and `rnn_relu` -> opset5.RNNSequence. An LSTM with projections is
    opset1.TensorIterator.
    """
    if train and dropout:
        node.fail("it is in training mode", hint="export the model after model.eval()")
    mode = MODES[node.op.KIND.partition(".")[0]]
    states = present(node, hx) if hx else list(node.op.operands[1 : 1 + mode.state_count])
    weights = present(node, params)
    directions = 2 if bidirectional else 1
    group = 4 if has_biases else 2
    width, size = (shape_of(input) or (-1,))[-1], (shape_of(weights[1]) or (-1,))[-1]
    x = input if batch_first else op.transposed(input, [1, 0, 2])
    if len(weights) == (group + 1) * num_layers * directions:
        parts = [weights[start : start + group + 1] for start in range(0, len(weights), group + 1)]
        output, *ends = projected_layers(op, x, states[0], states[1], parts, directions)
        return [output if batch_first else op.transposed(output, [1, 0, 2]), *ends]
    if len(weights) != group * num_layers * directions or width < 0 or size < 0:
        node.fail(f"{len(weights)} weights of {num_layers} layers, or of dynamic sizes")
    configuration = StackedRNN(mode, num_layers, directions, width, size)
    output, ends = computed(op, configuration, x, states, lengths(op, x), _vector(op, weights, group, len(mode.order) * size))
    return [output if batch_first else op.transposed(output, [1, 0, 2]), *ends]


def _vector(op: OpBuilder, weights: Sequence[SSAValue], group: int, rows: int) -> SSAValue:
    """Concatenate the weights to a 1-D tensor: the matrices of all layers, then their biases, or zeros if there are
    none.

    `group` is the number of tensors of each direction of a layer, 4 if there are biases; `rows` is the size of a bias.
    """
    matrices = [value for start in range(0, len(weights), group) for value in weights[start : start + 2]]
    if group == 4:
        biases = [value for start in range(0, len(weights), group) for value in weights[start + 2 : start + 4]]
    else:
        zeros = op.constant_like(np.zeros(rows), weights[0])
        biases = [zeros] * len(matrices)
    flat = [op.Reshape(value, [-1], special_zero=False) for value in matrices]
    return op.Concat(*flat, *biases, axis=0)


@aten.lowers("lstm_cell.default", "gru_cell.default", "rnn_tanh_cell.default", "rnn_relu_cell.default")
def cell(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    w_ih: SSAValue,
    w_hh: SSAValue,
    b_ih: SSAValue | None = None,
    b_hh: SSAValue | None = None,
    *,
    hx: Tensors = (),
) -> Replacement:
    """aten.lstm_cell.default(x, [h, c], w, r, b) -> the gates i, f, g, o, then c = f · c + i · g, h = o · tanh(c);
    `gru_cell` -> n + z · (h - n)

    `rnn_tanh_cell` -> Tanh(MatMul(x, wᵀ) + MatMul(h, rᵀ) + b).
    """
    is_lstm = node.op.KIND.startswith("lstm")
    states = present(node, hx) if hx else [node.op.operands[1]]
    own, recurrent = op.MatMul(input, w_ih, transpose_b=True), op.MatMul(states[0], w_hh, transpose_b=True)
    own = own if b_ih is None else op.Add(own, b_ih)
    recurrent = recurrent if b_hh is None else op.Add(recurrent, b_hh)
    if node.op.KIND.startswith("rnn"):
        total = op.Add(own, recurrent)
        return [op.Tanh(total) if "tanh" in node.op.KIND else op.Relu(total)]
    if is_lstm:
        i, f, g, o = op.Split.parts(4, op.Add(own, recurrent), op.constant(1), num_splits=4)
        c = op.Add(op.Multiply(op.Sigmoid(f), states[1]), op.Multiply(op.Sigmoid(i), op.Tanh(g)))
        return [op.Multiply(op.Sigmoid(o), op.Tanh(c)), c]
    r, z, n = op.Split.parts(3, own, op.constant(1), num_splits=3)
    hr, hz, hn = op.Split.parts(3, recurrent, op.constant(1), num_splits=3)
    reset, update = op.Sigmoid(op.Add(r, hr)), op.Sigmoid(op.Add(z, hz))
    new = op.Tanh(op.Add(n, op.Multiply(reset, hn)))
    return [op.Add(new, op.Multiply(update, op.Subtract(states[0], new)))]
