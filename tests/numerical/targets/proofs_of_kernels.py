"""The smallest models of operations that the CPU plugin has no kernel for, or computes wrongly in every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
from openvino import opset13 as ops
from openvino import opset14, opset15
from openvino.utils.node_factory import NodeFactory

from tests.numerical.targets.proofs import Proof, floats, integers


def hard_sigmoid_cell(x: Any, state: Any) -> Any:
    """A step of a plain recurrent network, whose result is 0.2 · (x + 2 · state + 1) + 0.5 between 0 and 1."""
    ones = np.ones((1, 1), np.float32)
    return ops.rnn_cell(x, state, ones, 2 * ones, floats(1), 1, ["hardsigmoid"], [0.2], [0.5])


def rows_of_states(x: Any) -> Any:
    """The sums of x [2, 3, 1] up to each step, by a network whose state has the number of rows."""
    ones = np.ones((1, 1, 1), np.float32)
    state, lengths = np.zeros((2, 1, 1), np.float32), integers(3, 3)
    return ops.rnn_sequence(x, state, lengths, ones, ones, np.zeros((1, 1), np.float32), 1, "forward", ["relu"]).output(0)


def joined_columns(x: Any) -> Any:
    """x [N, M] transposed by an iterator that joins its rows as columns."""
    row = ops.parameter([1, -1], np.float32)
    iterator = ops.tensor_iterator()
    iterator.set_body(openvino.Model([ops.transpose(ops.relu(row), np.array([1, 0]))], [row]))
    iterator.set_sliced_input(row, x.output(0), 0, 1, 1, -1, 0)
    joined = iterator.get_concatenated_slices(iterator.get_function().results[0].output(0), 0, 1, 1, -1, 1)
    return ops.abs(joined)


def responses(x: Any, size: int, bias: float) -> Any:
    """x / (bias + size · the mean of the squares of neighbours)."""
    # The function of the operation sets takes integers only.
    operands = [x.output(0), ops.constant(np.array([1])).output(0)]
    return NodeFactory("opset1").create("LRN", operands, {"alpha": float(size), "beta": 1.0, "bias": bias, "size": size})


def indices_behind_padding(x: Any) -> Any:
    """The indices of the largest elements of pairs, of which the first one begins in the padding."""
    return opset14.max_pool(x, [1], [1], [0], [0], [2], "floor", "same_lower", "i64", 0).output(1)


def constant_boxes(x: Any) -> Any:
    """The indices of a box of constants, plus x."""
    operands = [np.array([[[0, 0, 1, 1]]], np.float32), np.array([[[0.5]]], np.float32), np.array(1), np.float32(0.5), np.float32(0)]
    attributes = {"box_encoding": "corner", "sort_result_descending": False, "output_type": "i64"}
    selected = NodeFactory("opset9").create("NonMaxSuppression", [ops.constant(each).output(0) for each in operands], attributes)
    return ops.add(ops.convert(selected.output(0), "f32"), x)


def distances_from_size(x: Any) -> Any:
    """The distances of 1 and 5 from the number of columns of x."""
    columns = ops.gather(ops.shape_of(x), np.array([1]), np.array(0))
    return ops.abs(ops.subtract(np.array([1, 5], np.float32), ops.convert(columns, np.float32)))


PROOFS_OF_KERNELS: dict[str, Proof] = {
    "indices-behind-padding": (indices_behind_padding, [floats(2, 1, 0).reshape(1, 1, 3)], np.array([[[0, 0, 1]]])),
    "hard-sigmoid-cells": (
        hard_sigmoid_cell,
        [floats(0, 1, -5).reshape(3, 1), floats(0.25, 1, 0).reshape(3, 1)],
        floats(0.8, 1, 0).reshape(3, 1),
    ),
    "joined-without-elements": (joined_columns, [np.zeros((2, 0), np.float32)], np.zeros((0, 2), np.float32)),
    "logical-axes": (
        lambda x, axes: ops.reduce_logical_and(x, axes, True),
        [np.array([[True, False], [True, True]]), np.array([0])],
        np.array([[True, False]]),
    ),
    "fractional-bias": (
        lambda x: responses(x, 3, 0.5),
        [np.ones((1, 3, 1, 1), np.float32)],
        (1 / floats(2.5, 3.5, 2.5)).reshape(1, 3, 1, 1),
    ),
    "responses-of-unknown-channels": (
        lambda x: responses(x, 5, 1.0),
        [np.ones((2, 17, 4, 4), np.float32)],
        np.broadcast_to((1 / floats(4, 5, *[6] * 13, 5, 4)).reshape(1, 17, 1, 1), (2, 17, 4, 4)),
    ),
    "sequence-sizes": (rows_of_states, [np.ones((2, 3, 1), np.float32)], floats(1, 2, 3, 1, 2, 3).reshape(2, 1, 3, 1)),
    "absolute-sizes": (distances_from_size, [np.ones((3, 2), np.float32)], floats(1, 3)),
}


PROOFS_OF_REFUSED: dict[str, Proof] = {
    "i64-masks": (
        lambda x: opset15.bitwise_and(opset15.bitwise_right_shift(x, np.array([1])), np.array([2**63 - 1])),
        [np.array([-2])],
        np.array([2**63 - 1]),
    ),
    "constant-boxes": (constant_boxes, [floats(1)], floats(1, 1, 1).reshape(1, 3)),
    "ranks-of-inputs": (lambda x, shape: ops.reshape(x, shape, False), [floats(1, 2), np.array([2, 1])], floats(1, 2).reshape(2, 1)),
}
"""Those that moir refuses."""
