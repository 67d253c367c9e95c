"""Convolutions of parts of the channels in the runtime, with the normalization that follows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from tests.numerical.runtime import core

RANDOM = np.random.default_rng(3)


def mixed(parts: int, kernel: int, strides: list[int]) -> onnx.ModelProto:
    """A Split, a convolution of each part, a Concat and a normalization."""
    pieces, results = ([f"{name}{index}" for index in range(parts)] for name in ("piece", "result"))
    weights = {f"w{index}": RANDOM.normal(size=(6, 4, kernel, kernel)).astype(np.float32) for index in range(parts)}
    numbers = {name: RANDOM.uniform(0.5, 2, 6 * parts).astype(np.float32) for name in ("scale", "bias", "mean", "variance")}
    pads = [kernel // 2] * 4
    nodes = [
        helper.make_node("Split", ["x"], pieces, axis=1),
        *(
            helper.make_node("Conv", [piece, f"w{index}"], [result], pads=pads, strides=strides)
            for index, (piece, result) in enumerate(zip(pieces, results, strict=True))
        ),
        helper.make_node("Concat", results, ["joined"], axis=1),
        helper.make_node("BatchNormalization", ["joined", *numbers], ["y"]),
    ]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", ["n", 4 * parts, "h", "w"]), ("y", None))
    ]
    stored = [numpy_helper.from_array(value, name) for name, value in {**weights, **numbers}.items()]
    graph = helper.make_graph(nodes, "mixed", values[:1], values[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize(("parts", "kernel", "strides"), [(2, 1, [1, 1]), (3, 3, [2, 1]), (2, 5, [2, 2])])
def test_mixed_convolutions_are_one_of_groups(parts: int, kernel: int, strides: list[int], tmp_path: Path) -> None:
    onnx.save(mixed(parts, kernel, strides), tmp_path / "mixed.onnx")
    moir.save_model(moir.convert_model(tmp_path / "mixed.onnx"), tmp_path / "mixed.xml")
    model = core().read_model(tmp_path / "mixed.xml")
    kinds = [op.get_type_name() for op in model.get_ops()]
    assert kinds.count("GroupConvolution") == 1
    assert not {"Convolution", "Split", "Concat", "Multiply"} & set(kinds)
    x = RANDOM.normal(size=(2, 4 * parts, 9, 11)).astype(np.float32)
    actual = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    session = onnxruntime.InferenceSession(tmp_path / "mixed.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(actual, session.run(None, {"x": x})[0], rtol=1e-4, atol=1e-4)
