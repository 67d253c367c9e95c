"""Sequences in pieces, and in one piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper

import moir
from tests.numerical.onnx.conversion import build, node
from tests.numerical.runtime import core

BATCH, TIME, INPUT, HIDDEN = 2, 6, 3, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
RANDOM = np.random.default_rng(0)


def values(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def compile_model(path: Path, **options: Any) -> openvino.CompiledModel:
    return core().compile_model(moir.to_openvino(moir.convert_model(path, **options)), "CPU")


def in_pieces(request: openvino.InferRequest, inputs: dict[str, np.ndarray], axis: int, lengths: list[int]) -> np.ndarray:
    """The sequence of results for a sequence that is given in pieces."""
    results: list[np.ndarray] = []
    position = 0
    for length in lengths:
        piece = np.take(inputs["x"], np.arange(position, position + length), axis)
        results.append(request.infer({**inputs, "x": piece})[0].copy())
        position += length
    return np.concatenate(results, axis)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("keeps_initial", [False, True])
@pytest.mark.parametrize("time", [None, 1])
def test_recurrent_networks(tmp_path: Path, kind: str, keeps_initial: bool, time: int | None) -> None:
    rows = GATES[kind] * HIDDEN
    constants = {"w": values(1, rows, INPUT), "r": values(1, rows, HIDDEN), "b": values(1, 2 * rows), "axis": np.array([1])}
    nodes = [node(kind, ["x", "w", "r", "b", "", "h"], ["s"], name="net", hidden_size=HIDDEN), node("Squeeze", ["s", "axis"], ["y"])]
    inputs = {"x": values(TIME, BATCH, INPUT), "h": values(1, BATCH, HIDDEN)}
    onnx.save(build(nodes, inputs, constants=constants, form="dynamic", opset=14), tmp_path / "m.onnx")
    if time is not None:
        onnx.save(build(nodes, {**inputs, "x": inputs["x"][:time]}, constants=constants, opset=14), tmp_path / "step.onnx")
    whole = compile_model(tmp_path / "m.onnx")
    options = {"transform": "LowLatency2[use_const_initializer=False]"} if keeps_initial else {"low_latency": True}
    request = compile_model(tmp_path / ("m.onnx" if time is None else "step.onnx"), **options).create_infer_request()
    for batch in (BATCH, BATCH, *([5] if time is None else [])):
        inputs = {"x": values(TIME, batch, INPUT), "h": values(1, batch, HIDDEN)}
        given = inputs["h"] if keeps_initial else np.zeros_like(inputs["h"])
        expected = whole({"x": inputs["x"], "h": given})[0]
        results = in_pieces(request, inputs, 0, [2, 1, 3] if time is None else [1] * TIME)
        np.testing.assert_allclose(results, expected, rtol=1e-4, atol=1e-5)
        assert len(request.query_state()) == (2 if kind == "LSTM" else 1)
        request.reset_state()


def scan_model(length: int | None) -> onnx.ModelProto:
    """A Scan over the first dimension of x [length, 3]: a weighted sum of what was, and a counter of steps."""
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["state", "half"], ["less"]),
            helper.make_node("Add", ["less", "slice"], ["next"]),
            helper.make_node("Add", ["step", "one"], ["next_step"]),
            helper.make_node("Cast", ["next_step"], ["number"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["next", "number"], ["row"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [3]),
            helper.make_tensor_value_info("step", TensorProto.INT64, []),
            helper.make_tensor_value_info("slice", TensorProto.FLOAT, [3]),
        ],
        [
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [3]),
            helper.make_tensor_value_info("next_step", TensorProto.INT64, []),
            helper.make_tensor_value_info("row", TensorProto.FLOAT, [3]),
        ],
        [helper.make_tensor("half", TensorProto.FLOAT, [], [0.5]), helper.make_tensor("one", TensorProto.INT64, [], [1])],
    )
    graph = helper.make_graph(
        [helper.make_node("Scan", ["start", "count", "x"], ["last", "steps", "y"], name="scan", body=body, num_scan_inputs=1)],
        "model",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [length, 3]),
            helper.make_tensor_value_info("start", TensorProto.FLOAT, [3]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 3])],
        [helper.make_tensor("count", TensorProto.INT64, [], [0])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def expected_rows(x: np.ndarray, state: np.ndarray, lengths: list[int]) -> np.ndarray:
    """What the Scan computes of pieces: the sum goes on, the counter starts anew in each."""
    rows: list[np.ndarray] = []
    steps = [step for length in lengths for step in range(1, length + 1)]
    for slice_, step in zip(x, steps, strict=True):
        state = state * np.float32(0.5) + slice_
        rows.append(state * step)
    return np.array(rows)


@pytest.mark.parametrize("length", [None, 1])
@pytest.mark.parametrize("keeps_initial", [False, True])
def test_loops_over_slices(tmp_path: Path, length: int | None, keeps_initial: bool) -> None:
    onnx.save(scan_model(length), tmp_path / "m.onnx")
    options = {"transform": "LowLatency2[use_const_initializer=False]"} if keeps_initial else {"low_latency": True}
    model = moir.to_openvino(moir.convert_model(tmp_path / "m.onnx", **options))
    # The body of a loop of one iteration takes its place.
    loops = [op for op in model.get_ops() if op.get_type_name() in ("Loop", "TensorIterator")]
    assert len(loops) == (0 if length == 1 else 1)
    request = core().compile_model(model, "CPU").create_infer_request()
    inputs = {"x": values(5, 3), "start": values(3)}
    lengths = [2, 3] if length is None else [1] * 5
    start = inputs["start"] if keeps_initial else np.zeros(3, np.float32)
    for _ in range(2):
        results = in_pieces(request, inputs, 0, lengths)
        np.testing.assert_allclose(results, expected_rows(inputs["x"], start, lengths), rtol=1e-5, atol=1e-6)
        assert [state.name for state in request.query_state()] == ["scan/state"]
        request.reset_state()


def test_a_network_that_reads_both_ways_is_left_alone(tmp_path: Path) -> None:
    constants = {"w": values(2, 12, INPUT), "r": values(2, 12, HIDDEN)}
    nodes = [node("GRU", ["x", "w", "r"], ["y"], name="net", hidden_size=HIDDEN, direction="bidirectional")]
    onnx.save(build(nodes, {"x": values(TIME, BATCH, INPUT)}, constants=constants, opset=14), tmp_path / "m.onnx")
    module = moir.convert_model(tmp_path / "m.onnx", low_latency=True)
    assert "GRUSequence is left as it is, as it reads its sequence from the end" in str(module)
    assert not moir.to_openvino(module).get_sinks()
