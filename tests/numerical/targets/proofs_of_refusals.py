"""The smallest models of faults that forms of elements, indices, convolutions and transforms avoid."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
from openvino import opset9, opset10, opset12
from openvino import opset13 as ops
from openvino.utils.node_factory import NodeFactory

from tests.numerical.targets.proofs import Proof, floats

GRID = np.arange(6, dtype=np.float32).reshape(2, 3)
COLUMNS = np.array([[1, 1, 0, 0, 1, 0, 1], [1, 1, 0, 0, 1, 0, 1], [1, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0]], np.float32)
COMPLEX = np.arange(120, dtype=np.float32).reshape(3, 4, 5, 2) % 7
KERNEL = np.ones((2, 1, 2), np.float32)


def in_bf16(*values: float) -> Any:
    """A list of bf16."""
    return ops.convert(ops.constant(floats(*values)), "bf16")


def normalized(x: Any) -> Any:
    """x [1, 4, 3], normalized in two groups of bf16."""
    grouped = opset12.group_normalization(ops.convert(x, "bf16"), in_bf16(1, 1, 1, 1), in_bf16(0, 0, 0, 0), 2, 1e-9)
    return ops.convert(grouped, "f32")


def product_as_scalar(row: Any, column: Any) -> Any:
    """The product of a row and a column, and 1, without dimensions."""
    return ops.reshape(ops.add(ops.matmul(row, column, False, False), floats(1)), np.array([], np.int64), False)


def broadcast_to_scalar(x: Any) -> Any:
    """x [] in the shape of a sum, which the runtime folds."""
    return ops.broadcast(x, ops.shape_of(ops.reduce_sum(ops.constant(floats(1, 1)), np.array([0]), False)))


def sum_of_nothing(x: Any) -> Any:
    """x [2, 0] multiplied by a matrix without rows: sums of no products."""
    return ops.einsum([x, ops.constant(np.zeros((0, 1), np.float32))], "ij,jk->ik")


def pairs(numbers: Any) -> Any:
    """Complex numbers as pairs of f32."""
    return np.stack([numbers.real, numbers.imag], -1).astype(np.float32)


def transposed(x: Any, wanted: Any, size: int = 2) -> Any:
    """x [1, 2, L] convolved with `size` ones, transposed, with a result of wanted sizes, from its begin on."""
    filters = np.ones((2, 1, size), np.float32)
    automatic = "explicit" if size == 2 else "same_upper"
    return ops.convolution_backprop_data(x, filters, [1], wanted, [0], [0], [1], automatic, [0])


def one_group(x: Any, filters: Any) -> Any:
    """A transposed convolution of one group."""
    return ops.group_convolution_backprop_data(x, filters, [1], None, [0], [0], [1], "explicit", [0])


def dequantized(x: Any) -> Any:
    """x [2, 5] by ones [1, 1, 5, 6] that are stored in a byte, and doubled."""
    weights = ops.multiply(ops.convert(ops.constant(np.ones((1, 1, 5, 6), np.int8)), "f32"), np.full((1, 1, 1, 1), 2, np.float32))
    return ops.matmul(x, weights, False, False)


def other_rows(values: Any) -> Any:
    """Whether each of two rows had an element, of which the first one has `values` in column 1."""
    operands = [ops.constant(np.array(each)).output(0) for each in ([2, 3], [[0, 1]])]
    filled = NodeFactory("opset16").create("SparseFillEmptyRows", [values.output(0), *operands, ops.constant(np.float32(7)).output(0)], {})
    return ops.logical_not(filled.output(2))


def chosen_by_itself(x: Any) -> Any:
    """x where a constant holds, else the constant."""
    condition = ops.constant(np.array([True, False]))
    return ops.select(condition, x, condition)


def drawn_twice(shares: Any) -> Any:
    """Three classes drawn for each row, plus themselves."""
    drawn = ops.multinomial(shares, np.array(3), "i32", True, False, 1, 2)
    return ops.add(drawn, ops.concat([drawn], 0))


def joined_rows(x: Any, runs: Any) -> Any:
    """x as often as a loop collects it: twice, or never."""
    step, row = ops.parameter([], np.int64), ops.parameter([2], np.float32)
    body = openvino.Model([ops.unsqueeze(row, np.array(0)), ops.constant(np.array(True))], [step, row])
    loop = ops.loop(ops.constant(np.array(2)), runs)
    loop.set_function(body)
    loop.set_special_body_ports([0, 1])
    loop.set_invariant_input(row, x.output(0))
    return loop.get_concatenated_slices(body.results[0].output(0), 0, 1, 1, -1, 0)


def grown_rows(rows: Any, first: Any) -> Any:
    """A state to which each iteration appends a row."""
    state, row = ops.parameter([-1, 1], np.float32), ops.parameter([1, 1], np.float32)
    grown = ops.concat([state, row], 0)
    iterator = ops.tensor_iterator()
    iterator.set_body(openvino.Model([grown], [state, row]))
    iterator.set_sliced_input(row, rows.output(0), 0, 1, 1, -1, 0)
    iterator.set_merged_input(state, first.output(0), grown.output(0))
    return iterator.get_iter_value(grown.output(0), -1)


def grown_state(rows: Any, first: Any) -> Any:
    """The sum of all rows of a state to which each of three iterations appends one, summed over the iterations."""
    step, state, total = ops.parameter([], np.int64), ops.parameter([-1, 1], np.float32), ops.parameter([1], np.float32)
    inner = ops.parameter([3, 1], np.float32)
    grown = ops.concat([state, ops.gather(inner, ops.unsqueeze(step, np.array(0)), np.array(0))], 0)
    added = ops.add(total, ops.reduce_sum(grown, np.array([0])))
    body = openvino.Model([ops.constant(np.array(True)), grown, added], [step, state, total, inner])
    loop = ops.loop(ops.constant(np.array(3)), ops.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([0, 0])
    loop.set_merged_input(state, first.output(0), grown.output(0))
    loop.set_merged_input(total, ops.constant(floats(0)).output(0), added.output(0))
    loop.set_invariant_input(inner, rows.output(0))
    return loop.get_iter_value(added.output(0), -1)


PROOFS_OF_REFUSALS: dict[str, Proof] = {
    "converted-levels": (
        lambda x: ops.fake_quantize(ops.convert(x, np.float32), floats(0), floats(255), floats(0), floats(510), 256),
        [np.array([[-5, 7, 300]], np.int16)],
        floats(0, 14, 510).reshape(1, 3),
    ),
    "bf16-normalization": (
        normalized,
        [np.tile(floats(-1, -1, -1, 1, 1, 1), 2).reshape(1, 4, 3)],
        np.tile(floats(-1, -1, -1, 1, 1, 1), 2).reshape(1, 4, 3),
    ),
    "grouped-columns": (
        lambda x: opset12.group_normalization(x, floats(1, 1, 1, 1), floats(0, 0, 0, 0), 2, 1e-9),
        [floats(1, 3, 8, 4, 5, 5, 2, 6).reshape(2, 4)],
        floats(-1, 1, 1, -1, 0, 0, -1, 1).reshape(2, 4),
    ),
    "scalar-product": (product_as_scalar, [floats(1, 2, 3, 4).reshape(1, 4), floats(1, -1, 2, 3).reshape(4, 1)], np.array(18, np.float32)),
    "broadcast-scalar": (broadcast_to_scalar, [np.array(3, np.float32)], np.array(3, np.float32)),
    "einsum-empty": (sum_of_nothing, [GRID[:, :0]], floats(0, 0).reshape(2, 1)),
    "blocks-of-padding": (
        lambda x: ops.space_to_batch(x, np.array([1, 1, 1, 3]), np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1])),
        [floats(1, 2).reshape(1, 2, 1, 1)],
        floats(0, 0, 1, 2, 0, 0).reshape(3, 2, 1, 1),
    ),
    "f8-examination": (lambda x: opset10.is_nan(ops.convert(x, "f8e4m3")), [floats(np.nan, 1)], np.array([True, False])),
    "bf16-pooling": (
        lambda x: ops.max_pool(ops.convert(x, "bf16"), [1], [1], [0], [0], [2]).output(1),
        [floats(1, 2).reshape(1, 1, 2)],
        np.array([[[1]]]),
    ),
    "bf16-sums": (
        lambda x, axes: ops.convert(ops.reduce_sum(ops.convert(x, "bf16"), axes, False), "f32"),
        [GRID, np.array([1])],
        floats(3, 12),
    ),
    "unique-bytes": (
        lambda x: opset10.unique(x, np.array(0), False).output(3),
        [np.array([True, False, True])],
        np.array([2, 1]),
    ),
    "packed-padding": (
        lambda x: ops.convert(opset12.pad(ops.convert(x, "u2"), np.array([1]), np.array([1]), "edge"), "f32"),
        [floats(0, 1, 2, 3)],
        floats(0, 0, 1, 2, 3, 3),
    ),
    "narrow-extremes": (
        lambda x: ops.reduce_max(x, np.array([0]), False),
        [np.zeros((0, 2), np.int16)],
        np.array([-(2**15)] * 2, np.int16),
    ),
    "u2-boolean": (lambda x: ops.convert(ops.convert(x, "u2"), "boolean"), [floats(0, 3)], np.array([False, True])),
    "gather-empty": (lambda x: ops.gather(x, np.zeros(0, np.int64), np.array(0)), [floats(1, 2)], np.zeros(0, np.float32)),
    "gather-computed-axis": (
        lambda x, axis: ops.gather(x, np.array([1]), axis),
        [GRID, np.array(1)],
        floats(1, 4).reshape(2, 1),
    ),
    "non-zero-scalar": (ops.non_zero, [np.float32(2)], np.zeros((0, 1), np.int64)),
    "one-hot-scalar": (
        lambda index, depth: ops.one_hot(index, depth, np.float32(1), np.float32(0), -1),
        [np.array(1), np.array(3)],
        floats(0, 1, 0),
    ),
    "slice-computed-axes": (
        lambda x, axes: ops.slice(x, np.array([1]), np.array([3]), np.array([1]), axes),
        [GRID, np.array([1])],
        GRID[:, 1:],
    ),
    "slice-from-end": (
        lambda x: ops.slice(x, np.array([-5]), np.array([-4]), np.array([-1]), np.array([0])),
        [floats(1, 2, 3)],
        floats(1),
    ),
    "slice-of-gathered": (
        lambda x, indices: ops.gather_elements(ops.slice(x, np.array([0]), np.array([1]), np.array([1]), np.array([0])), indices, 1),
        [GRID, np.array([[2, 0]])],
        floats(2, 0).reshape(1, 2),
    ),
    "unique-axis": (
        lambda x: opset10.unique(x, np.array(1), True).output(0),
        [COLUMNS],
        np.unique(COLUMNS, axis=1),
    ),
    "unique-unsorted": (lambda x: opset10.unique(x, None, False).output(0), [floats(3, 1, 3, 2)], floats(3, 1, 2)),
    "top-k-truth": (
        lambda x: ops.convert(ops.topk(x, np.array(2), 0, "max", "value").output(0), "boolean"),
        [floats(1, 0, -1)],
        np.array([True, False]),
    ),
    "top-k-none": (
        lambda x: ops.topk(x, np.array(0), 0, "max", "value").output(0),
        [floats(1, 2)],
        np.zeros(0, np.float32),
    ),
    "top-k-empty": (
        lambda x: ops.topk(x, np.array(0), 1, "max", "value").output(0),
        [np.zeros((5, 2), np.float32)],
        np.zeros((5, 0), np.float32),
    ),
    "empty-rows": (other_rows, [floats(5)], np.array([True, False])),
    "select-constants": (chosen_by_itself, [np.array([True, True])], np.array([True, False])),
    "iterators-of-changing-size": (
        grown_rows,
        [floats(1, 2, 3).reshape(3, 1), floats(-1).reshape(1, 1)],
        floats(-1, 1, 2, 3).reshape(4, 1),
    ),
    "states-of-changing-size": (grown_state, [floats(1, 2, 3).reshape(3, 1), floats(-1).reshape(1, 1)], floats(7)),
    "loop-condition": (joined_rows, [floats(1, 2), np.array(False)], np.zeros((0, 2), np.float32)),
    "single-group": (
        one_group,
        [np.ones((1, 2, 3), np.float32), np.ones((1, 2, 1, 2), np.float32)],
        floats(2, 4, 4, 2).reshape(1, 1, 4),
    ),
    "computed-sizes": (transposed, [np.ones((1, 2, 3), np.float32), np.array([4])], floats(2, 4, 4, 2).reshape(1, 1, 4)),
    "less-than-a-window": (
        lambda x: transposed(columns_of_two(x), np.array([2]), 4),
        [np.ones((1, 2, 1), np.float32)],
        floats(2, 2).reshape(1, 1, 2),
    ),
    "third-axis-levels": (
        lambda x: ops.relu(ops.fake_quantize(x, floats(0, 0), floats(1, 3), floats(0, 0), floats(1, 3), 256)),
        [np.full((2, 3, 2), 9, np.float32)],
        np.broadcast_to(floats(1, 3), (2, 3, 2)),
    ),
    "vector-product": (
        lambda x: ops.multiply(ops.matmul(x, floats(1, 2), False, False), np.float32(3)),
        [np.ones((3, 2, 2), np.float32)],
        np.full((3, 2), 9, np.float32),
    ),
    "dequantized-batch": (dequantized, [np.ones((2, 5), np.float32)], np.full((1, 1, 2, 6), 10, np.float32)),
    "real-transform-length": (
        lambda x, length: opset9.rdft(x, np.array([1]), length),
        [np.arange(8, dtype=np.float32).reshape(1, 8), np.array([4])],
        pairs(np.fft.rfft(np.arange(4.0)[None])),
    ),
    "inverse-volume": (
        lambda x: opset9.irdft(x, np.array([0, 1, 2]), np.array([2, 2, 4])),
        [COMPLEX],
        np.fft.irfftn(COMPLEX[..., 0] + 1j * COMPLEX[..., 1], (2, 2, 4), (0, 1, 2)).astype(np.float32),
    ),
    "random-scalar": (
        lambda x: ops.add(ops.random_uniform(ops.constant(np.zeros(0, np.int64)), np.float32(5), np.float32(5.0000005), "f32", 1, 2), x),
        [np.float32(1)],
        np.float32(6),
    ),
    "multinomial-uses": (drawn_twice, [np.ones((1, 1), np.float32)], np.zeros((1, 3), np.int32)),
}


def columns_of_two(x: Any) -> Any:
    """A parameter of two channels, of which no other size is known."""
    x.set_partial_shape(openvino.PartialShape([-1, 2, -1]))
    return x
