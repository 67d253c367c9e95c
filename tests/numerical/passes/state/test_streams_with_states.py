"""A user makes a streaming model stateful and fixes its batch, and chunk after chunk is right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import Array, core

PAIRS = "cache_in=cache_out,h_in=h_out,c_in=c_out"
HIDDEN = 6


def info(name: str, shape: Sequence[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def stream(folder: Path, batch: str = "B", state_batch: str = "B") -> Path:
    """Chunks x [B,4,T] go through a convolution with a cache [B,4,2], then through an LSTM with states [1,B,6]."""
    random = np.random.default_rng(4)
    weights = {
        "w": (5, 4, 3),
        "lw": (1, 4 * HIDDEN, 5),
        "lr": (1, 4 * HIDDEN, HIDDEN),
    }
    constants = [onnx.numpy_helper.from_array(random.uniform(-0.4, 0.4, shape).astype(np.float32), name) for name, shape in weights.items()]
    numbers = {"from": [-2], "to": [2**63 - 1], "axis": [2], "one": [1]}
    constants += [onnx.numpy_helper.from_array(np.array(value), name) for name, value in numbers.items()]
    nodes = [
        node("Concat", ["cache_in", "x"], ["joined"], axis=2),
        node("Conv", ["joined", "w"], ["conv"]),
        node("Slice", ["joined", "from", "to", "axis"], ["cache_out"]),
        node("Transpose", ["conv"], ["steps"], perm=[2, 0, 1]),
        node("LSTM", ["steps", "lw", "lr", "", "", "h_in", "c_in"], ["o", "h_out", "c_out"], hidden_size=HIDDEN),
        node("Squeeze", ["o", "one"], ["y"]),
    ]
    states = {"cache": [state_batch, 4, 2], "h": [1, state_batch, HIDDEN], "c": [1, state_batch, HIDDEN]}
    inputs = [info("x", [batch, 4, "T"]), *(info(f"{name}_in", shape) for name, shape in states.items())]
    outputs = [info("y", ["T", batch, HIDDEN]), *(info(f"{name}_out", shape) for name, shape in states.items())]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def expected(path: Path, chunks: Sequence[Array], batch: int) -> list[Array]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    shapes = {"cache_in": (batch, 4, 2), "h_in": (1, batch, HIDDEN), "c_in": (1, batch, HIDDEN)}
    states = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    actual: list[Array] = []
    for chunk in chunks:
        y, *following = map(np.asarray, session.run(None, {"x": chunk, **states}))
        states = dict(zip(states, following, strict=True))
        actual.append(y)
    return actual


SHAPES: list[dict[str, Any]] = [
    {"batch": 1},
    {"input": "x[1,4,8]"},
    {"input_shape": "[1,4,8]"},
    {"input_shape": "[1,4,8],[1,4,2],[1,1,6],[1,1,6]"},
]
"""What is said of the shapes so that the batch is 1."""


@pytest.mark.parametrize(
    ("state_batch", "options"), [("B", {}), ("B", {"batch": 2}), *((name, options) for name in ("B", "") for options in SHAPES)]
)
def test_chunks(tmp_path: Path, state_batch: str, options: dict[str, Any]) -> None:
    """The batch of the states has the name of that of the chunks, or none: then nothing says that both are the same."""
    batch = options.get("batch", 1)
    path = stream(tmp_path, state_batch=state_batch)
    moir.save_model(moir.convert_model(path, stateful=PAIRS, **options), tmp_path / "m.xml")
    request = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request()
    chunks = [np.random.default_rng(seed).uniform(-1, 1, (batch, 4, 8)).astype(np.float32) for seed in range(3)]
    for chunk, wanted in zip(chunks, expected(path, chunks, batch), strict=True):
        np.testing.assert_allclose(request.infer({"x": chunk})["y"], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pair", ["h_in=cache_out", "cache_in=h_out"])
def test_a_pair_that_does_not_fit(tmp_path: Path, pair: str) -> None:
    with pytest.raises(ConversionError, match=r"does not fit the output '.*' of shape \[.*\]"):
        moir.convert_model(stream(tmp_path), stateful=pair)
