"""A quantized residual network as MXNet 1.9 writes it, against its definition in integers.

Each array of integers has the limits of its range beside it; the limit T stands for 127.5 in i8 and 2³¹ in i32
(`quantization_utils.h` of MXNet 1.9). i32 products of two i8 stand for T_a · T_b / 127² · q.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.numerical.mxnet.models import converted, results, write
from tests.numerical.processors import NEEDS_WIDE_SUMS
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(11)
I8, I32 = 127.5, 2.0**31


class WrittenSymbol:
    """A symbol in the making, and the arrays of its parameters."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.arrays: dict[str, Array] = {}

    def add(self, op: str, name: str, inputs: list[list[int]], **attributes: object) -> list[int]:
        """Add a node; returns its first output."""
        texts = {key: str(value) for key, value in attributes.items()}
        self.nodes.append({"op": op, "name": name, "attrs": texts, "inputs": inputs})
        return [len(self.nodes) - 1, 0, 0]

    def weight(self, name: str, value: Array) -> list[int]:
        """Add a parameter."""
        self.arrays[name] = value
        return self.add("null", name, [])

    def document(self, *heads: list[int]) -> dict[str, Any]:
        """The symbol with its outputs."""
        variables = [index for index, node in enumerate(self.nodes) if node["op"] == "null"]
        return {"nodes": self.nodes, "arg_nodes": variables, "heads": list(heads), "attrs": {"mxnet_version": ["int", 10901]}}


def three(output: list[int]) -> list[list[int]]:
    """The integers of a node and the limits of their range."""
    return [[output[0], index, 0] for index in range(3)]


def ordered(*values: list[list[int]]) -> list[list[int]]:
    """Operands of a quantized node: all integers, then all limits."""
    return [value[0] for value in values] + [limit for value in values for limit in value[1:]]


def rounded(values: Array) -> Array:
    """Rounded to i8: halves away from zero, saturated as oneDNN does."""
    return np.clip(np.sign(values) * np.floor(np.abs(values) + 0.5), -128, 127)


def quantized(values: Array, limit: float) -> Array:
    return rounded(values * I8 / limit)


def requantized(numbers: Array, limit: float, wanted: float) -> Array:
    """i32 of a limit as i8 of another one."""
    return rounded(numbers * (limit / I32) * 127 / wanted)


def convolved(x: Array, w: Array) -> Array:
    """Integers convolved with kernels of 3 × 3, padded by 1."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("ncyxij,ocij->noyx", windows, w)


class Integers:
    """Numbers as integers, with the limit of their range."""

    def __init__(self, numbers: Array, limit: float) -> None:
        self.numbers = numbers
        self.limit = limit


@NEEDS_WIDE_SUMS
def test_residual_network(tmp_path: Path) -> None:
    x = RANDOM.uniform(-1, 1, (2, 3, 8, 8)).astype(np.float32)
    symbol = WrittenSymbol()
    data = symbol.add("null", "data", [], __shape__=(2, 3, 8, 8))
    first = symbol.add("_contrib_quantize_v2", "quantize", [data], out_type="int8", min_calib_range=-0.9, max_calib_range=0.8)
    value, own = three(first), Integers(quantized(x, 0.9), 0.9)

    def layer(name: str, value: list[list[int]], own: Integers, channels: int, calibrated: float) -> tuple[list[list[int]], Integers]:
        """A convolution with a bias, requantized, with relu."""
        w = RANDOM.integers(-127, 128, (channels, own.numbers.shape[1], 3, 3)).astype(np.int8)
        b = RANDOM.integers(-127, 128, channels).astype(np.int8)
        limits = {"weight": 0.3, "bias": 0.05}
        operands = {"weight": symbol.weight(f"{name}_weight", w), "bias": symbol.weight(f"{name}_bias", b)}
        ranges = {
            key: [symbol.weight(f"{name}_{key}_{end}", np.array([sign * limit], np.float32)) for end, sign in (("min", -1), ("max", 1))]
            for key, limit in limits.items()
        }
        parts = [[operands[key], *ranges[key]] for key in limits]
        node = symbol.add(
            "_contrib_quantized_conv", name, ordered(value, *parts), kernel="(3, 3)", pad="(1, 1)", num_filter=channels, layout="NCHW"
        )
        product = own.limit * limits["weight"] / 127**2
        total = convolved(own.numbers, w) + np.rint(b * (limits["bias"] / 127) / product)[:, None, None]
        wanted = symbol.add(
            "_contrib_requantize", f"{name}_r", three(node), out_type="int8", min_calib_range=-calibrated, max_calib_range=calibrated
        )
        relu = symbol.add("_contrib_quantized_act", f"{name}_a", three(wanted), act_type="relu")
        output = requantized(total, product * I32, calibrated)
        return three(relu), Integers(np.maximum(output, 0), calibrated)

    value, own = layer("one", value, own, 8, 2.0)
    pooled = symbol.add(
        "_contrib_quantized_pooling", "pool", value, kernel="(2, 2)", stride="(2, 2)", pool_type="max", pooling_convention="valid"
    )
    value, own = three(pooled), Integers(own.numbers.reshape(2, 8, 4, 2, 4, 2).max((3, 5)), own.limit)
    branch, other = layer("two", value, own, 8, 3.0)
    added = symbol.add("_contrib_quantized_elemwise_add", "sum", ordered(branch, value))
    total = own.numbers * own.limit / I8 + other.numbers * other.limit / I8
    node = symbol.add("_contrib_requantize", "sum_r", three(added), out_type="int8", min_calib_range=-4.5, max_calib_range=4.5)
    both = symbol.add("_contrib_quantized_concat", "join", ordered(three(node), value), num_args=2, dim=1)
    summed = rounded(total * 127 / 4.5) * 4.5 / I8
    joined = rounded(np.concatenate([summed, own.numbers * own.limit / I8], 1) * I8 / 4.5)
    flat = symbol.add("_contrib_quantized_flatten", "flat", three(both))
    w = RANDOM.integers(-127, 128, (5, joined[0].size)).astype(np.int8)
    matrix = [
        symbol.weight("fc_weight", w),
        *(symbol.weight(f"fc_{end}", np.array([limit], np.float32)) for end, limit in (("min", -0.2), ("max", 0.2))),
    ]
    product = symbol.add(
        "_contrib_quantized_fully_connected", "fc", ordered(three(flat), matrix), num_hidden=5, no_bias="True", flatten="True"
    )
    real = symbol.add("_contrib_dequantize", "real", three(product), out_type="float32")
    path = write(tmp_path, symbol.document(real), symbol.arrays)
    output = results(converted(path), {"data": x})["real_output"]
    expected = joined.reshape(2, -1) @ w.T.astype(np.float64) * (4.5 * 0.2 / 127**2)
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)
    assert np.ptp(expected) > 1
