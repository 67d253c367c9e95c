"""A user quantizes a speech model by onnxruntime.quantization.quantize_dynamic, and its LSTM has weights of 8 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.numerical.onnx.exported_graphs import MICROSOFT, ExportedGraph, check
from tests.numerical.processors import NEEDS_WIDE_SUMS


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", [pytest.param(np.int8, marks=NEEDS_WIDE_SUMS), np.uint8])
def test_quantized_recurrent_network(tmp_path: Path, per_channel: bool, kind: type) -> None:
    random, graph = np.random.default_rng(0), ExportedGraph()
    middle = 128 if kind is np.uint8 else 0
    weights = [(random.integers(-100, 100, (2, rows, 16)) + middle).astype(kind) for rows in (3, 4)]
    shape = (2, 16) if per_channel else (2,)
    scales = [random.uniform(0.005, 0.01, shape).astype(np.float32) for _ in weights]
    zeros = np.full(shape, middle, kind)
    quantization = [graph.weight(each) for scale in scales for each in (scale, zeros)]
    bias = graph.weight(random.uniform(-1, 1, (2, 32)).astype(np.float32))
    operands = ["x", *(graph.weight(each) for each in weights), bias, "", "", "", "", *quantization]
    graph.node("DynamicQuantizeLSTM", *operands, result="y", domain=MICROSOFT, hidden_size=4, direction="bidirectional")
    data = random.uniform(-1, 1, (5, 2, 3)).astype(np.float32)
    [note] = check(graph.model({"x": (np.float32, ["steps", "batch", 3])}, ["y"]), [{"x": data}], tmp_path, atol=0.03)
    assert "the data and states stay floats" in note
