"""The smallest models that show the faults of factors and slopes of the CPU plugin, by the names of their records."""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import opset8
from openvino import opset13 as ops

from tests.numerical.targets.proofs import Proof, floats, rounded
from tests.numerical.targets.proofs_of_levels import ROWS, rounded_by
from tests.numerical.targets.proofs_of_neighbours import CHANNELS, halves

UNITS = np.eye(4, dtype=np.int8)
DIAGONAL = np.diag([1, 2, 3, 4]).astype(np.int8)
BATCHES = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
COLUMNS = floats(1, 2, 4, 8)
MATRIX = np.array([[1, -1, 2, -2], [3, 5, -4, -8]], np.float32)


def weights(units: Any, factors: Any) -> Any:
    """Integers of 8 bits by factors."""
    return ops.multiply(ops.convert(ops.constant(units), np.float32), ops.constant(factors))


def unit_kernels(factor: float = 1.0) -> Any:
    """Kernels of two channels that leave images as they are but for a factor, as integers by 1/64."""
    return weights(64 * np.eye(2, dtype=np.int8).reshape(2, 2, 1, 1), np.full((2, 1, 1, 1), factor / 64, np.float32))


def convolution_of_second_part(x: Any) -> Any:
    """A compressed convolution that leaves the second half of the channels, which are last, as it is."""
    part = ops.transpose(ops.split(x, 3, 2).output(1), np.array([0, 3, 1, 2]))
    return ops.convolution(part, unit_kernels(), [1, 1], [0, 0], [0, 0], [1, 1])


def quantized_sum(x: Any) -> Any:
    """A quantized convolution that leaves integers as they are."""
    return ops.convolution(rounded(x, -128, 127), unit_kernels(0.25), [1, 1], [0, 0], [0, 0], [1, 1])


def product_of_columns(x: Any) -> Any:
    """The product of integers with a diagonal matrix, whose columns have factors of their own."""
    return ops.matmul(rounded(x, -128, 127), weights(UNITS, COLUMNS.reshape(1, 4)), False, False)


def maxima_of_neighbours(x: Any) -> Any:
    """The maximum of each number and the next one of its row."""
    return opset8.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 1], [1, 2]).output(0)


SIGNS = floats(1, -1).reshape(1, 2, 1, 1)
NEGATIVE = MATRIX.reshape(1, 1, 2, 4)


def shuffled(x: Any) -> Any:
    """Images whose channels are in groups of two, the groups as channels."""
    groups = ops.reshape(x, np.array([3, -1, 2, 1, 2]), False)
    return ops.reshape(ops.transpose(groups, np.array([0, 2, 1, 3, 4])), np.array([3, 4, 1, 2]), False)


PROOFS_OF_FACTORS: dict[str, Proof] = {
    "negative-factors-of-levels": (
        lambda x: rounded(ops.multiply(x, SIGNS), -4, 251),
        [CHANNELS],
        np.clip(CHANNELS * SIGNS, -4, 251),
    ),
    "factors-of-shared-sums": (
        lambda x: (lambda total: ops.concat([ops.relu(total), total], 1))(quantized_sum(x)),
        [CHANNELS],
        np.concatenate([np.maximum(CHANNELS, 0), CHANNELS], 1) / 4,
    ),
    "windows-of-products": (
        lambda x: maxima_of_neighbours(product_of_columns(x)),
        [NEGATIVE],
        np.maximum(NEGATIVE * COLUMNS, np.pad((NEGATIVE * COLUMNS)[..., 1:], [(0, 0)] * 3 + [(0, 1)], constant_values=-99)),
    ),
    "unsqueezed-products": (
        lambda x: ops.reshape(product_of_columns(ops.reshape(x, np.array([1, 2, 4]), False)), np.array([1, 2, 4, 1]), False),
        [MATRIX],
        (MATRIX * COLUMNS).reshape(1, 2, 4, 1),
    ),
    "gathered-products": (
        lambda x: ops.gather(ops.matmul(rounded(x, -100, 155), weights(DIAGONAL, np.float32(1)), False, True), np.array([1]), np.int64(0)),
        [MATRIX],
        MATRIX[1:] * np.diag(DIAGONAL),
    ),
    "constant-products": (
        lambda x: ops.add(ops.matmul(ops.constant(MATRIX), weights(UNITS, COLUMNS.reshape(4, 1)), False, True), x),
        [MATRIX],
        MATRIX * COLUMNS + MATRIX,
    ),
    "levels-of-rows": (
        lambda x: ops.reduce_max(rounded_by(x, ROWS), np.array([0]), True),
        [np.array([[-1, 1], [2, 4], [8, -4]] * 2, np.float32).reshape(2, 3, 2)],
        np.array([[[-1, 1], [2, 4], [8, -4]]], np.float32),
    ),
    "batches-of-bytes": (
        lambda x, y: ops.concat([ops.reduce_sum(halves(x), np.array([1]), True), rounded(y, -128, 127)], 1),
        [BATCHES, np.zeros((3, 1, 4), np.float32)],
        np.stack([BATCHES.sum(1) / np.float32(2), np.zeros((3, 4), np.float32)], 1),
    ),
    "products-of-rows": (
        lambda x: ops.matmul(rounded_by(x, floats(1, 2).reshape(1, 2, 1, 1)), weights(UNITS, np.ones((1, 4), np.float32)), False, False),
        [2 * CHANNELS],
        2 * CHANNELS,
    ),
    "activated-transposes": (
        lambda x: ops.transpose(
            ops.negative(ops.transpose(ops.convolution(x, np.ones((3, 2, 1), np.float32), [1], [0], [0], [1]), np.array([0, 2, 1]))),
            np.array([0, 2, 1]),
        ),
        [np.arange(8, dtype=np.float32).reshape(1, 2, 4)],
        np.broadcast_to(floats(-4, -6, -8, -10), (1, 3, 4)),
    ),
    "repeated-channels": (
        lambda x: ops.tile(x, np.array([1, 2, 2, 1])),
        [np.arange(30, dtype=np.float32).reshape(2, 1, 5, 3)],
        np.tile(np.arange(30, dtype=np.float32).reshape(2, 1, 5, 3), (1, 2, 2, 1)),
    ),
    "quantized-vectors": (
        lambda x: ops.matmul(rounded_by(x, np.ones(1, np.float32)), weights(UNITS[:2, :2], floats(1, 2).reshape(1, 2)), False, False),
        [floats(2, 4)],
        floats(2, 8),
    ),
    "slopes-of-products": (
        lambda x: ops.prelu(ops.matmul(x, np.eye(4, dtype=np.float32), False, False), floats(2, 3).reshape(1, 2, 1, 1)),
        [CHANNELS],
        np.where(CHANNELS < 0, CHANNELS * floats(2, 3).reshape(1, 2, 1, 1), CHANNELS),
    ),
    "slopes-of-reductions": (
        lambda x: ops.prelu(ops.reduce_sum(x, np.array([2]), True), floats(2, 3, 4).reshape(1, 3, 1)),
        [-np.ones((2, 3, 1), np.float32)],
        -np.tile(floats(2, 3, 4).reshape(1, 3, 1), (2, 1, 1)),
    ),
    "slopes-of-levels": (
        lambda x: ops.prelu(rounded(ops.reduce_sum(x, np.array([2]), True), -128, 127), floats(2, 3, 4).reshape(1, 3, 1)),
        [-np.ones((2, 3, 1), np.float32)],
        -np.tile(floats(2, 3, 4).reshape(1, 3, 1), (2, 1, 1)),
    ),
}

