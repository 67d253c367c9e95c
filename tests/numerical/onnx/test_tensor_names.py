"""Tensor names after the whole pipeline: every output is found by its ONNX name, and whatever has a name has the value of that name.

A fusion must not leave the name of a tensor that no longer exists on another value.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir

Array = np.ndarray
Steps = tuple[tuple[str, str, str, dict[str, object]], ...]

RANDOM = np.random.default_rng(11)
IMAGE = {"x": (1, 2, 5, 5)}
WEIGHTS = {
    "filters": RANDOM.uniform(0.5, 1.5, (3, 2, 3, 3)).astype(np.float32),
    "scale": RANDOM.uniform(0.5, 1.5, (1, 3, 1, 1)).astype(np.float32),
    "shift": RANDOM.uniform(0.5, 1.5, (1, 3, 1, 1)).astype(np.float32),
    "low": np.array(-1, np.float32),
    "high": np.array(0.5, np.float32),
}

SCALED: Steps = (
    ("Conv", "x filters", "conv", {}),
    ("Add", "conv shift", "shifted", {}),
    ("Mul", "shifted scale", "scaled", {}),
    ("Relu", "scaled", "positive", {}),
    ("Clip", "positive low high", "limited", {}),
)
PRODUCT: Steps = (
    ("Transpose", "y", "yt", {"perm": [0, 2, 1]}),
    ("MatMul", "x yt", "product", {}),
    ("Transpose", "product", "turned", {"perm": [0, 2, 1]}),
)
BROADCAST: Steps = (
    ("Shape", "y", "shape", {}),
    ("Expand", "x shape", "wide", {}),
    ("Add", "wide y", "sum", {}),
)
SAME: Steps = (
    ("Relu", "x", "a", {}),
    ("Relu", "x", "b", {}),
    ("Identity", "b", "c", {}),
    ("Sigmoid", "c", "s", {}),
)

CASES: tuple[tuple[Steps, dict[str, tuple[int, ...]], str], ...] = (
    (SCALED, IMAGE, "limited"),
    (SCALED, IMAGE, "conv limited"),
    (SCALED, IMAGE, "limited shifted scaled positive conv"),
    (PRODUCT, {"x": (2, 3, 4), "y": (2, 5, 4)}, "turned"),
    (PRODUCT, {"x": (2, 3, 4), "y": (2, 5, 4)}, "turned yt product"),
    (BROADCAST, {"x": (3,), "y": (2, 3)}, "sum"),
    (BROADCAST, {"x": (3,), "y": (2, 3)}, "sum wide"),
    (SAME, {"x": (2, 3)}, "a b c s"),
)


def onnx_model(steps: Steps, inputs: dict[str, tuple[int, ...]], outputs: str) -> onnx.ModelProto:
    """A model whose inputs have an unknown first dimension where they have two or more."""
    nodes = [helper.make_node(kind, operands.split(), [result], **attributes) for kind, operands, result, attributes in steps]
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "names",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *shape[1:]] if len(shape) == 2 else shape)
            for name, shape in inputs.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs.split()],
        [numpy_helper.from_array(array, name) for name, array in WEIGHTS.items() if name in used],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def expected_values(steps: Steps, inputs: dict[str, tuple[int, ...]], arrays: dict[str, Array]) -> dict[str, Array]:
    """The value of every tensor of the ONNX model."""
    names = [result for _, _, result, _ in steps]
    model = onnx.shape_inference.infer_shapes(onnx_model(steps, inputs, " ".join(names)))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return {**WEIGHTS, **arrays, **dict(zip(names, session.run(names, arrays), strict=True))}


@pytest.mark.parametrize(("steps", "inputs", "outputs"), CASES, ids=[outputs for _, _, outputs in CASES])
def test_named_tensors(steps: Steps, inputs: dict[str, tuple[int, ...]], outputs: str, tmp_path: Path) -> None:
    arrays = {name: RANDOM.standard_normal(shape).astype(np.float32) for name, shape in inputs.items()}
    expected = expected_values(steps, inputs, arrays)
    path = tmp_path / "model.onnx"
    onnx.save(onnx_model(steps, inputs, outputs), path)
    model = moir.to_openvino(moir.convert_model(path))
    named = {name: port for op in model.get_ops() for port in op.outputs() for name in port.get_names()}
    assert set(outputs.split()) <= {name for port in model.outputs for name in port.get_names()}
    model.add_outputs([port for port in dict.fromkeys(named.values()) if port.get_node().get_type_name() != "Result"])
    actual = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(arrays)
    for name in named:
        assert actual[name].shape == expected[name].shape, name
        np.testing.assert_allclose(actual[name], expected[name], rtol=1e-4, atol=1e-5, err_msg=name)
