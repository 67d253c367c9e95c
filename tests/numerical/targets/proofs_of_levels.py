"""The smallest models that show faults of quantization and of generated code, by the names of their records."""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import opset13 as ops
from openvino.utils.node_factory import NodeFactory

from tests.numerical.targets.proofs import Proof, floats, rounded

ROWS = np.array([1, 2, 4], np.float32).reshape(3, 1)
MATRICES = np.array([1, 0, 0, 1, 2, 0, 0, 2], np.float32).reshape(1, 2, 2, 2)
HEADS = 4
SELECTED = np.eye(8, dtype=np.float32)[[5, 0, 3, 7, 1, 2, 6, 4, 0, 0, 1, 7, 4, 6, 2, 5]].reshape(1, HEADS, HEADS, 8)
"""Which key each query is about: by steps, then by heads."""
VALUES = np.arange(HEADS * 8 * 8, dtype=np.float32).reshape(1, HEADS, 8, 8)


def integers_of_minima(x: Any) -> Any:
    """The minima of the rows of x, as integers from 0 for -128."""
    minima = ops.reduce_min(x, np.array([2]), True)
    return ops.convert(ops.fake_quantize(minima, *(np.float32(each) for each in (-128, 127, 0, 255)), 256), "u8")


def first_behind_ellipsis(x: Any, count: int) -> Any:
    """The first elements along the last axis, which are selected behind an ellipsis."""
    begin, end = np.array([0, 0]), np.array([0, count])
    return ops.strided_slice(x, begin, end, np.array([1, 1]), [1, 0], [1, 0], [0, 0], [0, 0], [1, 0])


def rounded_by(x: Any, sizes: Any) -> Any:
    """x rounded to levels of some sizes."""
    low, high = np.float32(-128) * sizes, np.float32(127) * sizes
    return ops.fake_quantize(x, low, high, low, high, 256)


def attention_of_steps(x: Any, keys: Any, values: Any) -> Any:
    """Attention of queries x by steps, whose shares are 1 for one key each."""
    queries = ops.transpose(ops.reshape(x, np.array([1, HEADS, HEADS, 8]), False), np.array([0, 2, 1, 3]))
    return ops.matmul(ops.softmax(ops.matmul(queries, keys, False, True), 3), values, False, False)


def activation_of_attention(x: Any, keys: Any, values: Any) -> Any:
    """Relu of the same attention, transposed to steps first, of which the plugin merges no Transpose with the attention."""
    steps = ops.transpose(attention_of_steps(x, keys, values), np.array([0, 2, 1, 3]))
    return ops.relu(ops.reshape(steps, np.array([1, HEADS, HEADS * 8]), False))


def product_of_mish(x: Any) -> Any:
    """The product of a matrix and Mish of a product of x."""
    return ops.matmul(ops.mish(ops.matmul(x, np.ones((8, 16), np.float32), False, False)), np.ones((16, 8), np.float32), False, False)


def product_with_unsigned_weights(x: Any) -> Any:
    """The product with twice the unit matrix, in u8 with a zero point, of x, which is rounded to integers."""
    codes = ops.constant((130 + 2 * np.eye(4)).astype(np.uint8))
    weights = ops.multiply(ops.subtract(ops.convert(codes, np.float32), np.float32(130)), np.float32(1))
    return ops.matmul(rounded(x, -128, 127), weights, False, True)


def quantized_convolution(x: Any) -> Any:
    """The convolution with the unit matrix in 8 bits of x, which is rounded to halves of odd numbers."""
    units = ops.constant(64 * np.eye(4, dtype=np.int8).reshape(4, 4, 1, 1))
    kernel = ops.multiply(ops.convert(units, np.float32), np.full((4, 1, 1, 1), 1 / 64, np.float32))
    return ops.convolution(rounded(x, -127.5, 127.5), kernel, [1, 1], [0, 0], [0, 0], [1, 1])


def product_of_equal_limits(x: Any) -> Any:
    """The product of a matrix of 8 bits and x, which is rounded to levels with limits for each row, all of them the same."""
    weights = ops.multiply(ops.convert(ops.constant(64 * np.eye(4, dtype=np.int8)), np.float32), np.float32(1 / 64))
    low, high = (np.full((2, 1), each, np.float32) for each in (-145, 110))
    return ops.matmul(ops.fake_quantize(x, low, high, low, high, 256), weights, False, False)


def convolved_parts(x: Any) -> Any:
    """The second half of the channels of x, then twice the first half."""
    first, second = ops.split(x, np.int64(1), 2).outputs()
    kernels = [np.full((1, 1, 1, 1), each, np.float32) for each in (1, 2)]
    parts = [ops.convolution(part, kernel, [1, 1], [0, 0], [0, 0], [1, 1]) for part, kernel in zip((second, first), kernels, strict=True)]
    return ops.concat(parts, 1)


