"""The smallest models that show the faults of the CPU plugin in which operations are merged with their neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import opset8, opset12
from openvino import opset13 as ops

from tests.numerical.targets.proofs import Proof, floats, normalized, rounded

IMAGE = np.arange(-8, 8, dtype=np.float32).reshape(1, 1, 4, 4)
BYTES = (IMAGE**3 // 7).astype(np.int8)
CHANNELS = np.arange(-16, 16, dtype=np.float32).reshape(1, 2, 4, 4)
ONE = np.ones((1, 1, 1, 1), np.float32)


def convolved(x: Any, filters: Any, stride: int = 1, padding: int = 0) -> Any:
    """The convolution of images."""
    return ops.convolution(x, ops.constant(filters), [stride] * 2, [padding] * 2, [padding] * 2, [1, 1])


def maxima(x: Any) -> Any:
    """The maxima of windows 2 x 2."""
    return opset8.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)


def halves(x: Any) -> Any:
    """Halves of integers."""
    return ops.multiply(ops.convert(x, np.float32), np.float32(0.5))


def averages(x: Any) -> Any:
    """The averages of windows 2 x 2."""
    return ops.avg_pool(x, [2, 2], [0, 0], [0, 0], [2, 2], True)


def in_windows(x: Any) -> Any:
    """The windows 2 x 2 of images, as a last axis."""
    count, channels, height, width = x.shape
    windows = x.reshape(count, channels, height // 2, 2, width // 2, 2)
    return windows.transpose(0, 1, 2, 4, 3, 5).reshape(count, channels, height // 2, width // 2, 4)


def with_normalized_groups(x: Any) -> Any:
    """The positive numbers of x, and these normalized, in a sum."""
    positive = ops.relu(x)
    return ops.add(positive, opset12.group_normalization(positive, floats(1, 1), floats(0, 0), 2, 3.0))


def without_axis(x: Any) -> Any:
    """The rows of x, divided by the deviations of all rows."""
    centered = ops.subtract(x, ops.reduce_mean(x, np.array([1]), True))
    variance = ops.reduce_mean(ops.power(centered, np.float32(2)), np.array([1]), False)
    return ops.divide(centered, ops.sqrt(ops.add(variance, np.float32(1))))


def cell(x: Any, h: Any) -> Any:
    """A step of a GRU that keeps the state h."""
    gates = ops.add(ops.matmul(ops.concat([x, h], 1), ops.constant(np.zeros((2, 2), np.float32)), False, True), floats(0, 100))
    reset, update = (ops.split(ops.sigmoid(gates), np.array(1), 2).output(index) for index in range(2))
    joined = ops.concat([x, ops.multiply(reset, h)], 1)
    new = ops.tanh(ops.add(ops.matmul(joined, ops.constant(np.zeros((1, 2), np.float32)), False, True), floats(1)))
    return ops.add(ops.multiply(update, h), ops.multiply(ops.subtract(np.float32(1), update), new))


MAP = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]], np.float32)


def sums_of_neighbours(x: Any) -> Any:
    """The sum of each element of a matrix and its neighbours."""
    return sum(np.pad(x, 1)[i : i + x.shape[0], j : j + x.shape[1]] for i in range(3) for j in range(3))


def sums_of_signals(x: Any, filters: Any) -> Any:
    """The convolution of signals."""
    return ops.convolution(x, ops.constant(filters), [1], [0], [0], [1])


def normalized_rotation(x: Any) -> Any:
    """The normalized rotary embedding of x, whose size its factors fix."""
    row, one = ops.reshape(x, np.array([2, 1, 1, -1]), False), np.array([1])
    first, second = (ops.slice(row, np.array([begin]), np.array([end]), one, np.array([3])) for begin, end in ((0, 1), (1, 2**31 - 1)))
    cosines, sines = (np.array([[[pair]]], np.float32) for pair in ([2, 2], [1, 1]))
    turned = ops.add(ops.multiply(row, cosines), ops.multiply(ops.concat([ops.negative(second), first], -1), sines))
    return opset12.group_normalization(turned, floats(1), floats(0), 1, 1e-12)


PROOFS_OF_NEIGHBOURS: dict[str, Proof] = {
    "normalized-broadcast": (normalized_rotation, [floats(1, -1, 1, -1)], floats(1, -1, 1, -1).reshape(2, 1, 1, 2)),
    "convolution-sum": (
        lambda x, y: ops.add(convolved(x, np.ones((2, 1, 1, 1), np.float32)), ops.relu(y)),
        [np.ones((1, 1, 3, 2), np.float32), np.ones((2, 2, 3, 2), np.float32)],
        np.full((2, 2, 3, 2), 2, np.float32),
    ),
    "lost-convolutions": (
        lambda x, y: ops.add(sums_of_signals(x, np.ones((2, 1, 2), np.float32)), y),
        [np.ones((2, 1, 4), np.float32), np.ones((2, 2, 3), np.float32)],
        np.full((2, 2, 3), 3, np.float32),
    ),
    "maximum-of-activations": (
        lambda x: ops.absolute(maxima(convolved(x, ONE))),
        [IMAGE],
        np.abs(in_windows(IMAGE).max(-1)),
    ),
    "factors-of-averages": (
        lambda x: rounded(averages(ops.multiply(x, floats(1, -1).reshape(1, 2, 1, 1))), 0, 255),
        [CHANNELS],
        np.rint(np.clip(in_windows(CHANNELS).mean(-1) * floats(1, -1).reshape(1, 2, 1, 1), 0, 255)),
    ),
    "average-of-levels": (
        lambda x: ops.negative(averages(rounded(x, -128, 127))),
        [IMAGE**3 // 7],
        -in_windows(np.clip(IMAGE**3 // 7, -128, 127)).mean(-1),
    ),
    "limits-of-levels": (
        lambda x: ops.clamp(rounded(x, -128, 127), -2.25, 2.25),
        [IMAGE],
        np.clip(IMAGE, -2.25, 2.25),
    ),
    "limits-of-bytes": (
        lambda x, y: ops.concat([ops.clamp(halves(x), -1.75, 1.75), ops.relu(rounded(y, -128, 127))], 3),
        [BYTES, IMAGE],
        np.concatenate([np.clip(BYTES / np.float32(2), -1.75, 1.75), np.clip(IMAGE, 0, 127)], 3),
    ),
    "limits-of-negative-zero": (
        lambda x: ops.concat([ops.clamp(ops.multiply(x, np.float32(-0.0)), -1, 2), rounded(x, -128, 127)], 3),
        [IMAGE],
        np.concatenate([0 * IMAGE, IMAGE], 3),
    ),
    "average-of-halves": (
        lambda x: averages(ops.convert(rounded(ops.convert(x, "f32"), -128, 127), "f16")),
        [IMAGE.astype(np.float16)],
        in_windows(IMAGE).mean(-1).astype(np.float16),
    ),
    "average-of-bytes": (
        lambda x, y: ops.concat([ops.negative(averages(halves(x))), ops.relu(rounded(y, -128, 127))], 3),
        [BYTES, IMAGE[:, :, ::2, ::2]],
        np.concatenate([-in_windows(BYTES / np.float32(2)).mean(-1), np.clip(IMAGE[:, :, ::2, ::2], 0, 127)], 3),
    ),
    "normalized-residual": (
        with_normalized_groups,
        [np.tile(floats(2, -2), 16).reshape(1, 2, 4, 4)],
        np.tile(floats(2.5, -0.5), 16).reshape(1, 2, 4, 4),
    ),
    "strides-of-parts": (
        lambda x: convolved(ops.relu(ops.split(x, np.array(1), 2).output(1)), ONE, stride=2),
        [CHANNELS],
        CHANNELS[:, 1:, ::2, ::2],
    ),
    "windows-of-padding": (
        lambda x: ops.relu(ops.convolution(x, np.ones((8, 16, 1), np.float32), [1], [1], [2], [1])),
        [np.ones((1, 16, 1), np.float32)],
        np.tile(floats(0, 16, 0, 0), (1, 8, 1)),
    ),
    "multiplied-kernels": (
        lambda x: convolved(ops.multiply(x, MAP), np.ones((1, 1, 3, 3), np.float32), padding=1),
        [MAP.reshape(1, 1, 3, 3)],
        sums_of_neighbours(MAP * MAP).reshape(1, 1, 3, 3),
    ),
    "biases-of-cells": (cell, [floats(1).reshape(1, 1), floats(3).reshape(1, 1)], floats(3).reshape(1, 1)),
    "negative-axes": (
        lambda x: ops.reduce_sum(ops.unsqueeze(x, np.array([1])), np.array([-2]), False),
        [floats(1, 2)],
        floats(3),
    ),
    "zero-parameters": (lambda x: ops.hard_sigmoid(x, np.float32(0), np.float32(0.25)), [floats(-3, 3)], floats(0.25, 0.25)),
    "normalization-keeps": (
        without_axis,
        [floats(0, 2, 1, 5).reshape(2, 2)],
        floats(-1, 1, -2, 2).reshape(2, 2) / np.sqrt(floats(2, 5)),
    ),
    "normalization-axes": (
        lambda x: normalized(x, 1, 0, floats(0.5)),
        [floats(0, 1, 2, 3).reshape(2, 2)],
        floats(-1, 1, -1, 1).reshape(2, 2) / 3,
    ),
    "normalization-shape": (
        lambda x: normalized(x, 1, 1, floats(0.5, 0.5).reshape(2, 1)),
        [floats(0, 1).reshape(1, 2)],
        floats(-0.5, 0.5, -0.5, 0.5).reshape(2, 2),
    ),
}
