"""A user's graph squeezes without saying which axes, and what reads the result says how many are left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.onnx.exported_graphs import ExportedGraph
from tests.numerical.onnx.exported_graphs import check as check_onnx
from tests.numerical.tensorflow.conversion import check

RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.uniform(-1, 1, (4, 3)).astype(np.float32)
POOLED = [RANDOM.uniform(-1, 1, shape).astype(np.float32) for shape in ((2, 4, 1, 1), (3, 4, 1, 1))]


@pytest.mark.parametrize("opset", [12, 17])
def test_pooled_images(tmp_path: Path, opset: int) -> None:
    """As paddle2onnx writes it after a pooling: Gemm reads a matrix."""
    graph = ExportedGraph()
    graph.node("Gemm", graph.node("Squeeze", "x"), graph.weight(MATRIX), graph.weight(MATRIX[0]), result="y")
    model = graph.model({"x": (np.float32, ["batch", 4, "h", "w"])}, ["y"], opset=opset)
    check_onnx(model, [{"x": each} for each in POOLED], tmp_path)


def test_tensorflow() -> None:
    def build(x: Any) -> Any:
        return tf.raw_ops.MatMul(a=tf.squeeze(x), b=MATRIX)

    check(build, {"x": POOLED[0].transpose(0, 2, 3, 1)}, forms=("static", "dynamic"))
