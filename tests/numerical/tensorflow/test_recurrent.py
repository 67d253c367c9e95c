"""Recurrent cells and sequences of TensorFlow against TensorFlow itself, those of cuDNN against their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import build, check, convert_graph

raw = tf.raw_ops

STEPS, BATCH, INPUT, HIDDEN = 4, 2, 3, 5


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(sum(shape) + seed).standard_normal(shape).astype(np.float32) * np.float32(0.7)


def lstm_operands() -> dict[str, Array]:
    peepholes = {f"wc{gate}": normal(HIDDEN, seed=index) for index, gate in enumerate("ifo")}
    return {"w": normal(INPUT + HIDDEN, 4 * HIDDEN), **peepholes, "b": normal(4 * HIDDEN)}


STATES = {"state": normal(BATCH, HIDDEN), "hidden": normal(BATCH, HIDDEN, seed=1)}
EVERY = tuple(range(7))


@pytest.mark.parametrize(
    ("clip", "peephole", "used", "operations"),
    [(-1.0, False, (1, 6), 1), (-1.0, False, EVERY, 13), (0.4, True, EVERY, 20), (0.4, False, (6,), 14)],
)
def test_lstm_cell(clip: float, peephole: bool, used: tuple[int, ...], operations: int) -> None:
    def cell(x: tf.Tensor, state: tf.Tensor, hidden: tf.Tensor) -> list[tf.Tensor]:
        actual = raw.LSTMBlockCell(
            x=x, cs_prev=state, h_prev=hidden, **lstm_operands(), forget_bias=0.5, cell_clip=clip, use_peephole=peephole
        )
        return [actual[index] for index in used]

    check(cell, {"x": normal(BATCH, INPUT), **STATES}, operations=operations)


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("count", [STEPS, 2])
@pytest.mark.parametrize(("clip", "peephole", "used"), [(-1.0, False, (6,)), (-1.0, False, (1, 6)), (0.4, True, EVERY)])
def test_lstm_of_sequences(version: str, count: int, clip: float, peephole: bool, used: tuple[int, ...]) -> None:
    forget = {} if version else {"forget_bias": 0.5}

    def sequence(x: tf.Tensor, state: tf.Tensor, hidden: tf.Tensor) -> list[tf.Tensor]:
        actual = getattr(raw, f"BlockLSTM{version}")(
            seq_len_max=np.int64(count),
            x=x,
            cs_prev=state,
            h_prev=hidden,
            **lstm_operands(),
            cell_clip=clip,
            use_peephole=peephole,
            **forget,
        )
        # TensorFlow leaves the gates of steps that it does not compute undefined.
        return [actual[index] for index in used if count == STEPS or index in (1, 6)]

    check(sequence, {"x": normal(STEPS, BATCH, INPUT), **STATES}, forms=("static", "dynamic"))


def test_lstm_of_all_steps() -> None:
    """The number of steps is computed from the data, so there is nothing to cut off."""

    def sequence(x: tf.Tensor, state: tf.Tensor, hidden: tf.Tensor) -> tf.Tensor:
        steps = tf.shape(x, tf.int64)[0]
        return raw.BlockLSTMV2(seq_len_max=steps, x=x, cs_prev=state, h_prev=hidden, **lstm_operands())[6]

    check(sequence, {"x": normal(STEPS, BATCH, INPUT), **STATES}, forms=("static", "dynamic"), operations=10)


@pytest.mark.parametrize(("used", "operations"), [((3,), 1), ((0, 1, 2, 3), 14)])
def test_gru_cell(used: tuple[int, ...], operations: int) -> None:
    weights = {
        "w_ru": normal(INPUT + HIDDEN, 2 * HIDDEN),
        "w_c": normal(INPUT + HIDDEN, HIDDEN),
        "b_ru": normal(2 * HIDDEN),
        "b_c": normal(HIDDEN),
    }

    def cell(x: tf.Tensor, hidden: tf.Tensor) -> list[tf.Tensor]:
        actual = raw.GRUBlockCell(x=x, h_prev=hidden, **weights)
        return [actual[index] for index in used]

    check(cell, {"x": normal(BATCH, INPUT), "hidden": STATES["hidden"]}, operations=operations)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def step(mode: str, x: Array, states: list[Array], weights: tuple[Array, Array, Array, Array]) -> list[Array]:
    """A step of a network of one direction; weights [gates, H, I], [gates, H, H] and two biases [gates, H], in cuDNN's order of gates."""
    inputs, recurrence, bias, other = weights
    a = np.einsum("ni,ghi->gnh", x, inputs) + bias[:, None]
    b = np.einsum("ni,ghi->gnh", states[0], recurrence) + other[:, None]
    if mode == "lstm":
        entrance, forget, candidate, out = a + b
        state = sigmoid(forget) * states[1] + sigmoid(entrance) * np.tanh(candidate)
        return [sigmoid(out) * np.tanh(state), state]
    if mode == "gru":
        reset, update = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        return [(1 - update) * np.tanh(a[2] + reset * b[2]) + update * states[0]]
    return [np.maximum(a[0] + b[0], 0) if mode == "rnn_relu" else np.tanh(a[0] + b[0])]


