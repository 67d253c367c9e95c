"""Recurrent layers: LSTM, RNN.

Source: recurrent_layer.cpp, lstm_layer.cpp, lstm_unit_layer.cpp and rnn_layer.cpp of BVLC Caffe 1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from moir.dialects.moir import Slicing
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, blob_count, bottoms, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

_BodyFunction = Callable[[OpBuilder, SSAValue, SSAValue, Sequence[SSAValue], Sequence[SSAValue]], tuple[list[SSAValue], SSAValue]]


@caffe.lowers("LSTM")
@with_parameters("recurrent_param")
def lstm(node: LoweringNode, op: OpBuilder, *, num_output: int) -> Replacement:
    """caffe.LSTM(x [T, N, …], cont [T, N]) {num_output = H} -> a TensorIterator over the steps, [T, N, H]

    Where `cont` is 0 a sequence begins, with states of 0. The gates are i, f, o, g.
    """

    def step(
        op: OpBuilder, gates: SSAValue, cont: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]
    ) -> tuple[list[SSAValue], SSAValue]:
        hidden, cell = states
        gates = op.Add(gates, op.MatMul(op.Multiply(hidden, cont), weights[0], transpose_b=True))
        i, f, o, g = op.Split.parts(4, gates, op.constant(1), num_splits=4)
        kept = op.Multiply(op.Multiply(cont, op.Sigmoid(f)), cell)
        cell = op.Add(kept, op.Multiply(op.Sigmoid(i), op.Tanh(g)))
        hidden = op.Multiply(op.Sigmoid(o), op.Tanh(cell))
        return [hidden, cell], hidden

    return _recurrent(node, op, num_output, 4 * num_output, 2, [2], step)


@caffe.lowers("RNN")
@with_parameters("recurrent_param")
def rnn(node: LoweringNode, op: OpBuilder, *, num_output: int) -> Replacement:
    """caffe.RNN(x [T, N, …], cont [T, N]) {num_output = H} -> a TensorIterator over the steps, [T, N, H]

    h = tanh(W_xh x + b_h + W_hh (cont · h)), o = tanh(W_ho h + b_o)
    """

    def step(
        op: OpBuilder, gates: SSAValue, cont: SSAValue, states: Sequence[SSAValue], weights: Sequence[SSAValue]
    ) -> tuple[list[SSAValue], SSAValue]:
        recurrent, output, output_bias = weights
        hidden = op.Tanh(op.Add(gates, op.MatMul(op.Multiply(states[0], cont), recurrent, transpose_b=True)))
        return [hidden], op.Tanh(op.Add(op.MatMul(hidden, output, transpose_b=True), output_bias))

    return _recurrent(node, op, num_output, num_output, 1, [2, 3, 4], step)


def _recurrent(
    node: LoweringNode, op: OpBuilder, size: int, gates: int, state_count: int, inner: Sequence[int], step: _BodyFunction
) -> Replacement:
    """Build the loop over the steps of a layer, and return its results.

    Args:
        node: the layer.
        op: the builder.
        size: size H of a state.
        gates: number of rows of the weights of the input.
        state_count: number of states.
        inner: the indices of the weights that the body uses, where the weights of a static input are not counted.
        step: builds the states and the output of a step.

    Raises ConversionError for `expose_hidden`.
    """
    parameter = parameters(node, "recurrent_param")
    if parameter.flag("expose_hidden"):
        node.fail("states as operands and results (expose_hidden) are not supported")
    x, cont, *static = bottoms(node, 2, 3)
    rank = node.known_rank(0)
    flat = x if rank == 3 else op.Reshape(x, [0, 0, -1], special_zero=True)
    projected = op.Add(op.MatMul(flat, blob(node, 0, (gates, -1)), transpose_b=True), op.constant(blob(node, 1, (gates,))))
    shift = 0
    if static:
        shift = 1
        still = op.Reshape(static[0], [0, -1], special_zero=True)
        projected = op.Add(projected, op.MatMul(still, blob(node, 2, (gates, -1)), transpose_b=True))
    if blob_count(node) <= inner[-1] + shift:
        node.fail(f"it has {blob_count(node)} weights, not {inner[-1] + shift + 1}")
    shapes = [(gates, size), (size, size), (1, size)]
    weights = [op.constant(blob(node, index + shift, shape)) for index, shape in zip(inner, shapes, strict=False)]
    batch = op.Slice(op.ShapeOf(x), [1], [2], [1])
    zeros = op.Broadcast(op.constant(0.0), op.Concat(batch, [size], axis=0))

    def body(inside: OpBuilder, states: list[SSAValue], cuts: list[SSAValue], fixed: list[SSAValue]) -> Step:
        row = inside.Squeeze(cuts[0], [0])
        mark = inside.Reshape(cuts[1], [-1, 1], special_zero=False)
        after, output = step(inside, row, mark, states, fixed)
        return Step(after, [inside.Unsqueeze(output, [0])])

    marks = op.Reshape(cont, [0, 0], special_zero=True)
    cuts = [Cut(projected, Slicing(0)), Cut(marks, Slicing(0))]
    *_, outputs = repeated_steps(op, body, [zeros] * state_count, cuts=cuts, invariants=weights, joins=[Slicing(0)])
    return [outputs]
