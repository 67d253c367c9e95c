"""Operations of the domain com.microsoft, against ONNX Runtime."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.numerical.onnx.conversion import check, node
from tests.numerical.processors import NEEDS_WIDE_SUMS
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(10)
microsoft = partial(node, domain="com.microsoft")
RANKED = ("static", "dynamic")


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


X = random(2, 3, 8)


@pytest.mark.parametrize(
    ("kind", "bias", "operations"),
    [("Gelu", False, 1), ("FastGelu", False, 1), ("FastGelu", True, 2), ("BiasGelu", True, 2), ("QuickGelu", False, 1)],
)
def test_activation(kind: str, bias: bool, operations: int) -> None:
    model = [microsoft(kind, ["x", "b"] if bias else ["x"], ["y"])]
    check(model, {"x": X}, constants={"b": random(8)} if bias else None, operations=operations, atol=1e-3 if kind == "FastGelu" else 1e-5)


@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5}, {"transA": 1}, {"transB": 1}])
def test_fused_product(attributes: dict[str, Any]) -> None:
    a = random(2, 4, 3) if attributes.get("transA") else random(2, 3, 4)
    b = random(2, 5, 4) if attributes.get("transB") else random(2, 4, 5)
    check([microsoft("FusedMatMul", ["a", "b"], ["y"], **attributes)], {"a": a, "b": b}, operations=1 + ("alpha" in attributes))


@pytest.mark.parametrize(
    "attributes",
    [
        {"activation": "Relu"},
        {"activation": "LeakyRelu", "activation_params": [0.2]},
        {"activation": "Clip", "activation_params": [-1.0, 1.0]},
    ],
)
def test_fused_convolution(attributes: dict[str, Any]) -> None:
    model = [microsoft("FusedConv", ["x", "w", "b"], ["y"], pads=[1, 1, 1, 1], **attributes)]
    check(model, {"x": random(1, 2, 5, 5)}, constants={"w": random(3, 2, 3, 3), "b": random(3)}, operations=3)


def test_fused_general_product() -> None:
    model = [microsoft("FusedGemm", ["a", "b", "c"], ["y"], activation="LeakyRelu", activation_alpha=0.3)]
    check(model, {"a": random(3, 4)}, constants={"b": random(4, 5), "c": random(5)}, operations=3)


def test_skip_layer_normalization() -> None:
    constants = {"gamma": random(8), "beta": random(8), "bias": random(8)}
    model = [microsoft("SkipLayerNormalization", ["x", "s", *constants], ["y", "", "", "sum"], epsilon=1e-5)]
    check(model, {"x": X, "s": random(2, 3, 8)}, constants=constants, operations=5)


def test_skip_simplified_layer_normalization() -> None:
    constants = {"gamma": random(8), "bias": random(8)}
    model = [microsoft("SkipSimplifiedLayerNormalization", ["x", "s", *constants], ["y", "", "", "sum"], epsilon=1e-5)]
    check(model, {"x": X, "s": random(2, 3, 8)}, constants=constants, operations=8)


def test_simplified_layer_normalization() -> None:
    check([node("SimplifiedLayerNormalization", ["x", "g"], ["y"])], {"x": X}, constants={"g": random(8)}, opset=17, operations=6)


def test_embed_layer_normalization() -> None:
    inputs = {"ids": np.array([[1, 2, 0], [3, 4, 4]], np.int32), "segments": np.array([[0, 0, 1], [0, 1, 1]], np.int32)}
    constants = {"words": random(5, 8), "places": random(6, 8), "table": random(2, 8), "gamma": random(8), "beta": random(8)}
    mask = {"mask": np.array([[1, 1, 0], [1, 1, 1]], np.int32)}
    model = [microsoft("EmbedLayerNormalization", [*inputs, *constants, "mask"], ["y", "lengths"], epsilon=1e-5)]
    check(model, {**inputs, **mask}, constants=constants, forms=RANKED)


@pytest.mark.parametrize("mask", [None, np.array([[1, 1, 1], [1, 1, 0]], np.int32), np.array([3, 2], np.int32)])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention(mask: Array | None, unidirectional: int) -> None:
    constants = {"w": random(8, 24), "b": random(24)}
    inputs = {"x": X} if mask is None else {"x": X, "m": mask}
    model = [
        microsoft("Attention", ["x", "w", "b", *(["m"] if mask is not None else [])], ["y"], num_heads=2, unidirectional=unidirectional)
    ]
    check(model, inputs, constants=constants, forms=RANKED)


def test_attention_with_a_past() -> None:
    inputs = {"x": X, "past": random(2, 2, 2, 5, 4)}
    model = [microsoft("Attention", ["x", "w", "b", "", "past"], ["y", "present"], num_heads=2, unidirectional=1)]
    check(model, inputs, constants={"w": random(8, 24), "b": random(24)}, forms=RANKED)


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_multi_head_attention(mask: bool, bias: bool) -> None:
    inputs = {"q": X, "k": random(2, 5, 8), "v": random(2, 5, 8)}
    names = ["q", "k", "v", "b" if bias else "", "m" if mask else ""]
    if mask:
        inputs["m"] = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    constants = {"b": random(24)} if bias else None
    check([microsoft("MultiHeadAttention", names, ["y"], num_heads=2)], inputs, constants=constants, forms=RANKED)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("positions", [np.array([2], np.int64), np.array([[0, 1, 2], [3, 4, 5]], np.int64)])
def test_rotary_embedding(interleaved: int, positions: Array) -> None:
    inputs = {"x": random(2, 4, 3, 8), "p": positions}
    model = [microsoft("RotaryEmbedding", ["x", "p", "cos", "sin"], ["y"], interleaved=interleaved)]
    check(model, inputs, constants={"cos": random(9, 4), "sin": random(9, 4)}, forms=RANKED)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("depth", [32, 24])
def test_packed_product(zeros: bool, depth: int) -> None:
    rows, block = 6, 16
    blocks = -(-depth // block)
    constants = {
        "b": RANDOM.integers(0, 255, (rows, blocks, block // 2)).astype(np.uint8),
        "s": RANDOM.uniform(0.1, 1, rows * blocks).astype(np.float32),
        "z": RANDOM.integers(0, 255, rows * -(-blocks // 2)).astype(np.uint8),
    }
    if not zeros:
        del constants["z"]
    model = [microsoft("MatMulNBits", ["x", *constants], ["y"], K=depth, N=rows, bits=4, block_size=block)]
    check(model, {"x": random(2, depth)}, constants=constants, rtol=1e-3, atol=1e-3)


LEVELS = RANDOM.integers(0, 255, (1, 4, 6, 6)).astype(np.uint8)
PARAMETERS = {"s": np.array(0.03, np.float32), "z": np.array(120, np.uint8), "ys": np.array(0.05, np.float32), "yz": np.array(90, np.uint8)}


def close(model: list, inputs: dict[str, Array], constants: dict[str, Array]) -> None:
    """A level may be one off where the runtime rounds in another order: compared as floats."""
    model = [*model, node("Cast", ["y"], ["as_float"], to=TensorProto.FLOAT)]
    check(model, inputs, constants=constants, atol=1.01, forms=RANKED)


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("QLinearSigmoid", {}),
        ("QLinearLeakyRelu", {"alpha": 0.1}),
        ("QLinearGlobalAveragePool", {}),
        ("QLinearAveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("QLinearSoftmax", {"axis": 1, "opset": 13}),
    ],
)
def test_quantized(kind: str, attributes: dict[str, Any]) -> None:
    constants = dict(PARAMETERS)
    if kind in ("QLinearSigmoid", "QLinearSoftmax"):
        constants |= {"ys": np.array(1 / 256, np.float32), "yz": np.array(0, np.uint8)}
    close([microsoft(kind, ["x", "s", "z", "ys", "yz"], ["y"], **attributes)], {"x": LEVELS}, constants)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kind", ["QLinearLeakyRelu", "QLinearAdd"])
def test_quantized_without_zero_points(kind: str, dtype: type) -> None:
    """The result has the type of the data. ONNX Runtime, which allows it, ends the process."""
    x = np.arange(0, 112, 7).reshape(2, 8).astype(dtype)
    constants = {"s": np.array(0.5, np.float32), "ys": np.array(1, np.float32)}
    names = ["x", "s", "", "ys"] if kind == "QLinearLeakyRelu" else ["x", "s", "", "x", "s", "", "ys"]
    sums = x.astype(np.float32) * (0.5 if kind == "QLinearLeakyRelu" else 1)
    check([microsoft(kind, names, ["y"])], {"x": x}, constants=constants, forms=["static"], expected=[np.round(sums).astype(dtype)])


@pytest.mark.parametrize("kind", ["QLinearAdd", "QLinearMul"])
def test_quantized_binary(kind: str) -> None:
    close([microsoft(kind, ["a", "s", "z", "b", "s", "z", "ys", "yz"], ["y"])], {"a": LEVELS, "b": LEVELS[:, :, ::-1]}, PARAMETERS)


def test_quantized_concatenation() -> None:
    model = [microsoft("QLinearConcat", ["ys", "yz", "a", "s", "z", "b", "ys", "yz"], ["y"], axis=1)]
    close(model, {"a": LEVELS, "b": LEVELS}, PARAMETERS)


@pytest.mark.parametrize("floats", [False, True])
def test_quantized_general_product(floats: bool) -> None:
    constants = PARAMETERS | {
        "b": RANDOM.integers(-60, 60, (5, 4)).astype(np.int8),
        "bs": RANDOM.uniform(0.01, 0.03, 5).astype(np.float32),
        "bz": np.zeros(5, np.int8),
        "c": RANDOM.integers(-99, 99, 5).astype(np.int32),
    }
    names = ["a", "s", "z", "b", "bs", "bz", "c", *([] if floats else ["ys", "yz"])]
    close([microsoft("QGemm", names, ["y"], transB=1, alpha=1.0)], {"a": LEVELS[0, :3, :4, 0].copy()}, constants)


def test_integer_product() -> None:
    constants = {
        "b": RANDOM.integers(-60, 60, (4, 5)).astype(np.int8),
        "as": np.array(0.02, np.float32),
        "bs": np.array(0.03, np.float32),
    }
    model = [microsoft("MatMulIntegerToFloat", ["a", "b", "as", "bs"], ["y"])]
    check(model, {"a": LEVELS[0, :3, :4, 0].copy()}, constants=constants)


@pytest.mark.parametrize("kind", ["QuantizeLinear", "DequantizeLinear"])
def test_linear(kind: str) -> None:
    x = random(2, 3) if kind == "QuantizeLinear" else LEVELS
    check([microsoft(kind, ["x", "s", "z"], ["y"])], {"x": x}, constants={"s": PARAMETERS["s"], "z": PARAMETERS["z"]})


@pytest.mark.parametrize("dtype", [np.uint8, pytest.param(np.int8, marks=NEEDS_WIDE_SUMS)])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_product_with_dynamic_quantization(dtype: type, per_column: bool, bias: bool) -> None:
    shape = (5,) if per_column else ()
    constants = {
        "b": RANDOM.integers(0, 100, (8, 5)).astype(dtype),
        "scale": RANDOM.uniform(0.01, 0.02, shape).astype(np.float32),
        "zero": RANDOM.integers(0, 60, shape).astype(dtype),
    } | ({"bias": random(5)} if bias else {})
    check([microsoft("DynamicQuantizeMatMul", ["x", *constants], ["y"])], {"x": X}, constants=constants, atol=1e-3)
