"""Operations of the domain com.microsoft on elements, integers and dimensions.

Expected are the results of ONNX Runtime, or of numpy where its CPU has no kernel.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(12)
microsoft = partial(node, domain="com.microsoft")
RANKED = ("static", "dynamic")


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


X, SKIP, WIDE = random(2, 3, 8), random(2, 3, 8), random(2, 3, 16)
BIAS, MATRIX = random(8), random(8, 5)


def test_sum_with_bias() -> None:
    check([microsoft("BiasAdd", ["x", "b", "s"], ["y"])], {"x": X, "s": SKIP}, constants={"b": BIAS}, expected=[X + BIAS + SKIP])


@pytest.mark.parametrize("bias", [False, True])
def test_product_with_gelu(bias: bool) -> None:
    constants = {"w": MATRIX} | ({"b": random(5)} if bias else {})
    expected = gelu(X @ MATRIX + constants.get("b", np.float32(0))).astype(np.float32)
    check([microsoft("GemmFastGelu", ["x", *constants], ["y"])], {"x": X}, constants=constants, expected=[expected], atol=1e-3)


def test_split_gelu() -> None:
    bias = random(16)
    left, right = np.split(WIDE + bias, 2, -1)
    expected = (left * 0.5 * right * (1 + np.vectorize(math.erf)(right / np.sqrt(2)))).astype(np.float32)
    check([microsoft("BiasSplitGelu", ["x", "b"], ["y"])], {"x": WIDE}, constants={"b": bias}, expected=[expected], forms=RANKED)


@pytest.mark.parametrize(("axis", "shape"), [(2, (2, 1, 8)), (2, (1, 3, 8)), (1, (1, 3, 8))])
def test_softmax_with_bias(axis: int, shape: tuple[int, ...]) -> None:
    bias = random(*shape)
    e = np.exp((X + bias).reshape(*X.shape[:axis], -1))
    expected = (e / e.sum(-1, keepdims=True)).reshape(X.shape)
    check(
        [microsoft("BiasSoftmax", ["x", "b"], ["y"], axis=axis, is_inner_broadcast=int(shape[0] > 1))],
        {"x": X, "b": bias},
        expected=[expected],
    )


@pytest.mark.parametrize("attributes", [{}, {"activation_alpha": 1.702, "activation_beta": 1.0, "limit": 0.7}])
@pytest.mark.parametrize("is_one_value", [False, True])
def test_gated_swish(attributes: dict[str, Any], is_one_value: bool) -> None:
    gate, up = np.split(WIDE, 2, -1)
    limit = attributes.get("limit", np.inf)
    g, u = np.minimum(gate, limit), np.clip(up, -limit, limit)
    expected = g * sigmoid(attributes.get("activation_alpha", 1.0) * g) * (u + attributes.get("activation_beta", 0.0))
    inputs = {"x": WIDE} if is_one_value else {"gate": gate, "up": up}
    check([microsoft("SwiGLU", [*inputs], ["y"], **attributes)], inputs, expected=[expected.astype(np.float32)], forms=RANKED)


@pytest.mark.parametrize("scale", [None, np.array(0.3, np.float32)])
def test_scaled_silu(scale: Array | None) -> None:
    constants = {} if scale is None else {"scale": scale}
    check([microsoft("ScaledSiLU", ["x", *constants], ["y"], alpha=0.7)], {"x": X}, constants=constants)


def test_gated_sum() -> None:
    check([microsoft("GatedAdd", ["x", "s", "g"], ["y"])], {"x": X, "s": SKIP, "g": random(2, 3, 1)})


def test_gated_sum_with_projection() -> None:
    gate, weight = random(2, 3, 4), random(4, 1)
    expected = X + SKIP * sigmoid(gate @ weight)
    inputs = {"x": X, "s": SKIP, "g": gate}
    check([microsoft("GatedAdd", ["x", "s", "g", "w"], ["y"])], inputs, constants={"w": weight}, expected=[expected])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_gates_of_linear_attention(dtype: type) -> None:
    constants = {"dt": BIAS, "decay": -np.abs(BIAS)}
    inputs = {"a": X.astype(dtype), "b": SKIP.astype(dtype)}
    model = [microsoft("LinearAttentionGate", ["a", "dt", "decay", "b"], ["y", "z"])]
    check(model, inputs, constants=constants, atol=1e-3 if dtype == np.float16 else 1e-5)


def integers(dtype: type, *shape: int) -> Array:
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("zero_points", ["both", "second", "none"])
def test_product_of_integers(dtype: type, zero_points: str) -> None:
    a, b = integers(dtype, 3, 4), integers(dtype, 4)
    zeros = {"az": np.array(7, dtype), "bz": np.array(3, dtype)}
    names = ["a", "az" if zero_points == "both" else "", "b", *(["bz"] if zero_points != "none" else [])]
    shifts = [int(zeros[name]) if name in names else 0 for name in ("az", "bz")]
    total = np.int32 if dtype == np.int8 else np.uint32
    expected = ((a.astype(np.int32) - shifts[0]) * (b.astype(np.int32) - shifts[1])).astype(total)
    constants = {name: value for name, value in zeros.items() if name in names}
    check([microsoft("MulInteger", names, ["y"])], {"a": a, "b": b}, constants=constants, expected=[expected])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_sum_of_integers(dtype: type, keepdims: int) -> None:
    x = integers(dtype, 2, 300, 3)
    expected = x.sum((1,), np.uint32 if dtype == np.uint8 else np.int32, keepdims=bool(keepdims))
    check([microsoft("ReduceSumInteger", ["x"], ["y"], axes=[1], keepdims=keepdims)], {"x": x}, expected=[expected])


@pytest.mark.parametrize("attributes", [{}, {"isnan_only": 1}, {"isinf_only": 1}])
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, -np.inf])
def test_is_all_finite(attributes: dict[str, int], value: float) -> None:
    x = X.copy()
    x[1, 2, 3] = value
    is_wrong = np.isnan if "isnan_only" in attributes else np.isinf if "isinf_only" in attributes else lambda v: ~np.isfinite(v)
    expected = np.array(not is_wrong(x).any())
    model = [microsoft("IsAllFinite", ["s", "x"], ["y"], **attributes)]
    check(model, {"s": SKIP, "x": x}, expected=[expected])


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, 2])
def test_triangle(upper: int, k: int | None) -> None:
    constants = {} if k is None else {"k": np.array(k)}
    check([microsoft("Trilu", ["x", *constants], ["y"], upper=upper)], {"x": X}, constants=constants)


@pytest.mark.parametrize("attributes", [{}, {"mode": "reflect"}, {"mode": "edge"}])
def test_padding(attributes: dict[str, str]) -> None:
    constants: dict[str, Array] = {"pads": np.array([0, 1, 2, 0, 0, 1]), "value": np.array(1.5, np.float32)}
    check([microsoft("Pad", ["x", *constants], ["y"], **attributes)], {"x": X}, constants=constants)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
@pytest.mark.parametrize("delta", [None, 2])
def test_range(dtype: type, delta: int | None) -> None:
    inputs = {"start": np.array(1, dtype), "limit": np.array(8, dtype)}
    constants = {} if delta is None else {"delta": np.array(delta, dtype)}
    check([microsoft("Range", [*inputs, *constants], ["y"])], inputs, constants=constants)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_gather_of_points(dtype: type) -> None:
    indices = np.array([[0, 1], [1, 2]], dtype)
    check([microsoft("GatherND", ["x", "i"], ["y"])], {"x": X, "i": indices}, forms=["static"])


@pytest.mark.parametrize("axis", [np.array(1, np.int32), np.array(-1, np.int32)])
def test_expanded_dimensions(axis: Array) -> None:
    check([microsoft("ExpandDims", ["x", "axis"], ["y"])], {"x": X}, constants={"axis": axis}, forms=RANKED)


def test_distinct_elements() -> None:
    x = np.array([2, 1, 1, 3, 4, 3, 2.5], np.float32)
    check([microsoft("Unique", ["x"], ["y", "i", "n"])], {"x": x}, forms=RANKED)


def test_inverse() -> None:
    x = random(2, 4, 4) + 4 * np.eye(4, dtype=np.float32)
    check([microsoft("Inverse", ["x"], ["y"])], {"x": x}, forms=RANKED)


def test_embedding() -> None:
    indices = np.array([[0, 2], [1, 1]])
    check([microsoft("TorchEmbedding", ["w", "i"], ["y"])], {"i": indices}, constants={"w": MATRIX}, expected=[MATRIX[indices]])


@pytest.mark.parametrize("attributes", [{"dim": 2, "size": 3, "step": 2}, {"dim": -2, "size": 2}, {"size": 8}])
def test_windows(attributes: dict[str, int]) -> None:
    check([microsoft("UnfoldTensor", ["x"], ["y"], **attributes)], {"x": X}, forms=RANKED)


@pytest.mark.parametrize("attributes", [{}, {"mode": "nearest"}, {"align_corners": 1, "padding_mode": "border"}])
def test_sampled_grid(attributes: dict[str, Any]) -> None:
    inputs = {"x": random(1, 2, 5, 6), "g": RANDOM.uniform(-1, 1, (1, 3, 4, 2)).astype(np.float32)}
    check([microsoft("GridSample", ["x", "g"], ["y"], **attributes)], inputs, forms=RANKED)


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.INT64])
def test_identity(dtype: int) -> None:
    check(
        [node("Cast", ["x"], ["c"], to=dtype), microsoft("SampleOp", ["c"], ["y"])],
        {"x": X},
        expected=[X.astype("f4" if dtype == 1 else "i8")],
    )
