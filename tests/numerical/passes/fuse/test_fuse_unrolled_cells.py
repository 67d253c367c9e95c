"""LSTM and GRU whose steps are written out, as PyTorch exports loops over cells, and forms that are none."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import moir
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import core

RANDOM = np.random.default_rng(7)
BATCH, INPUT, HIDDEN, STEPS = 2, 4, 4, 3


def values(*shape):
    """Random f32 values."""
    return RANDOM.uniform(-0.7, 0.7, shape).astype(np.float32)


def gates(step, count):
    """Nodes that compute the gates of a step from its data and the state before it."""
    return [
        node("Gather", ["x", f"at{step}"], [f"x{step}"], axis=1),
        node("Gemm", [f"x{step}", "w", "b"], [f"own{step}"], transB=1),
        node("Gemm", [f"h{step}", "r", "d"], [f"rec{step}"], transB=1),
        *(
            node("Split", [f"{each}{step}"], [f"{each}{step}.{g}" for g in range(count)], axis=1, num_outputs=count)
            for each in ("own", "rec")
        ),
    ]


def lstm_step(step):
    names = [f"{letter}{step}" for letter in "ifgo"]
    sums = [node("Add", [f"own{step}.{g}", f"rec{step}.{g}"], [f"sum{step}.{g}"]) for g in range(4)]
    kinds = ("Sigmoid", "Sigmoid", "Tanh", "Sigmoid")
    return [
        *gates(step, 4),
        *sums,
        *(node(kind, [f"sum{step}.{g}"], [name]) for g, (kind, name) in enumerate(zip(kinds, names, strict=True))),
        node("Mul", [names[1], f"c{step}"], [f"kept{step}"]),
        node("Mul", [names[0], names[2]], [f"new{step}"]),
        node("Add", [f"kept{step}", f"new{step}"], [f"c{step + 1}"]),
        node("Tanh", [f"c{step + 1}"], [f"t{step}"]),
        node("Mul", [names[3], f"t{step}"], [f"h{step + 1}"]),
    ]


def gru_step(step):
    return [
        *gates(step, 3),
        *(node("Add", [f"own{step}.{g}", f"rec{step}.{g}"], [f"sum{step}.{g}"]) for g in range(2)),
        node("Sigmoid", [f"sum{step}.0"], [f"reset{step}"]),
        node("Sigmoid", [f"sum{step}.1"], [f"update{step}"]),
        node("Mul", [f"reset{step}", f"rec{step}.2"], [f"gated{step}"]),
        node("Add", [f"own{step}.2", f"gated{step}"], [f"sum{step}.2"]),
        node("Tanh", [f"sum{step}.2"], [f"new{step}"]),
        node("Sub", ["one", f"update{step}"], [f"rest{step}"]),
        node("Mul", [f"rest{step}", f"new{step}"], [f"entering{step}"]),
        node("Mul", [f"update{step}", f"h{step}"], [f"kept{step}"]),
        node("Add", [f"entering{step}", f"kept{step}"], [f"h{step + 1}"]),
    ]


def network(kind, order=range(STEPS)):
    """The nodes of all steps, inputs and constants; `order` says which entry of the data each step reads."""
    count, step = {"LSTM": (4, lstm_step), "GRU": (3, gru_step)}[kind]
    inputs = {"x": values(BATCH, STEPS, INPUT), "h0": values(BATCH, HIDDEN)} | ({"c0": values(BATCH, HIDDEN)} if kind == "LSTM" else {})
    constants = {
        "w": values(count * HIDDEN, INPUT),
        "r": values(count * HIDDEN, HIDDEN),
        "b": values(count * HIDDEN),
        "d": values(count * HIDDEN),
        "one": np.ones((), np.float32),
        "one_axis": np.array([1]),
        **{f"at{index}": np.array(entry) for index, entry in enumerate(order)},
    }
    nodes = [each for index in range(STEPS) for each in step(index)]
    nodes += [node("Unsqueeze", [f"h{index + 1}", "one_axis"], [f"u{index}"]) for index in range(STEPS)]
    return [*nodes, node("Concat", [f"u{index}" for index in range(STEPS)], ["y"], axis=1)], inputs, constants


def compared(nodes, inputs, constants, outputs, directory):
    """The kinds of operations in the IR of a network that computes what ONNX Runtime does."""
    model = build(nodes, inputs, constants=constants, outputs=outputs)
    path = directory / "model.onnx"
    path.write_bytes(model.SerializeToString())
    converted = moir.to_openvino(moir.convert_model(path))
    actual = core().compile_model(converted, "CPU")(inputs)
    for output, expected in zip(outputs, expected_results(model, inputs, "onnxruntime"), strict=True):
        np.testing.assert_allclose(actual[output], expected, rtol=1e-4, atol=1e-5)
    return Counter(op.get_type_name() for op in converted.get_ops())


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_steps(kind, order, tmp_path):
    actual = compared(*network(kind, order), ["y", "h3"], tmp_path)
    assert actual[f"{kind}Sequence"] == 1
    assert not actual["MatMul"]
    assert not actual["Tanh"]


def test_cell_state_in_between(tmp_path):
    assert not compared(*network("LSTM"), ["y", "c2"], tmp_path)["LSTMSequence"]


def test_data_of_the_state_before(tmp_path):
    nodes, inputs, constants = network("GRU")
    nodes = [node("Sin", ["h2"], ["x2"]) if each.output[0] == "x2" else each for each in nodes]
    assert compared(nodes, inputs, constants, ["y"], tmp_path)["GRUSequence"] == 0