STEPS = np.arange(-11, 11, dtype=np.float32).reshape(1, 2, 11)
FILTERS = np.array([[8, -2, 4], [1, 2, -16], [2, -8, 1], [-4, 16, 2]], np.int8).reshape(2, 2, 1, 3)


def sums_of_groups(x: Any) -> Any:
    """Two filters over each of the two channels of x, at every third element."""
    factors = np.full((2, 2, 1, 1), 1 / 64, np.float32)
    filters = ops.multiply(ops.convert(ops.constant(FILTERS), np.float32), ops.constant(factors))
    return ops.group_convolution(rounded(x, -128, 127), filters, [3], [0], [0], [1])


def perceptron(x: Any, y: Any) -> Any:
    """Two layers with biases, and what is positive of y added."""
    hidden = ops.relu(ops.add(ops.matmul(x, np.eye(8, 4, dtype=np.float32), False, True), np.ones((1, 8), np.float32)))
    result = ops.add(ops.matmul(hidden, np.eye(4, 8, dtype=np.float32), False, True), np.ones((1, 4), np.float32))
    return ops.add(result, ops.relu(y))


ROWS_OF_IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)


def rounded_rows(x: Any) -> Any:
    """Rows of an image [1, channels, height, width], the first of each two, rounded to multiples of 1 and 4."""
    sizes, axes = ops.constant(np.array([2])).output(0), ops.constant(np.array([2])).output(0)
    attributes = {
        "mode": "nearest",
        "shape_calculation_mode": "sizes",
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    rows = NodeFactory("opset11").create("Interpolate", [x.output(0), sizes, axes], attributes)
    return rounded_by(ops.transpose(rows.output(0), np.array([0, 2, 3, 1])), floats(1, 4).reshape(1, 2, 1, 1))


PIXEL = floats(-1, 2, -3, 4).reshape(1, 4, 1, 1)
UNITS = np.eye(4, dtype=np.int8).reshape(4, 4, 1, 1)


def quantized_pixel(x: Any) -> Any:
    """The convolution of x, which is rounded to integers, with units in 8 bits by a factor for each channel."""
    scales = floats(1, 2, 3, 4).reshape(4, 1, 1, 1)
    return ops.convolution(rounded(x, -128, 127), ops.multiply(ops.convert(ops.constant(UNITS), np.float32), scales), *STRIDES)


STRIDES: Any = ([1, 1], [0, 0], [0, 0], [1, 1])
OF_PIXEL = PIXEL * floats(1, 2, 3, 4).reshape(1, 4, 1, 1)


def transposed_convolution_by_zero_points(x: Any) -> Any:
    """The transposed convolution, with twice the unit matrix in i8 with a zero point, of x, which is rounded to integers."""
    codes = ops.constant((11 + 2 * np.eye(2)).astype(np.int8).reshape(2, 2, 1, 1))
    filters = ops.multiply(ops.subtract(ops.convert(codes, np.float32), np.float32(11)), np.float32(1))
    return ops.convolution_backprop_data(rounded(x, 0, 255), filters, [1, 1])


PROOFS_OF_LEVELS: dict[str, Proof] = {
    "unsigned-weights": (
        product_with_unsigned_weights,
        [np.array([[1, -2, 3.4, -128]], np.float32)],
        np.array([[2, -4, 6, -256]], np.float32),
    ),
    "zero-points-of-filters": (
        transposed_convolution_by_zero_points,
        [np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)],
        2 * np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2),
    ),
    "shifts-of-levels": (
        lambda x: rounded(ops.add(rounded(x, -128, 127), np.float32(0.75)), -128, 127),
        [np.array([[1, -2, 3, -100]], np.float32)],
        np.array([[2, -1, 4, -99]], np.float32),
    ),
    "channels-of-products": (
        lambda x: ops.add(ops.matmul(x, np.eye(2, dtype=np.float32), False, False), floats(1, 2).reshape(1, 2, 1, 1)),
        [np.zeros((1, 2, 2, 2), np.float32)],
        np.broadcast_to(floats(1, 2).reshape(1, 2, 1, 1), (1, 2, 2, 2)),
    ),
    "padded-averages": (
        lambda x: ops.avg_pool(rounded(x, -1, 254), [1, 1], [1, 1], [0, 0], [2, 2], False),
        [np.ones((1, 1, 2, 2), np.float32)],
        floats(0.25, 0.5, 0.5, 1).reshape(1, 1, 2, 2),
    ),
    "padded-single-elements": (
        lambda x: ops.pad(rounded(x, -1, 254), np.array([0, 0]), np.array([0, 1]), "constant", np.float32(0)),
        [np.array([[1], [2]], np.float32)],
        np.array([[1, 0], [2, 0]], np.float32),
    ),
    "padded-differences": (
        lambda x: rounded(
            ops.avg_pool(ops.multiply(ops.subtract(x, floats(1)), floats(4)), [1, 1], [1, 1], [0, 0], [2, 2], False), -128, 127
        ),
        [np.full((1, 1, 2, 2), 2, np.float32)],
        floats(1, 2, 2, 4).reshape(1, 1, 2, 2),
    ),
    "padded-averages-of-differences": (
        lambda x: rounded(
            ops.avg_pool(ops.negative(ops.multiply(ops.subtract(x, floats(1)), floats(-4))), [1, 1], [1, 1], [0, 0], [2, 2], False),
            -128,
            127,
        ),
        [np.full((1, 1, 2, 2), 2, np.float32)],
        floats(1, 2, 2, 4).reshape(1, 1, 2, 2),
    ),
    "padded-sums": (
        lambda x: rounded(ops.avg_pool(ops.add(ops.multiply(x, floats(4)), floats(4)), [1, 1], [1, 1], [0, 0], [2, 2], False), -128, 127),
        [np.zeros((1, 1, 2, 2), np.float32)],
        floats(1, 2, 2, 4).reshape(1, 1, 2, 2),
    ),
    "chains-of-products": (
        perceptron,
        [np.ones((4, 4), np.float32), np.full((4, 4), 3, np.float32)],
        np.full((4, 4), 6, np.float32),
    ),
    "levels-of-extremes": (
        integers_of_minima,
        [np.array([[[3, -7, 5], [20, 40, 30]]], np.float32)],
        np.array([[[121], [148]]], np.uint8),
    ),
    "slopes-of-single-pixels": (
        lambda x: ops.prelu(quantized_pixel(x), floats(2, 3, 4, 5)),
        [PIXEL],
        np.where(OF_PIXEL > 0, OF_PIXEL, OF_PIXEL * floats(2, 3, 4, 5).reshape(1, 4, 1, 1)),
    ),
    "levels-of-single-pixels": (
        lambda x: rounded_by(quantized_pixel(x), floats(0.5, 1, 1.5, 2).reshape(1, 4, 1, 1)),
        [PIXEL],
        OF_PIXEL,
    ),
    "levels-of-joined-extremes": (
        lambda x: rounded_by(ops.concat([x, ops.reduce_max(x, np.array([0]), True)], 1), floats(0.5)),
        [floats(3, -7.5, 20, 40.5).reshape(1, 4)],
        np.tile(floats(3, -7.5, 20, 40.5), 2).reshape(1, 8),
    ),
    "levels-of-products": (
        lambda x: rounded_by(ops.matmul(x, x, False, False), floats(1, 2).reshape(1, 2, 1, 1)),
        [MATRICES],
        MATRICES * MATRICES,
    ),
    "truncated-levels": (
        lambda x: rounded(ops.convert(ops.convert(x, "i8"), "f32"), -4, 127 / 32),
        [floats(1.75, -2.5, 0.25)],
        floats(1, -2, 0),
    ),
    "queries-in-place": (
        attention_of_steps,
        [200 * SELECTED.reshape(1, HEADS, HEADS * 8), np.broadcast_to(np.eye(8, dtype=np.float32), (1, HEADS, 8, 8)), VALUES],
        np.matmul(SELECTED.transpose(0, 2, 1, 3), VALUES),
    ),
    "activated-in-place": (
        activation_of_attention,
        [200 * SELECTED.reshape(1, HEADS, HEADS * 8), np.broadcast_to(np.eye(8, dtype=np.float32), (1, HEADS, 8, 8)), VALUES],
        np.maximum(np.matmul(SELECTED.transpose(0, 2, 1, 3), VALUES), 0).transpose(0, 2, 1, 3).reshape(1, HEADS, HEADS * 8),
    ),
    "mish-after-products": (product_of_mish, [np.zeros((4, 8), np.float32)], np.zeros((4, 8), np.float32)),
    "normalized-levels": (
        lambda x: ops.mvn(rounded(x, -32, 31.75), np.array([1]), True, 0.1875, "INSIDE_SQRT"),
        [np.array([[-0.25, 0.25]], np.float32)],
        np.array([[-0.5, 0.5]], np.float32),
    ),
    "normalized-products": (
        lambda x: rounded(ops.mvn(ops.multiply(x, floats(8)), np.array([1]), True, 12.0, "INSIDE_SQRT"), -32, 31.75),
        [np.array([[-0.25, 0.25]], np.float32)],
        np.array([[-0.5, 0.5]], np.float32),
    ),
    "levels-without-zero": (
        quantized_convolution,
        [floats(0.5, -1.5, 2.5, 3.5).reshape(1, 4, 1, 1)],
        floats(0.5, -1.5, 2.5, 3.5).reshape(1, 4, 1, 1),
    ),
    "equal-limits": (
        product_of_equal_limits,
        [np.arange(8, dtype=np.float32).reshape(2, 4)],
        np.arange(8, dtype=np.float32).reshape(2, 4),
    ),
    "limits-of-two-shapes": (
        lambda x: ops.fake_quantize(x, *(floats(0), np.array([[255], [510]], np.float32)) * 2, 256),
        [np.array([[[100], [500]]], np.float32)],
        np.array([[[100], [500]]], np.float32),
    ),
    "levels-of-means": (
        lambda x: rounded_by(ops.reduce_sum(x, np.array([1]), False), np.array([[1, 2, 4, 8]], np.float32)),
        [np.array([[[2, 2, 8, 24], [1, 4, 4, 8]], [[1, 8, 8, 16], [1, 0, 8, 8]]], np.float32)],
        np.array([[3, 6, 12, 32], [2, 8, 16, 24]], np.float32),
    ),
    "entries-of-levels": (
        lambda x: ops.gather(rounded_by(x, floats(1, 2).reshape(1, 2, 1)), np.int64(1), np.int64(0)),
        [np.array([[[1, 3], [2, 4]]] * 2, np.float32)],
        np.array([[1, 3], [2, 4]], np.float32),
    ),
    "entries-of-products": (
        lambda x: rounded(ops.gather(ops.multiply(x, floats(1, 2).reshape(1, 2, 1)), np.int64(1), np.int64(0)), -128, 127),
        [np.array([[[1, 3], [2, 4]]] * 2, np.float32)],
        np.array([[1, 3], [4, 8]], np.float32),
    ),
    "unit-products": (
        lambda x: rounded(ops.multiply(ops.normalize_l2(ops.multiply(x, floats(8)), np.array([1]), 56.0, "add"), floats(8)), -128, 127),
        [np.array([[-0.25, 0.25]], np.float32)],
        np.array([[-2, 2]], np.float32),
    ),
    "slices-of-products": (
        lambda x: rounded(first_behind_ellipsis(ops.multiply(x, floats(1, 2, 3, 4)), 2), -128, 127),
        [np.arange(16, dtype=np.float32).reshape(2, 2, 4)],
        (np.arange(16, dtype=np.float32).reshape(2, 2, 4) * floats(1, 2, 3, 4))[..., :2],
    ),
    "rows-of-products": (
        lambda x: rounded(ops.reduce_sum(ops.multiply(x, ROWS), np.array([2]), True), -128, 127),
        [np.ones((2, 3, 4), np.float32)],
        np.tile(4 * ROWS, (2, 1, 1)),
    ),
    "rows-of-sums": (
        lambda x: ops.reduce_sum(ops.add(x, rounded_by(x, ROWS)), np.array([2]), True),
        [np.tile(ROWS, (2, 1, 4))],
        np.tile(8 * ROWS, (2, 1, 1)),
    ),
    "reshaped-products": (
        lambda x: rounded(ops.reshape(ops.multiply(x, ROWS), np.array([-1, 4]), False), -128, 127),
        [np.ones((2, 3, 4), np.float32)],
        np.broadcast_to(ROWS, (2, 3, 4)).reshape(6, 4),
    ),
    "sums-of-two-axes": (
        lambda x: rounded(ops.add(ops.multiply(x, floats(1, 2).reshape(1, 2, 1)), floats(4, 8)), -128, 127),
        [np.ones((1, 2, 2), np.float32)],
        np.array([[[5, 9], [6, 10]]], np.float32),
    ),
    "convolved-parts": (convolved_parts, [floats(3, 5).reshape(1, 2, 1, 1)], floats(5, 6).reshape(1, 2, 1, 1)),
    "levels-of-unknown-sizes": (
        lambda x: rounded(rounded_by(x, floats(1, 2).reshape(2, 1)), -128, 127),
        [np.array([[[1, 3], [2, 5]]] * 2, np.float32)],
        np.array([[[1, 3], [2, 4]]] * 2, np.float32),
    ),
    "added-axes": (
        lambda x: ops.reduce_mean(ops.unsqueeze(x, np.array([-4])), np.array([1]), False),
        [np.ones((2, 3, 4), np.float32)],
        np.ones((1, 3, 4), np.float32),
    ),
    "filters-of-one-channel": (
        sums_of_groups,
        [STEPS],
        np.einsum("nglk,gmk->ngml", np.stack([STEPS[..., at : at + 3] for at in (0, 3, 6)], 2), FILTERS[:, :, 0] / 64).reshape(1, 4, 3),
    ),
    "limits-behind-transpose": (
        rounded_rows,
        [ROWS_OF_IMAGE],
        (np.rint(ROWS_OF_IMAGE[:, :, ::2] / (steps := floats(1, 4).reshape(1, 1, 2, 1))) * steps).transpose(0, 2, 3, 1),
    ),
}
