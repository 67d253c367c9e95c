"""Recurrent networks of several layers in the format of cuDNN: one vector contains all weights.

For each layer, and for each of its directions, the vector contains the matrices of the input [H, I] and those of the
hidden state [H, H], one for each gate. The biases [H] follow the matrices of all layers, in the same order. In shapes:
L layers, D directions, T time, N batch, I input, H hidden size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si32
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@dataclass(frozen=True)
class Mode:
    """A kind of network.

    The fields are the operation of the runtime, the gates of cuDNN in the order of the runtime, the number of states,
    and the activations.
    """

    operation: str
    gates: tuple[int, ...]
    states: int
    activations: tuple[str, ...]
    linear_before_reset: bool = False


MODES = {
    "lstm": Mode("LSTMSequence", (1, 0, 2, 3), 2, ("sigmoid", "tanh", "tanh")),
    "gru": Mode("GRUSequence", (1, 0, 2), 1, ("sigmoid", "tanh"), linear_before_reset=True),
    "rnn_relu": Mode("RNNSequence", (0,), 1, ("relu",)),
    "rnn_tanh": Mode("RNNSequence", (0,), 1, ("tanh",)),
}


@dataclass(frozen=True)
class Layer:
    """The weights of a layer: W [D, G * H, I], R [D, G * H, H], B [D, G * H], for a GRU [D, 4 * H]."""

    inputs: Array
    hidden: Array
    bias: Array


def layers_of(node: LoweringNode, mode: Mode, params: Array, layers: int, directions: int, sizes: tuple[int, int]) -> list[Layer]:
    """The weights of each layer, from the vector of all weights. Raises ConversionError if its length does not fit."""
    input_size, hidden_size = sizes
    gates = len(mode.gates)
    widths = [input_size, *[directions * hidden_size] * (layers - 1)]
    needed = sum(directions * gates * hidden_size * (width + hidden_size + 2) for width in widths)
    if params.size != needed:
        node.fail(f"it has {params.size} weights, not {needed}")
    vector, place = params.ravel(), 0

    def taken(*shape: int) -> Array:
        nonlocal place
        start, place = place, place + int(np.prod(shape))
        return vector[start:place].reshape(shape)

    matrices = [[(taken(gates, hidden_size, width), taken(gates, hidden_size, hidden_size)) for _ in range(directions)] for width in widths]
    biases = [[(taken(gates, hidden_size), taken(gates, hidden_size)) for _ in range(directions)] for _ in widths]
    order = list(mode.gates)

    def stacked(values: Sequence[Array]) -> Array:
        return np.stack([value[order].reshape(gates * hidden_size, *value.shape[2:]) for value in values])

    def bias_of(pair: tuple[Array, Array]) -> Array:
        first, second = (value[order] for value in pair)
        if mode.linear_before_reset:
            return np.concatenate([first[:2] + second[:2], first[2:], second[2:]]).ravel()
        return (first + second).ravel()

    return [
        Layer(stacked([pair[0] for pair in layer]), stacked([pair[1] for pair in layer]), np.stack([bias_of(pair) for pair in own]))
        for layer, own in zip(matrices, biases, strict=True)
    ]


@tf.lowers("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3")
def network(
    node: LoweringNode,
    op: OpBuilder,
    *,
    time_major: bool = True,
    rnn_mode: str = "lstm",
    direction: str = "unidirectional",
    num_proj: int = 0,
    input_mode: str = "linear_input",
) -> Replacement:
    """tf.CudnnRNNV3(x, h, c, weights, lengths) {rnn_mode = lstm}
    -> opset5.LSTMSequence(Transpose(x), h, c, lengths, W, R, B) for each layer
    """
    if rnn_mode not in MODES or input_mode not in ("linear_input", "auto_select") or num_proj:
        node.fail(f"mode {rnn_mode} with its attributes is not supported")
    mode, directions = MODES[rnn_mode], 2 if direction == "bidirectional" else 1
    params, data, state = node.constant(3), node.shape(0), node.shape(1)
    if params is None or data is None or state is None or not len(data) == len(state) == 3 or min(data[2], state[2]) < 1:
        node.fail("its weights or sizes are unknown", hint="freeze the model and give it static sizes but for batch and time")
    depth = state[0 if time_major else 1] // directions
    if depth < 1:
        node.fail("the number of layers is unknown", hint="give the initial states a static shape")
    layers = layers_of(node, mode, params, depth, directions, (data[2], state[2]))
    element = element_of(node.operand(0))
    value = op.Transpose(node.operand(0), [1, 0, 2]) if time_major else node.operand(0)
    starts = [op.Transpose(node.operand(index), [1, 0, 2]) if time_major else node.operand(index) for index in range(1, 1 + mode.states)]
    parts = [op.Split.parts(len(layers), start, 1, num_splits=len(layers)) if len(layers) > 1 else (start,) for start in starts]
    lengths = sequence_lengths(node, op, value)
    last: list[list[SSAValue]] = [[] for _ in starts]
    for number, layer in enumerate(layers):
        every, *ends = getattr(op, mode.operation).results(
            value,
            *(part[number] for part in parts),
            lengths,
            *(op.constant(array, element) for array in (layer.inputs, layer.hidden, layer.bias)),
            hidden_size=state[2],
            direction="bidirectional" if directions == 2 else "forward",
            activations=mode.activations,
            **({"linear_before_reset": True} if mode.linear_before_reset else {}),
        )
        for found, end in zip(last, ends, strict=True):
            found.append(end)
        # [N, D, T, H] is reshaped to [N, T, D * H].
        value = op.Reshape(op.Transpose(every, [0, 2, 1, 3]), [0, 0, -1], special_zero=True)
    joined = [op.Concat(*found, axis=1) if len(found) > 1 else found[0] for found in last]
    results = [value, *joined]
    if time_major:
        results = [op.Transpose(each, [1, 0, 2]) for each in results]
    return [*results, *[None] * (3 - len(results))][: node.result_count]


def sequence_lengths(node: LoweringNode, op: OpBuilder, data: SSAValue) -> SSAValue:
    """The lengths of the sequences [N]; T for each sequence if the node has no operand for them."""
    if node.op.KIND == "CudnnRNNV3":
        return op.convert(node.operand(4), si32)
    return op.Broadcast(op.convert(dimension_list(op, data, 1), si32), dimension_list(op, data, 0))