def network(mode: str, x: Array, states: list[Array], params: Array, layers: int, directions: int, lengths: list[int]) -> list[Array]:
    """The formulas of cuDNN's networks: time first, states [L * D, N, H]."""
    gates = {"lstm": 4, "gru": 3}.get(mode, 1)
    hidden, place = states[0].shape[2], 0
    widths = [x.shape[2]] + [directions * hidden] * (layers - 1)

    def taken(*shape: int) -> Array:
        nonlocal place
        place += int(np.prod(shape))
        return params[place - int(np.prod(shape)) : place].reshape(shape)

    matrices = [(taken(gates, hidden, width), taken(gates, hidden, hidden)) for width in widths for _ in range(directions)]
    weights = [(*pair, taken(gates, hidden), taken(gates, hidden)) for pair in matrices]
    last = [state.copy() for state in states]
    for layer in range(layers):
        joined = np.zeros((x.shape[0], x.shape[1], directions * hidden), np.float32)
        for direction in range(directions):
            number = layer * directions + direction
            for batch, length in enumerate(lengths):
                current = [state[number, batch : batch + 1] for state in states]
                for time in range(length)[:: -1 if direction else 1]:
                    current = step(mode, x[time, batch : batch + 1], current, weights[number])
                    joined[time, batch, direction * hidden : (direction + 1) * hidden] = current[0]
                for state, value in zip(last, current, strict=True):
                    state[number, batch] = value[0]
        x = joined
    return [x, *last]


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_relu", "rnn_tanh"])
@pytest.mark.parametrize(("layers", "directions", "time_major"), [(1, 1, True), (2, 2, True), (2, 1, False)])
def test_networks_of_cudnn(mode: str, layers: int, directions: int, time_major: bool) -> None:
    """The last case has sequences of different lengths."""
    gates = {"lstm": 4, "gru": 3}.get(mode, 1)
    widths = [INPUT] + [directions * HIDDEN] * (layers - 1)
    params = normal(sum(directions * gates * HIDDEN * (width + HIDDEN + 2) for width in widths)) * np.float32(0.5)
    lengths = [STEPS, STEPS] if time_major else [STEPS, 2]
    x = normal(STEPS, BATCH, INPUT)
    states = [normal(layers * directions, BATCH, HIDDEN, seed=index) for index in range(2 if mode == "lstm" else 1)]
    expected = network(mode, x, states, params, layers, directions, lengths)

    def swapped(values: list[Array]) -> list[Array]:
        return values if time_major else [np.ascontiguousarray(value.swapaxes(0, 1)) for value in values]

    common = {"rnn_mode": mode, "direction": "bidirectional" if directions == 2 else "unidirectional", "is_training": False}

    def built(x: tf.Tensor, **given: tf.Tensor) -> tuple[tf.Tensor, ...]:
        operands: dict[str, Any] = {"input": x, "input_h": given["state0"], "input_c": given.get("state1", np.zeros((1, 1, 1), np.float32))}
        if time_major:
            actual = raw.CudnnRNNV2(**operands, params=params, **common)
        else:
            actual = raw.CudnnRNNV3(**operands, params=params, sequence_lengths=np.array(lengths, np.int32), time_major=False, **common)
        return tuple(actual[: 1 + len(states)])

    inputs = {"x": swapped([x])[0], **{f"state{index}": state for index, state in enumerate(swapped(states))}}
    check(built, inputs, expected=swapped(expected), fixed=list(inputs), forms=("static",))


