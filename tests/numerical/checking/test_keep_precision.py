"""Marked operations on OpenVINO Runtime: the marks are read, and the CPU plugin computes the operations in f32."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import openvino.passes
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from tests.numerical.processors import processor_features
from tests.unit.checking.overflowing_models import MODELS

NEEDS_BF16 = pytest.mark.skipif("avx512_bf16" not in processor_features(), reason="the runtime computes in f32 on other processors")
RNG = np.random.default_rng(5)


def outputs(path: Path, inputs: Mapping[str, Any], hint: str) -> tuple[list[Any], set[str]]:
    """The outputs of an IR under a hint of precision, and the kinds of layers that were executed in bf16."""
    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": hint})
    results = compiled(dict(inputs))
    information = [each.get_rt_info() for each in compiled.get_runtime_model().get_ops()]
    reduced = {each["layerType"].astype(str) for each in information if each["runtimePrecision"].astype(str) == "bf16"}
    return [np.array(results[index]) for index in range(len(compiled.outputs))], reduced - {"Reorder", "Convert"}


def distance(actual: Any, expected: Any) -> float:
    return float(np.max(np.abs(actual - expected)) / np.max(np.abs(expected)))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_automatic_marks_is_right_under_each_hint(name: str, tmp_path: Path) -> None:
    model, inputs, _, _ = MODELS[name]()
    check = moir.check(model, [inputs])
    path = tmp_path / "m.xml"
    moir.save_model(moir.convert_model(model, keep_precision=check.precision.keep), path)
    marked = [op for op in openvino.Core().read_model(path).get_ops() if "DisablePrecisionConversion_0" in op.get_rt_info()]
    # A layer must not have the name of an output.
    assert {*check.precision.keep} <= {op.get_friendly_name().removesuffix("_1") for op in marked}
    (expected,), _ = outputs(path, inputs, "f32")
    assert np.isfinite(expected).all()
    for hint in ("f16", "bf16"):
        assert distance(outputs(path, inputs, hint)[0][0], expected) < 0.02


@pytest.mark.parametrize("name", ["t5_feed_forward", "masked_softmax", "linear_attention"])
def test_the_reference_of_the_runtime_overflows_in_f16(name: str) -> None:
    """The findings are not those of moir alone: the runtime's own definitions in f16 have no finite result either."""
    model, inputs, _, _ = MODELS[name]()
    network = moir.to_openvino(moir.convert_model(model))
    manager = openvino.passes.Manager()
    manager.register_pass(openvino.passes.ConvertFP32ToFP16())
    manager.run_passes(network)
    tensors = [openvino.Tensor(inputs[port.any_name].astype(np.float16)) for port in network.inputs]
    results = [openvino.Tensor(port.get_element_type(), port.get_shape()) for port in network.outputs]
    assert network.evaluate(results, tensors)
    assert not np.isfinite(results[0].data).all()


def weight(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


PRODUCTS = {
    "a bias": ([("MatMul", "x w0", "m"), ("Add", "m b", "y")], [2, 8, 16], {"w0": weight(16, 16), "b": weight(16)}),
    "a scale": ([("MatMul", "x w0", "m"), ("Mul", "m b", "y")], [2, 8, 16], {"w0": weight(16, 16), "b": weight(16)}),
    "a sum": (
        [("Conv", "x w0", "a"), ("Conv", "a w1", "c"), ("Add", "c a", "sum"), ("Relu", "sum", "y")],
        [1, 4, 8, 8],
        {"w0": weight(4, 4, 1, 1), "w1": weight(4, 4, 3, 3)[..., 1:2, 1:2].copy()},
    ),
    "a difference": (
        [("Conv", "x w0", "a"), ("Conv", "a w1", "c"), ("Sub", "c a", "y")],
        [1, 4, 8, 8],
        {"w0": weight(4, 4, 1, 1), "w1": weight(4, 4, 1, 1)},
    ),
}


@NEEDS_BF16
@pytest.mark.parametrize(("nodes", "shape", "weights"), PRODUCTS.values(), ids=PRODUCTS)
def test_marked_products_are_computed_in_f32(nodes: Any, shape: Any, weights: Any, tmp_path: Path) -> None:
    """With a bias, a scale or a sum, which the plugin merges with them: `separate-kept-products`."""
    graph = helper.make_graph(
        [helper.make_node(kind, operands.split(), [output], output) for kind, operands, output in nodes],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = {"x": weight(*shape)}
    products = [output for kind, _, output in nodes if kind in ("MatMul", "Conv")]
    errors: list[float] = []
    for kept in ([], products[-1:], [*products, "y"]):
        moir.save_model(moir.convert_model(model, keep_precision=kept), tmp_path / "m.xml")
        (expected,), _ = outputs(tmp_path / "m.xml", x, "f32")
        (actual,), reduced = outputs(tmp_path / "m.xml", x, "bf16")
        errors.append(distance(actual, expected))
    assert errors[0] > 5e-4
    assert errors[0] > errors[1]
    assert errors[2] < 1e-5
    assert not {"FullyConnected", "Convolution"} & reduced