PROOFS_OF_TRANSPOSES: dict[str, Proof] = {
    "root-without-axis": (
        lambda x: ops.divide(x, ops.sqrt(ops.add(ops.reduce_mean(ops.power(x, np.float32(2)), np.array([1]), False), np.float32(1)))),
        [floats(0, 4, 8, 0).reshape(2, 2)],
        floats(0, 4, 8, 0).reshape(2, 2) / np.sqrt(floats(9, 33)),
    ),
    "transposed-compressed-convolution": (
        lambda x: ops.transpose(ops.convolution(x, unit_kernels(), [1, 1], [0, 0], [0, 0], [1, 1]), np.array([0, 2, 1, 3])),
        [CHANNELS],
        CHANNELS.transpose(0, 2, 1, 3),
    ),
    "strided-compressed-convolution": (
        lambda x: ops.reshape(ops.convolution(x, unit_kernels(), [2, 2], [0, 0], [0, 0], [1, 1]), np.array([1, -1]), False),
        [CHANNELS],
        CHANNELS[:, :, ::2, ::2].reshape(1, -1),
    ),
    "compressed-convolution-of-a-part": (
        convolution_of_second_part,
        [CHANNELS],
        CHANNELS[..., 2:].transpose(0, 3, 1, 2),
    ),
    "shuffled-unknown-groups": (
        shuffled,
        [np.arange(24, dtype=np.float32).reshape(3, 4, 1, 2)],
        np.arange(24, dtype=np.float32).reshape(3, 2, 2, 2).transpose(0, 2, 1, 3).reshape(3, 4, 1, 2),
    ),
    "reshaped-reductions": (
        lambda x: ops.reshape(ops.reduce_sum(x, np.array([1]), False), np.array([8, 1]), False),
        [np.arange(24, dtype=np.float32).reshape(2, 3, 4)],
        np.arange(24, dtype=np.float32).reshape(2, 3, 4).sum(1).reshape(8, 1),
    ),
    "reduced-between-transposes": (
        lambda x: ops.transpose(ops.reduce_max(ops.transpose(x, np.array([1, 2, 3, 0])), np.array([3]), False), np.array([1, 0, 2])),
        [np.arange(8, dtype=np.float32).reshape(1, 4, 1, 2)],
        np.arange(8, dtype=np.float32).reshape(1, 4, 2),
    ),
    "reduced-transposes": (
        lambda x: ops.reduce_sum(ops.transpose(x, np.array([0, 3, 1, 2])), np.array([3]), False),
        [np.arange(40, dtype=np.float32).reshape(2, 1, 4, 5)],
        np.arange(40, dtype=np.float32).reshape(2, 1, 4, 5).sum(2).transpose(0, 2, 1),
    ),
}
