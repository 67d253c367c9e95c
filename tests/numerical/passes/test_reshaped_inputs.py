"""Models whose inputs the runtime reshapes compute what they compute when they are converted for the new sizes.

The lengths of sequences, initial states, the targets of Reshapes and Slices of a whole dimension depended on the sizes in
the file.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
import pytest
from onnx import helper

import moir
from moir.dialects.memory_map import Array
from tests.numerical.onnx.conversion import build, expected_results
from tests.numerical.runtime import core

ROOT = Path(__file__).parents[3]
RANDOM = np.random.default_rng(4)
HIDDEN = 4


def network(kind: str, direction: str) -> tuple[list[onnx.NodeProto], dict[str, Array]]:
    """A recurrent network with states of zeros, and its weights."""
    gates, directions = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], 2 if direction == "bidirectional" else 1
    shapes = {"w": (directions, gates * HIDDEN, 2), "r": (directions, gates * HIDDEN, HIDDEN), "b": (directions, 2 * gates * HIDDEN)}
    weights = {name: RANDOM.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return [helper.make_node(kind, ["x", *weights], ["y"], hidden_size=HIDDEN, direction=direction)], weights


def indices(*values: int) -> Array:
    return np.array(values, np.int64)


def node(kind: str, *constants: str, **attributes: Any) -> list[onnx.NodeProto]:
    return [helper.make_node(kind, ["x", *constants], ["y"], **attributes)]


CASES: dict[str, tuple[list[onnx.NodeProto], dict[str, Array], int, Sequence[Sequence[int]]]] = {
    **{
        f"{kind} {direction}": (*network(kind, direction), 14, [(3, 1, 2), (5, 1, 2), (3, 2, 2)])
        for kind in ("LSTM", "GRU", "RNN")
        for direction in ("forward", "bidirectional")
    },
    "softmax of several dimensions": (node("Softmax", axis=1), {}, 11, [(2, 3, 4), (2, 3, 6), (2, 5, 4), (5, 3, 4)]),
    "hardmax of several dimensions": (node("Hardmax", axis=1), {}, 11, [(2, 3, 4), (2, 3, 6), (2, 5, 4), (5, 3, 4)]),
    "slice": (node("Slice", "s", "e", "a"), {"s": indices(0), "e": indices(4), "a": indices(2)}, 14, [(2, 3, 4), (2, 3, 6), (2, 5, 4)]),
    "flatten": (node("Flatten", axis=2), {}, 14, [(2, 3, 4), (2, 5, 4), (2, 3, 6), (3, 3, 4)]),
    "one hot": (node("EyeLike"), {}, 14, [(2, 3), (4, 3), (2, 5)]),
}
"""Nodes with their constants, the operator set, and shapes of x: that of the file, and further ones."""


@pytest.mark.parametrize("name", CASES)
def test_inputs_of_other_sizes(tmp_path: Path, name: str) -> None:
    nodes, constants, opset, (first, *others) = CASES[name]

    def model(shape: Sequence[int]) -> onnx.ModelProto:
        return build(nodes, {"x": np.zeros(shape, np.float32)}, constants=constants, opset=opset)

    onnx.save(model(first), tmp_path / "m.onnx")
    moir.save_model(moir.convert_model(tmp_path / "m.onnx"), tmp_path / "m.xml")
    for shape in (first, *others):
        x = RANDOM.normal(size=shape).astype(np.float32)
        reshaped = core().read_model(tmp_path / "m.xml")
        reshaped.reshape(openvino.PartialShape(list(shape)))
        actual = core().compile_model(reshaped, "CPU").create_infer_request().infer([x])[0]
        [expected] = expected_results(model(shape), {"x": x}, "onnxruntime")
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


SAMPLES = [
    "examples/digits/digits.onnx",
    *(
        f"tests/fixtures/{name}"
        for name in (
            "caffe/classifier.caffemodel",
            "keras/functional.keras",
            "keras/sequential.h5",
            "paddle/classifier.pdmodel",
            "tensorflow/convolution.pbtxt",
            "tensorflow/saved_model_v2",
            "tflite/network.tflite",
        )
    ),
]


def test_each_dimension_of_samples_of_all_frameworks() -> None:
    command = [sys.executable, "benchmarks/reshaping_dimensions.py", *SAMPLES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert all(f"{sample} {{" in done.stdout for sample in SAMPLES)
    assert done.stdout.count("as converted") > len(SAMPLES)
