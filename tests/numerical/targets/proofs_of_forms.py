"""The smallest models that show the faults of the CPU plugin which forms avoid, by the names of their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
from openvino import opset12, opset15
from openvino import opset13 as ops

from tests.numerical.targets.proofs import INF, NAN, Proof, floats, integers, matrices_of_unknown_sizes, rounded

SQUARE = np.arange(36, dtype=np.float32).reshape(6, 6) % 7 - 3
UNIT_KERNELS = np.arange(6, dtype=np.float32).reshape(3, 2, 1, 1) - 2
IMAGE = np.arange(50, dtype=np.float32).reshape(1, 2, 5, 5) % 9 - 2
ROW = np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 16)
STEPS = np.arange(12, dtype=np.float32).reshape(4, 3) - 2
PRIORS = np.array([[0.25, 0, 0.75, 0.5], [0, 0.125, 1, 0.375], [0, -0.25, 1, 0.75]], np.float32)
SIGNALS = np.arange(50 * 16 * 7, dtype=np.float32).reshape(50, 16, 7) % 5


def tenths(x: Any) -> Any:
    """How many tenths reach a tenth of the size of x, in f64."""
    size = ops.convert(ops.gather(ops.shape_of(x), ops.constant(0), ops.constant(0)), "f64")
    tenth = ops.constant(np.array(0.1))
    return ops.convert(ops.ceiling(ops.divide(ops.multiply(size, tenth), tenth)), "i64")


def dequantized_rows() -> Any:
    """The numbers 0, 2, 4, … as [32, 5], whose rows are in blocks of 16."""
    levels = ops.convert(ops.constant(np.arange(160, dtype=np.uint8).reshape(2, 16, 5)), np.float32)
    return ops.reshape(ops.multiply(levels, ops.constant(np.full((2, 1, 5), 2, np.float32))), np.array([32, 5]), False)


def product_and_transposed(x: Any) -> Any:
    """x multiplied by a square matrix, and by the same matrix transposed."""
    weights = ops.constant(SQUARE)
    return ops.matmul(ops.matmul(x, weights, False, False), weights, False, True)


def convolved_by_unit_kernels(x: Any) -> Any:
    """A convolution with padding, strides and kernels of one element after a Relu."""
    return ops.convolution(ops.relu(x), ops.constant(UNIT_KERNELS), [2, 2], [1, 1], [1, 1], [1, 1])


def padded_and_sampled() -> Any:
    """What that convolution computes of IMAGE."""
    padded = np.pad(np.maximum(IMAGE, 0), [(0, 0), (0, 0), (1, 1), (1, 1)])[:, :, ::2, ::2]
    return np.einsum("nchw,oc->nohw", padded, UNIT_KERNELS[:, :, 0, 0])


def iterated(x: Any, *, uses_slice: bool) -> Any:
    """The state [3] after a TensorIterator over x [4, 3]: it counts the slices, or adds them."""
    state, part = ops.parameter([3], np.float32), ops.parameter([1, 3], np.float32)
    following = ops.add(ops.squeeze(part, np.array([0])) if uses_slice else floats(1), state)
    body = openvino.Model([following], [state, part])
    iterator = ops.tensor_iterator()
    iterator.set_body(body)
    iterator.set_merged_input(state, ops.constant(floats(0, 0, 0)).output(0), body.results[0].output(0))
    iterator.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 0)
    return iterator.get_iter_value(body.results[0].output(0), -1)


def summed_convolutions(x: Any) -> Any:
    """The sums [N, 1, 4, 5] over steps of convolutions of images x [N, T, 1, 5, 5] with ones."""
    state, part = ops.parameter([-1, 1, 4, 5], np.float32), ops.parameter([-1, 1, 1, 5, 5], np.float32)
    image = ops.squeeze(part, np.array([1]))
    following = ops.add(state, ops.convolution(image, np.ones((1, 1, 2, 1), np.float32), [1, 1], [0, 0], [0, 0], [1, 1]))
    iterator = ops.tensor_iterator()
    body = openvino.Model([following], [state, part])
    iterator.set_body(body)
    batch = ops.gather(ops.shape_of(x), np.array([0]), np.int64(0))
    begin = ops.broadcast(np.float32(0), ops.concat([batch, np.array([1, 4, 5])], 0))
    iterator.set_merged_input(state, begin.output(0), body.results[0].output(0))
    iterator.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 1)
    return iterator.get_iter_value(body.results[0].output(0), -1)


def bytes_of_repeated(begins: Any, ends: Any, symbols: Any) -> Any:
    """The bytes of strings that are there twice, one after the other."""
    strings = opset15.string_tensor_pack(begins, ends, symbols)
    return opset15.string_tensor_unpack(ops.tile(strings, np.array([2]))).output(2)


def integers_of_maxima(x: Any) -> Any:
    """The maxima of rows that are rounded to hundredths, as integers that begin at -128."""
    low, high = floats(0), floats(2.55)
    maxima = ops.reduce_max(ops.fake_quantize(x, low, high, low, high, 256), np.array([2]), False)
    return ops.convert(ops.fake_quantize(maxima, low, high, floats(-128), floats(127), 256), "i8")


def joined_twice(x: Any, y: Any) -> Any:
    """x, y and x, and the absolute values of x and y, in one list."""
    inner = ops.concat([x, y], 0)
    outer = ops.concat([inner, x], 0)
    return ops.concat([ops.negative(outer), ops.absolute(inner)], 0)


def running_sums(x: Any, lengths: Any) -> Any:
    """The sums of x [N, T, 1] up to each step of sequences, by a network of one cell."""
    one = np.ones((1, 1, 1), np.float32)
    begin = ops.multiply(ops.reduce_sum(x, np.array([1]), True), np.float32(0))
    return ops.rnn_sequence(x, begin, lengths, one, one, np.zeros((1, 1), np.float32), 1, "forward", ["relu"]).output(0)


def prior_boxes(x: Any, image: Any) -> Any:
    """A small box for each element of x, one of another aspect ratio, and a large one."""
    sizes = [ops.gather(ops.shape_of(each), np.array([2, 3]), np.int64(0)) for each in (x, image)]
    properties = {"min_size": floats(2), "max_size": floats(8), "aspect_ratio": floats(4), "variance": floats(1, 1, 2, 2), "offset": 0.5}
    return ops.prior_box(*sizes, {**properties, "step": 0.0, "scale_all_sizes": True, "min_max_aspect_ratios_order": False})


def quantized_residual(x: Any) -> Any:
    """x + ½ x, each number rounded to a multiple of ⅛, the half to one of ¼, and the sum to one of 1/16."""

    def leveled(value: Any, step: float) -> Any:
        limits = floats(0), floats(255 * step)
        return ops.fake_quantize(value, *limits, *limits, 256)

    def weights(*shape: int, code: int = 2, scale: float = 0.5) -> Any:
        units = np.eye(*shape[:2], dtype=np.int8) if shape[1] > 1 else np.ones(shape[:2], np.int8)
        return ops.multiply(ops.convert(ops.constant(np.int8(code) * units.reshape(shape)), np.float32), np.float32(scale))

    steps = [1, 1], [0, 0], [0, 0], [1, 1]
    first = leveled(ops.convolution(leveled(x, 1 / 8), weights(16, 16, 1, 1), *steps), 1 / 8)
    inner = leveled(ops.group_convolution(first, weights(16, 1, 1, 1, 1), *steps), 1 / 8)
    half = leveled(ops.convolution(inner, weights(16, 16, 1, 1, code=4, scale=0.125), *steps), 1 / 4)
    return leveled(ops.add(first, half), 1 / 16)


def steps_and_data(x: Any) -> Any:
    """The states of an RNN by steps, which are its data without negative elements, then these data."""
    data, units = ops.relu(x), np.ones((1, 1, 1), np.float32)
    lengths, nothing = np.full(3, 2, np.int64), np.zeros((3, 1, 1), np.float32)
    by_batch = ops.transpose(data, np.array([1, 0, 2]))
    sequence = ops.rnn_sequence(by_batch, nothing, lengths, units, 0 * units, 0 * units[0], 1, "forward", activations=["relu"])
    return ops.concat([opset15.squeeze(ops.transpose(sequence.output(0), np.array([2, 1, 0, 3])), np.array([1])), data], 0)


PROOFS_OF_FORMS: dict[str, Proof] = {
    "unrounded-summand": (quantized_residual, [np.full((1, 16, 1, 1), 0.375, np.float32)], np.full((1, 16, 1, 1), 0.625, np.float32)),
    "f64-sizes": (tenths, [floats(1, 2, 3)], np.array(4)),
    "u32-constant": (lambda x: ops.broadcast(np.array(2**31 + 5, np.uint32), x), [np.array([1])], np.array([2**31 + 5], np.uint32)),
    "u32-shift": (
        opset15.bitwise_right_shift,
        [np.array([2**31 + 32], np.uint32), np.array([4], np.uint32)],
        np.array([2**27 + 2], np.uint32),
    ),
    "u32-order": (ops.maximum, [np.array([2**31 + 5], np.uint32), np.array([3], np.uint32)], np.array([2**31 + 5], np.uint32)),
    "u32-quotient": (ops.divide, [np.array([2**32 - 1], np.uint32), np.array([10], np.uint32)], np.array([429496729], np.uint32)),
    "u32-operand": (
        lambda x: ops.multiply(x, np.array([2**31 + 5], np.uint32)),
        [np.array([3], np.uint32)],
        np.array([2**31 + 15], np.uint32),
    ),
    "single-channel-loop": (
        summed_convolutions,
        [np.ones((2, 2, 1, 5, 5), np.float32)],
        np.full((2, 1, 4, 5), 4, np.float32),
    ),
    "i8-arithmetic": (ops.add, [np.array([200], np.uint8), np.array([100], np.uint8)], np.array([44], np.uint8)),
    "i32-relu": (ops.relu, [integers(2**24 + 1)], integers(2**24 + 1)),
    "i32-floor": (ops.floor, [integers(2**24 + 1)], integers(2**24 + 1)),
    "i32-equality": (ops.equal, [integers(2**24), integers(2**24 + 1)], np.array([False])),
    "quantize-16-bits": (
        lambda x: ops.fake_quantize(ops.add(x, floats(0.25)), floats(-1), floats(1), floats(-1), floats(1), 65536),
        [floats(1, 3)],
        floats(1, 1),
    ),
    "maximum-of-levels": (integers_of_maxima, [np.full((1, 2, 2), 2, np.float32)], np.full((1, 2), 72, np.int8)),
    "quantize-sum": (
        lambda x: ops.fake_quantize(ops.add(x, floats(1, 2).reshape(1, 2, 1)), floats(-10), floats(10), floats(-10), floats(10), 21),
        [np.zeros((3, 2, 4), np.float32)],
        np.broadcast_to(floats(1, 2).reshape(1, 2, 1), (3, 2, 4)),
    ),
    "padded-levels": (
        lambda x: ops.pad(rounded(x, -1, 127 / 128), np.array([1, 0]), np.array([0, 0]), "constant", floats(0.5)[0]),
        [np.zeros((1, 2), np.float32)],
        np.array([[0.5, 0.5], [0, 0]], np.float32),
    ),
    "blocks-of-levels": (
        lambda x: ops.space_to_batch(
            ops.fake_quantize(x, floats(-1), floats(191 / 64), floats(-1), floats(191 / 64), 256), [1, 1, 2, 1], [0, 0, 1, 0], [0, 0, 1, 0]
        ),
        [np.full((1, 1, 2, 1), 2, np.float32)],
        np.array([0, 2, 2, 0], np.float32).reshape(2, 1, 2, 1),
    ),
    "constant-by-reduction": (
        lambda x: ops.divide(np.int32(7), ops.reduce_sum(x, np.array([1]), False)),
        [integers(1, 1, 1, 2, 1, 1).reshape(2, 3)],
        integers(2, 1),
    ),
    "quotient-of-reduction": (
        lambda x: ops.divide(ops.reduce_sum(x, np.array([1]), False), np.int32(2)),
        [integers(1, 1, 1, 2, 1, 2).reshape(2, 3)],
        integers(1, 2),
    ),
    "saturated-bytes": (
        lambda x: ops.convert(x, "u8"),
        [np.array([-1, 300, 2.5])],
        np.array([255, 44, 2], np.uint8),
    ),
    "comparison-nan": (ops.greater, [floats(NAN, 1), floats(1, NAN)], np.array([False, False])),
    "activation-nan": (lambda x: ops.minimum(ops.maximum(x, floats(NAN)), floats(6)), [floats(1, 2)], floats(NAN, NAN)),
    "maximum-is-infinite": (
        lambda x: ops.equal(ops.reduce_max(x, np.array([1]), False), np.float32(-INF)),
        [floats(-INF, -INF).reshape(1, 2)],
        np.array([True]),
    ),
    "matmul-empty": (
        lambda x: ops.multiply(ops.matmul(x, np.zeros((0, 2), np.float32), False, False), floats(3, 2)),
        [np.zeros((5, 4, 0), np.float32)],
        np.zeros((5, 4, 2), np.float32),
    ),
    "empty-constant": (
        lambda x: ops.concat([x, np.zeros((0, 3), np.float32)], 1),
        [np.zeros((0, 2), np.float32)],
        np.zeros((0, 5), np.float32),
    ),
    "matmul-batch": (
        lambda x: ops.matmul(matrices_of_unknown_sizes(x), ops.constant(np.ones((4, 2, 5), np.float32)), False, False),
        [np.ones((1, 2, 2), np.float32)],
        np.full((4, 2, 5), 2, np.float32),
    ),
    "activation-rank": (
        lambda x: ops.minimum(ops.maximum(x, np.zeros((1, 1), np.float32)), np.float32(6)),
        [floats(1, 2)],
        floats(1, 2).reshape(1, 2),
    ),
    "gather-short-list": (
        lambda index: ops.gather(np.array([5, 6, 7], np.int32), index, np.int64(0)),
        [integers(-(2**31), -3, -4, 2**31 - 1, 64, 2, 3)],
        integers(0, 5, 0, 0, 0, 7, 0),
    ),
    "gather-blocks": (
        lambda index: ops.gather(dequantized_rows(), index, np.int64(0)),
        [np.array([[3, 0, 31]])],
        np.arange(160, dtype=np.float32).reshape(32, 5)[[[3, 0, 31]]] * 2,
    ),
    "gather-of-one-batch": (
        lambda x, places: ops.gather(x, places, np.array(1), 1),
        [np.arange(48, dtype=np.float32).reshape(1, 12, 4), np.array([[3, 0, 5, 7, 2, 1]])],
        np.arange(48, dtype=np.float32).reshape(1, 12, 4)[:, [3, 0, 5, 7, 2, 1]],
    ),
    "square-weights": (product_and_transposed, [np.eye(2, 6, dtype=np.float32)], np.eye(2, 6, dtype=np.float32) @ SQUARE @ SQUARE.T),
    "unknown-columns": (
        lambda x, y: ops.add(ops.matmul(x, y, False, False), floats(1, 2)),
        [np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)],
        floats(2, 2, 1, 3).reshape(2, 2),
    ),
    "unit-kernels": (convolved_by_unit_kernels, [IMAGE], padded_and_sampled()),
    "one-column": (
        lambda x: ops.convolution(x, np.ones((2, 1, 2, 3), np.float32), [1, 3], [0, 0], [0, 0], [1, 1]),
        [np.arange(60, dtype=np.float32).reshape(3, 1, 5, 4)],
        np.broadcast_to(np.arange(3).reshape(3, 1, 1, 1) * 120 + np.arange(4).reshape(1, 1, 4, 1) * 24 + 18, (3, 2, 4, 1)),
    ),
    "moved-strings": (
        bytes_of_repeated,
        [np.array([0, 1], np.int32), np.array([1, 3], np.int32), np.frombuffer(b"abc", np.uint8)],
        np.frombuffer(b"abcabc", np.uint8),
    ),
    "unknown-filters": (
        lambda x, w: ops.convolution(x, w, [1, 1], [0, 0], [0, 0], [1, 1]),
        [np.ones((2, 2, 4, 4), np.float32), np.ones((3, 2, 2, 2), np.float32)],
        np.full((2, 3, 3, 3), 8, np.float32),
    ),
    "rows-of-constants": (lambda x: ops.multiply(ops.reduce_sum(x, np.array([2]), False), ROW), [SIGNALS], SIGNALS.sum(2) * ROW),
    "rows-without-batches": (
        lambda x: ops.multiply(ops.reduce_sum(x, np.array([0]), False), ROW.reshape(16, 1)),
        [SIGNALS],
        SIGNALS.sum(0) * ROW.reshape(16, 1),
    ),
    "repeated-pooled-channel": (
        lambda x: ops.tile(ops.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0), np.array([1, 3, 1, 1])),
        [np.arange(20, dtype=np.float32).reshape(2, 1, 5, 2)],
        np.tile(np.arange(20, dtype=np.float32).reshape(2, 1, 5, 2), (1, 3, 1, 1)),
    ),
    "views-before-sequences": (
        steps_and_data,
        [np.arange(1, 7, dtype=np.float32).reshape(2, 3, 1)],
        np.tile(np.arange(1, 7, dtype=np.float32).reshape(2, 3, 1), (2, 1, 1)),
    ),
    "rows-of-activations": (
        lambda x: ops.multiply(ops.prelu(ops.reduce_sum(x, np.array([2]), False), floats(1.5)), ROW),
        [SIGNALS],
        SIGNALS.sum(2) * ROW,
    ),
    "rows-between-transposes": (
        lambda x: ops.multiply(
            ops.transpose(ops.reduce_sum(ops.transpose(x, np.array([1, 2, 0])), np.array([2]), True), np.array([2, 0, 1])),
            ROW.reshape(1, 16, 1),
        ),
        [SIGNALS],
        SIGNALS.sum(0, keepdims=True) * ROW.reshape(1, 16, 1),
    ),
    "rows-of-broadcasts": (
        lambda x: ops.broadcast(ops.reduce_sum(x, np.array([2]), True), np.array([1, 16, 1]), broadcast_spec="BIDIRECTIONAL"),
        [SIGNALS],
        SIGNALS.sum(2, keepdims=True),
    ),
    "search-empty": (lambda x, row: opset15.search_sorted(row, x), [floats(1, 2), np.zeros(0, np.float32)], np.zeros(2, np.int64)),
    "truth-of-smallest": (lambda x: ops.convert(x, "boolean"), [integers(-(2**31), 0)], np.array([True, False])),
    "selected-words": (
        lambda x, y: ops.select(ops.equal(y, integers(0)), ops.bitwise_or(x, integers(1)), x),
        [integers(2**24), integers(0)],
        integers(2**24 + 1),
    ),
    "prior-boxes-of-unknown-sizes": (
        prior_boxes,
        [np.zeros((1, 1, 2, 1), np.float32), np.zeros((1, 1, 4, 4), np.float32)],
        np.stack([np.concatenate([PRIORS, PRIORS + floats(0, 0.5, 0, 0.5)]).ravel(), np.tile(floats(1, 1, 2, 2), 6)]),
    ),
    "batches-of-reductions": (
        lambda x: ops.subtract(x, ops.reduce_max(x, np.array([1]), True)),
        [np.arange(12, dtype=np.int32).reshape(2, 3, 2)],
        np.arange(12, dtype=np.int32).reshape(2, 3, 2) - np.array([[[4, 5]], [[10, 11]]], np.int32),
    ),
    "batches-of-rows": (
        lambda x: ops.add(ops.reduce_max(x, np.array([2]), False), np.int32(1)),
        [np.arange(12, dtype=np.int32).reshape(3, 2, 2)],
        integers(2, 4, 6, 8, 10, 12).reshape(3, 2),
    ),
    "remainder-of-sizes": (
        lambda x: ops.broadcast(np.float32(1), ops.floor_mod(ops.shape_of(x), np.array([16]))),
        [np.zeros(7, np.float32)],
        np.ones(7, np.float32),
    ),
    "many-repeated-axes": (
        ops.tile,
        [np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2), integers(2, 2, 2, 2)],
        np.tile(np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2), [2, 2, 2, 2]),
    ),
    "computed-pad-value": (
        lambda x, value: opset12.pad(x, np.array([1]), np.array([0]), "constant", value),
        [floats(1, 2), np.float32(9)],
        floats(9, 1, 2),
    ),
    "large-pad-value": (
        lambda x: opset12.pad(x, np.array([1]), np.array([0]), "constant", np.int32(2**31 - 1)),
        [integers(1, 2).astype(np.int32)],
        integers(2**31 - 1, 1, 2).astype(np.int32),
    ),
    "unused-slices": (lambda x: iterated(x, uses_slice=False), [STEPS], floats(4, 4, 4)),
    "slices-of-states": (lambda x: iterated(x, uses_slice=True), [STEPS], STEPS.sum(0)),
    "absolute-concat": (joined_twice, [floats(-1, -2), floats(3, -4)], floats(1, 2, -3, 4, 1, 2, 1, 2, 3, 4)),
    "sequence-lengths": (
        running_sums,
        [np.ones((2, 3, 1), np.float32), integers(1, 3)],
        floats(1, 0, 0, 1, 2, 3).reshape(2, 1, 3, 1),
    ),
}
