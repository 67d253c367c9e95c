"""Models of full size: OpenVINO Runtime computes with the IR what ONNX Runtime computes with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import openvino

import moir
from tests.numerical.onnx import generated_models

Inputs = Mapping[str, np.ndarray]


def check(path: Path, samples: Sequence[Inputs], weights_bytes: int = 0) -> openvino.Model:
    """Convert a model, run it on each set of inputs and compare; the IR has at least so many bytes of weights."""
    xml = path.with_suffix(".xml")
    moir.save_model(moir.convert_model(path), xml)
    assert xml.with_suffix(".bin").stat().st_size >= weights_bytes
    model = openvino.Core().read_model(xml)
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for sample in samples:
        (expected,) = session.run(None, dict(sample))
        result = compiled(dict(sample))[0]
        assert result.shape == expected.shape
        assert np.max(np.abs(result - expected)) <= 1e-3 * np.max(np.abs(expected))
    return model


def test_resnet50(tmp_path: Path) -> None:
    onnx.save(generated_models.resnet50(), tmp_path / "resnet50.onnx")
    random = np.random.default_rng(1)
    samples = [{"image": random.random(shape, dtype=np.float32)} for shape in ((1, 3, 96, 128), (2, 3, 65, 64))]
    model = check(tmp_path / "resnet50.onnx", samples, weights_bytes=100_000_000)
    kinds = [op.get_type_name() for op in model.get_ops()]
    assert kinds.count("Convolution") == 53
    # The batch dimension and the spatial ones stay unknown.
    assert str(model.inputs[0].partial_shape) == "[?,3,?,?]"


def test_bert_with_external_data(tmp_path: Path) -> None:
    generated_models.save_with_external_data(generated_models.bert(), tmp_path / "bert.onnx")
    assert (tmp_path / "bert.onnx").stat().st_size < 1_000_000
    random = np.random.default_rng(2)
    samples = [
        {
            "tokens": random.integers(0, 2000, shape),
            "mask": (np.arange(shape[1]) < shape[1] - np.arange(shape[0])[:, None]).astype(np.int64),
        }
        for shape in ((1, 12), (3, 40))
    ]
    model = check(tmp_path / "bert.onnx", samples, weights_bytes=100_000_000)
    kinds = [op.get_type_name() for op in model.get_ops()]
    # The two products of an attention are part of the fused operation.
    assert (kinds.count("ScaledDotProductAttention"), kinds.count("MatMul")) == (4, 4 * 6)


def test_chain_of_many_operations(tmp_path: Path) -> None:
    onnx.save(generated_models.chain(1500), tmp_path / "chain.onnx")
    random = np.random.default_rng(3)
    check(tmp_path / "chain.onnx", [{"x": random.standard_normal((batch, 16), dtype=np.float32)} for batch in (1, 5)])
