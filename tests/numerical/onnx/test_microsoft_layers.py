"""Layers of the domain com.microsoft: normalization of groups and branches, biases of positions, quantized layers.

Expected are the results of ONNX Runtime, or of numpy where its CPU has no kernel.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(13)
microsoft = partial(node, domain="com.microsoft")
RANKED = ("static", "dynamic")


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def swish(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def group_normalized(x: Array, gamma: Array, beta: Array, groups: int, epsilon: float = 1e-5) -> Array:
    """Images [N, H, W, C], normalized over groups of channels."""
    parts = x.astype(np.float64).reshape(len(x), -1, groups, x.shape[-1] // groups)
    centred = parts - parts.mean((1, 3), keepdims=True)
    normal = centred / np.sqrt((centred**2).mean((1, 3), keepdims=True) + epsilon)
    return (normal.reshape(x.shape) * gamma + beta).astype(np.float32)


IMAGE, GAMMA, BETA = random(2, 3, 4, 6), random(6), random(6)


def channels_first(x: Array) -> Array:
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("activation", [0, 1])
@pytest.mark.parametrize("attributes", [{}, {"channels_last": 0}, {"epsilon": 0.1}])
def test_groups(activation: int, attributes: dict[str, Any]) -> None:
    y = group_normalized(IMAGE, GAMMA, BETA, 3, attributes.get("epsilon", 1e-5))
    y = swish(y) if activation else y
    is_last = attributes.get("channels_last", 1)
    inputs = {"x": IMAGE if is_last else channels_first(IMAGE)}
    model = [microsoft("GroupNorm", ["x", "g", "b"], ["y"], groups=3, activation=activation, **attributes)]
    check(model, inputs, constants={"g": GAMMA, "b": BETA}, expected=[y if is_last else channels_first(y)], forms=RANKED)


@pytest.mark.parametrize("shape", [(2, 3, 4, 6), (2, 1, 1, 6), (2, 6)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("channels_last", [0, 1])
def test_groups_of_a_sum(shape: tuple[int, ...], bias: bool, channels_last: int) -> None:
    constants = {"g": GAMMA, "b": BETA, **({"bias": random(6)} if bias else {})}
    skip = random(*shape)
    total = IMAGE + (skip if skip.ndim == 4 else skip[:, None, None]) + constants.get("bias", np.float32(0))
    y = swish(group_normalized(total, GAMMA, BETA, 2))
    names = ["x", "g", "b", "skip", *(["bias"] if bias else [])]
    model = [microsoft("SkipGroupNorm", names, ["y", "s"], groups=2, activation=1, channels_last=channels_last)]
    if channels_last:
        check(model, {"x": IMAGE, "skip": skip}, constants=constants, expected=[y, total], forms=RANKED)
        return
    inputs = {"x": channels_first(IMAGE), "skip": channels_first(skip) if skip.ndim == 4 else skip}
    check(model, inputs, constants=constants, expected=[channels_first(y), channels_first(total)], forms=RANKED)


@pytest.mark.parametrize("activation", ["silu", "sigmoid"])
@pytest.mark.parametrize("size", [8, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_gated_normalization(activation: str, size: int, dtype: type) -> None:
    inputs = {"x": random(2, 3, 8).astype(dtype), "g": random(2, 3, 8).astype(dtype)}
    model = [microsoft("GatedRMSNorm", ["x", "s", "g"], ["y"], activation=activation, epsilon=1e-4)]
    atol = 2e-3 if dtype == np.float16 else 1e-5
    check(model, inputs, constants={"s": random(size).astype(dtype)}, forms=["static"], atol=atol)


@pytest.mark.parametrize(
    ("shape", "branches", "scale"),
    [((2, 3, 4), 0, (4,)), ((2, 3, 4), 0, (3, 4)), ((2, 3, 4), 0, (12,)), ((2, 5, 12), 3, (12,)), ((2, 5, 12), 3, (4,)), ((2, 12), 3, ())],
)
def test_normalized_branches(shape: tuple[int, ...], branches: int, scale: tuple[int, ...]) -> None:
    constants = {"s": random(*scale)} if scale else {}
    attributes = {"num_branches": branches} if branches else {}
    check(
        [microsoft("BranchwiseRMSNorm", ["x", *constants], ["y"], **attributes)],
        {"x": random(*shape)},
        constants=constants,
        forms=["static"],
    )


def bucket(distance: int, count: int, largest: int, is_bidirectional: bool) -> int:
    """The bucket of T5 for the index of a key minus the index of a query, as transformers computes it."""
    first = 0
    if is_bidirectional:
        count //= 2
        first = count if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = -min(distance, 0)
    exact = count // 2
    if distance < exact:
        return first + distance
    large = exact + int(np.log(np.float32(distance / exact)) / np.float32(np.log(largest / exact)) * (count - exact))
    return first + min(large, count - 1)


@pytest.mark.parametrize("is_bidirectional", [False, True])
@pytest.mark.parametrize(("count", "largest"), [(32, 128), (8, 20)])
@pytest.mark.parametrize("is_constant", [False, True])
def test_bias_of_positions(is_bidirectional: bool, count: int, largest: int, is_constant: bool) -> None:
    heads, length = 3, 200
    by_head = random(heads, count)
    indices = np.array([[bucket(key - query, count, largest, is_bidirectional) for key in range(length)] for query in range(length)])
    lengths = {"n": np.array([length])}
    model = [microsoft("RelativePositionBias", ["t", "n", "n"], ["y"], max_distance=largest, is_bidirectional=int(is_bidirectional))]
    constants = {"t": by_head.reshape(count, heads), **(lengths if is_constant else {})}
    check(model, {} if is_constant else lengths, constants=constants, expected=[by_head[:, indices][None]], forms=RANKED)


LEVELS = RANDOM.integers(0, 255, (1, 4, 6, 6)).astype(np.uint8)
PARAMETERS = {"s": np.array(0.03, np.float32), "z": np.array(120, np.uint8), "ys": np.array(0.05, np.float32), "yz": np.array(90, np.uint8)}


def signed(array: Array) -> Array:
    """Unsigned integers of 8 bits as signed ones, with the same differences."""
    return (array.astype(np.int32) - 128).astype(np.int8) if array.dtype == np.uint8 else array


def close(model: list, inputs: dict[str, Array], constants: dict[str, Array], expected: list[Array] | None = None) -> None:
    """Quantized values may differ by 1 where the runtime rounds in another order: compared as floats."""
    model = [*model, node("Cast", ["y"], ["as_float"], to=TensorProto.FLOAT)]
    check(model, inputs, constants=constants, atol=1.01, forms=RANKED, expected=expected)


@pytest.mark.parametrize("change", [lambda x: x, signed])
def test_quantized_selection(change: Any) -> None:
    constants = {name: change(value) for name, value in PARAMETERS.items()}
    inputs = {"c": random(1, 1, 6, 6) > 0, "a": change(LEVELS), "b": change(LEVELS[:, :, ::-1].copy())}
    close([microsoft("QLinearWhere", ["c", "a", "s", "z", "b", "ys", "yz", "s", "z"], ["y"])], inputs, constants)


@pytest.mark.parametrize("change", [lambda x: x, signed])
@pytest.mark.parametrize(("axes", "keepdims"), [([2, 3], 1), ([1], 0), ([], 0)])
@pytest.mark.parametrize("zero", [True, False])
def test_quantized_mean(change: Any, axes: list[int], keepdims: int, zero: bool) -> None:
    constants = {name: change(value) for name, value in PARAMETERS.items()}
    if not zero:
        constants = {name: value for name, value in constants.items() if name not in ("z", "yz")}
    points = [int(constants[name]) if zero else 0 for name in ("z", "yz")]
    means = ((change(LEVELS).astype(np.float64) - points[0]) * 0.03).mean(tuple(axes) or None, keepdims=bool(keepdims))
    limits = np.iinfo(np.int8 if change is signed else np.uint8)
    expected = np.clip(np.round(means / 0.05) + points[1], limits.min, limits.max).astype(np.float32)
    names = ["a", "s", "z", "ys", "yz"] if zero else ["a", "s", "", "ys"]
    model = [microsoft("QLinearReduceMean", names, ["y"], keepdims=keepdims, **({"axes": axes} if axes else {"axes": list(range(4))}))]
    close(model, {"a": change(LEVELS)}, constants, [np.asarray(expected)])


@pytest.mark.parametrize("channels_last", [0, 1])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("per_channel", [False, True])
def test_quantized_convolution(channels_last: int, group: int, per_channel: bool) -> None:
    count = (4,) if per_channel else ()
    constants = PARAMETERS | {
        "w": RANDOM.integers(-60, 60, (4, 4 // group, 3, 2)).astype(np.int8),
        "ws": RANDOM.uniform(0.01, 0.02, count).astype(np.float32),
        "wz": np.zeros(count, np.int8),
        "b": RANDOM.integers(-500, 500, 4).astype(np.int32),
    }
    x = LEVELS if not channels_last else LEVELS.transpose(0, 2, 3, 1).copy()
    names = ["x", "s", "z", "w", "ws", "wz", "ys", "yz", "b"]
    attributes = {"channels_last": 1} if channels_last else {}
    model = [microsoft("QLinearConv", names, ["y"], group=group, pads=[1, 0, 1, 1], strides=[2, 1], kernel_shape=[3, 2], **attributes)]
    close(model, {"x": x}, constants)


@pytest.mark.parametrize(
    "attributes", [{}, {"dilation": 2}, {"activation": "silu"}, {"channels_last": 1}, {"channels_last": 1, "dilation": 3}]
)
@pytest.mark.parametrize("channels", [(4,), (2, 2)])
@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("weights", ["constants", "inputs"])
def test_causal_convolution(attributes: dict[str, Any], channels: tuple[int, ...], has_state: bool, weights: str) -> None:
    is_last = "channels_last" in attributes
    if len(channels) > 1 and not is_last:
        pytest.skip("channels have several dimensions only if they are last")
    reach = 2 * attributes.get("dilation", 1)
    inputs = {"x": random(2, 5, *channels) if is_last else random(2, 4, 5)}
    if has_state:
        inputs["past"] = random(2, reach, *channels) if is_last else random(2, 4, reach)
    filters = {"w": random(4, 1, 3), "b": random(4)}
    names = ["x", "w", "b", *(["past"] if has_state else [])]
    model = [microsoft("CausalConvWithState", names, ["y", "state"], **attributes)]
    if weights == "inputs":
        check(model, inputs | filters, forms=RANKED)
    else:
        check(model, inputs, constants=filters, forms=RANKED)


def test_causal_convolution_of_images() -> None:
    model = [microsoft("CausalConvWithState", ["x", "w"], ["y"], ndim=2)]
    with pytest.raises(ConversionError, match="ndim 2"):
        check(model, {"x": random(1, 2, 3, 4)}, constants={"w": random(2, 1, 3, 3)}, expected=[random(1)])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("attributes", [{"pads": [1, 0, 1, 1]}, {"strides": [2, 1], "ceil_mode": 1}, {"dilations": [2, 1]}])
def test_maxima_of_windows(dtype: type, attributes: dict[str, Any]) -> None:
    x = RANDOM.integers(0, 120, (1, 6, 5, 3)).astype(dtype)
    check([microsoft("NhwcMaxPool", ["x"], ["y"], kernel_shape=[2, 3], **attributes)], {"x": x}, forms=RANKED)


@pytest.mark.parametrize("summand", [False, True])
def test_fused_convolution_of_last_channels(summand: bool) -> None:
    """A convolution with windows of one element, which is a product."""
    w, b, z = random(5, 1, 1, 6), random(5), random(2, 3, 4, 5)
    expected = np.maximum(IMAGE @ w[:, 0, 0].T + b + (z if summand else 0), 0).astype(np.float32)
    inputs = {"x": IMAGE} | ({"z": z} if summand else {})
    names = ["x", "w", "b", *(["z"] if summand else [])]
    model = [microsoft("NhwcFusedConv", names, ["y"], kernel_shape=[1, 1], activation="Relu")]
    check(model, inputs, constants={"w": w, "b": b}, expected=[expected], forms=RANKED, atol=1e-4)


@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_quantized_embedding(segments: bool, mask: bool) -> None:
    inputs = {"ids": np.array([[1, 2, 0], [3, 4, 4]], np.int32)}
    names = {"words": (5, 8), "positions": (6, 8), **({"table": (2, 8)} if segments else {}), "gamma": (8,), "beta": (8,)}
    constants = {name: RANDOM.integers(0, 255, shape).astype(np.uint8) for name, shape in names.items()}
    constants |= {f"{name}_scale": np.array(RANDOM.uniform(0.01, 0.1), np.float32) for name in names}
    constants |= {f"{name}_zero": np.array(RANDOM.integers(100, 150), np.uint8) for name in names}
    every = ["words", "positions", "table", "gamma", "beta"]
    operands = [each if each in names else "" for each in every]
    if segments:
        inputs["segments"] = np.array([[0, 0, 1], [0, 1, 1]], np.int32)
    if mask:
        inputs["mask"] = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    scales, zeros = ([f"{each}{end}" if each in names else "" for each in every] for end in ("_scale", "_zero"))
    first = ["ids", "segments" if segments else "", *operands, "mask" if mask else "", *scales, *zeros]
    check([microsoft("QEmbedLayerNormalization", first, ["y", "lengths"])], inputs, constants=constants, forms=RANKED, atol=1e-3)
