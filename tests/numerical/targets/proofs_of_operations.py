"""The smallest models of faults that lowerings of single frameworks once avoided, by the names of their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import openvino
from openvino import opset9, opset11, opset15, opset17
from openvino import opset13 as ops

from tests.numerical.targets.proofs import Proof, floats, integers, quantized_product

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


def repeated_rows(x: Any) -> Any:
    """Each of two rows of an image, twice."""
    first, second = ops.split(x, np.array(2), 2).outputs()
    return ops.concat([first, first, second, second], 2)


def selected_count(boxes: Any, scores: Any) -> Any:
    """The number of boxes that are selected if none may be."""
    thresholds = np.array(0), np.float32(0.5), np.float32(0)
    return opset9.non_max_suppression(boxes, scores, *thresholds, output_type="i32").output(2)


def looped(count: Any, states: list[Any], following: Callable[..., list[Any]], index: int) -> Any:
    """A state of the index after a loop whose body computes the following states."""
    parameters = [ops.parameter([2], np.float32) for _ in states]
    results: Any = [ops.constant(np.array(True)), *following(*parameters)]
    body = openvino.Model(results, parameters)
    loop = ops.loop(count, ops.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 0])
    for number, (parameter, state) in enumerate(zip(parameters, states, strict=True)):
        loop.set_merged_input(parameter, state.output(0), body.results[number + 1].output(0))
    return loop.get_iter_value(body.results[index + 1].output(0), -1)


def swapped(x: Any, y: Any) -> Any:
    """The second of two states that three iterations swap."""
    return looped(ops.constant(3), [x, y], lambda a, b: [b, a], 1)


def unread(x: Any, count: Any) -> Any:
    """A state that each iteration replaces by constants."""
    return looped(count, [x], lambda _: [ops.add(ops.constant(floats(1, 1)), ops.constant(floats(1, 2)))], 0)


def pairs(numbers: Any) -> Any:
    """The real and imaginary parts of complex numbers, as f32."""
    return np.stack([numbers.real, numbers.imag], -1).astype(np.float32)


def resized(x: Any, axes: list[int], mode: str) -> Any:
    """x, resized to twice its size along axes."""
    scales = np.full(len(axes), 2, np.float32)
    return opset11.interpolate(x, scales, mode, "scales", axes=np.array(axes), coordinate_transformation_mode="asymmetric")


PROOFS_OF_OPERATIONS: dict[str, Proof] = {
    "reduced-concat": (
        lambda x, y: ops.reduce_max(ops.concat([x, y], 0), np.array([0]), False),
        [floats(1, 5, 2), floats(4)],
        np.float32(5),
    ),
    "inverse-error-function": (
        lambda x: ops.round(ops.multiply(opset17.erfinv(x), np.float32(10)), "half_to_even"),
        [floats(0.999999, -0.99)],
        floats(35, -18),
    ),
    "floored-quotient": (ops.divide, [integers(7, -7, -8), integers(2, 2, 2)], integers(3, -4, -4)),
    "resized-axes": (
        lambda x: resized(x, [0, 2, 3], "nearest"),
        [ROWS.reshape(1, 1, 2, 3)],
        np.tile(ROWS.repeat(2, 0).repeat(2, 1), (2, 1, 1, 1)),
    ),
    "cubic-axes": (
        lambda x: resized(x, [0, 2], "cubic"),
        [np.array([[[1.0, 2.0]]], np.float32)],
        np.tile(floats(1, 1.5, 2, 2.09375), (2, 1, 1)),
    ),
    "linear-rank": (
        lambda x: resized(x, [5], "linear_onnx"),
        [floats(1, 2).reshape(1, 1, 1, 1, 1, 2)],
        floats(1, 1.5, 2, 2).reshape(1, 1, 1, 1, 1, 4),
    ),
    "i64-shift": (lambda x: opset15.bitwise_right_shift(x, np.array([40])), [np.array([2**31 - 1, -7])], np.array([0, -1])),
    "repeated-parts": (repeated_rows, [np.array([[[[1, 2], [3, 4]]]], np.int16)], np.array([[[[1, 2], [1, 2], [3, 4], [3, 4]]]], np.int16)),
    "repeated-softmax": (
        lambda x: ops.tile(ops.softmax(ops.matmul(np.eye(2, dtype=np.float32), x, False, False), 3), np.array([1, 2, 1, 1])),
        [np.zeros((1, 1, 2, 2), np.float32) + np.log(floats(1, 3))],
        np.tile(floats(0.25, 0.75), (1, 2, 2, 1)),
    ),
    "unsigned-negative": (ops.negative, [np.array([1, 0], np.uint16)], np.array([65535, 0], np.uint16)),
    "suppression-of-none": (selected_count, [np.zeros((1, 2, 4), np.float32), np.ones((1, 1, 2), np.float32)], integers(0)),
    "states-passed-on": (swapped, [floats(1, 2), floats(3, 4)], floats(1, 2)),
    "states-without-uses": (unread, [floats(5, 6), np.array(0)], floats(5, 6)),
    "rounded-sign": (
        lambda x: ops.convert(ops.round(quantized_product(x), "half_away_from_zero"), np.int32),
        [np.full((1, 8), -2.2, np.float32)],
        np.full((1, 8), -2, np.int32),
    ),
    "short-signals": (lambda x: opset9.rdft(x, np.array([1]), np.array([4])), [ROWS], pairs(np.fft.rfft(ROWS, 4))),
    "short-spectra": (
        lambda x: opset9.irdft(x, np.array([1]), np.array([4])),
        [pairs(ROWS[:, :2] + 0j)],
        np.fft.irfft(ROWS[:, :2], 4).astype(np.float32),
    ),
}
