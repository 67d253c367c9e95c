"""A test of the lowering, for `pytest`; `lit` runs the test of the fusion."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir

EXTENSION = Path(__file__).parent.parent


def test_scaled_tanh(tmp_path):
    node = helper.make_node("ScaledTanh", ["x"], ["y"], domain="com.example", alpha=2.0, beta=0.5)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=imports, ir_version=9)
    onnx.save(model, tmp_path / "m.onnx")

    module = moir.convert_model(tmp_path / "m.onnx", extensions=[EXTENSION])

    assert "opset1.Tanh" in [op.name for op in module.walk()]
    openvino = pytest.importorskip("openvino")
    values = np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)
    # Some processors compute in bf16 unless they are asked for f32.
    network = openvino.compile_model(moir.to_openvino(module), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    result = network(values)[0]
    np.testing.assert_allclose(result, 2 * np.tanh(0.5 * values), rtol=1e-4)