def test_weights_of_another_length_are_refused(tmp_path: Any) -> None:
    state = np.zeros((1, BATCH, HIDDEN), np.float32)
    graph, _ = build(
        lambda x: raw.CudnnRNN(input=x, input_h=state, input_c=state, params=normal(17), is_training=False)[0],
        {"x": normal(STEPS, BATCH, INPUT)},
    )
    with pytest.raises(ConversionError, match="17 weights"):
        convert_graph(graph, tmp_path)


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize(("mode", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1)])
def test_weights_of_cudnn_put_together_and_taken_apart(mode: str, gates: int, version: str) -> None:
    widths = [INPUT, 2 * HIDDEN]
    matrices = [
        normal(HIDDEN, columns, seed=gate) for width in widths for _ in range(2) for columns in (width, HIDDEN) for gate in range(gates)
    ]
    biases = [normal(HIDDEN, seed=index) for index in range(len(matrices))]
    params = np.concatenate([each.ravel() for each in (*matrices, *biases)])
    common: dict[str, Any] = {"num_layers": 2, "num_units": HIDDEN, "input_size": INPUT, "rnn_mode": mode, "direction": "bidirectional"}
    counts = {"num_params_weights": len(matrices), "num_params_biases": len(biases)} if version else {"num_params": len(matrices)}

    def joined(**tensors: tf.Tensor) -> tf.Tensor:
        values = list(tensors.values())
        actual = getattr(raw, f"CudnnRNNCanonicalToParams{version}")
        return actual(weights=values[: len(matrices)], biases=values[len(matrices) :], **common)

    def parted(params: tf.Tensor) -> list[tf.Tensor]:
        actual = getattr(raw, f"CudnnRNNParamsToCanonical{version}")(params=params, **counts, **common)
        return [*actual.weights, *actual.biases]

    inputs = {f"part{index}": each for index, each in enumerate((*matrices, *biases))}
    check(joined, inputs, expected=[params], forms=("static", "dynamic"))
    check(parted, {"params": params}, expected=[*matrices, *biases], forms=("static", "dynamic"))
    check(
        lambda x: raw.CudnnRNNParamsSize(**common, T=tf.float32, S=tf.int32) + 0 * tf.cast(x[:1], tf.int32),
        {"x": params},
        expected=[np.array([params.size], np.int32)],
    )


def test_a_network_whose_weights_are_put_together() -> None:
    gates, state, x = 4, normal(1, BATCH, HIDDEN), normal(STEPS, BATCH, INPUT)
    matrices = [normal(HIDDEN, columns, seed=gate) for columns in (INPUT, HIDDEN) for gate in range(gates)]
    biases = [normal(HIDDEN, seed=index) for index in range(2 * gates)]
    params = np.concatenate([each.ravel() for each in (*matrices, *biases)])

    def built(x: tf.Tensor) -> tf.Tensor:
        vector = raw.CudnnRNNCanonicalToParams(num_layers=1, num_units=HIDDEN, input_size=INPUT, weights=matrices, biases=biases)
        return raw.CudnnRNN(input=x, input_h=state, input_c=state, params=vector, is_training=False)[0]

    expected = network("lstm", x, [state, state], params, 1, 1, [STEPS] * BATCH)
    check(built, {"x": x}, expected=expected[:1], forms=("static",))


def test_projections_of_cudnn_are_refused() -> None:
    with pytest.raises(ConversionError, match="with its attributes"):
        check(
            lambda x: raw.CudnnRNNParamsSize(num_layers=1, num_units=4, input_size=3, num_proj=2, T=tf.float32, S=tf.int32) + x,
            {"x": np.array(3, np.int32)},
            expected=[np.zeros(1, np.int32)],
            forms=("static",),
        )
