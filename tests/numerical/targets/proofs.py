"""The smallest models that show the faults of the CPU plugin which no form avoids, by the names of their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import openvino
from openvino import opset13 as ops
from openvino import opset15
from openvino.utils.node_factory import NodeFactory

NAN, INF = np.nan, np.inf


def floats(*values: float) -> Any:
    """A list of f32."""
    return np.array(values, np.float32)


def integers(*values: int) -> Any:
    """A list of i32."""
    return np.array(values, np.int32)


def gelu(x: Any, half: float = 0.5) -> Any:
    """½ · x · (1 + erf(x / √2)) of a scalar, with constants [1]."""
    factor = ops.add(ops.erf(ops.divide(x, floats(1.4142135))), np.float32(1))
    return ops.multiply(ops.multiply(x, floats(half)), factor)


def approximate_gelu(x: Any, factor: float) -> Any:
    """½ · x · (1 + tanh(factor · (x + 0.044715 · x³)))."""
    cube = ops.multiply(ops.multiply(ops.multiply(x, x), x), floats(0.044715))
    return ops.multiply(ops.multiply(x, floats(0.5)), ops.add(ops.tanh(ops.multiply(ops.add(x, cube), floats(factor))), floats(1)))


def attention(x: Any) -> Any:
    """Attention in bf16 of queries x [1, 4, 2, 4] to constant keys, which are all equal, and x · x + x twice as values."""
    keys = ops.convert(ops.constant(np.ones((1, 4, 4, 4), np.float32)), "bf16")
    half = ops.convert(x, "bf16")
    values = ops.concat([ops.add(ops.multiply(half, half), half)] * 2, 2)
    shares = ops.softmax(ops.matmul(half, keys, False, True), -1)
    return ops.convert(ops.matmul(shares, values, False, False), np.float32)


def normalized(x: Any, mean_axis: int, variance_axis: int, eps: Any) -> Any:
    """(x - its mean along one axis) / (√(its variance along another) + eps)."""
    left, right = (ops.subtract(x, ops.reduce_mean(x, np.array([axis]), True)) for axis in (mean_axis, variance_axis))
    variance = ops.reduce_mean(ops.power(right, np.float32(2)), np.array([variance_axis]), True)
    return ops.divide(left, ops.add(ops.sqrt(variance), eps))


def limited_norm(x: Any) -> Any:
    """x by its norm along axis 0, or by a smallest one."""
    # The function of the operation sets passes over the mode.
    return NodeFactory("opset1").create(
        "NormalizeL2", [x.output(0), ops.constant(np.array([0])).output(0)], {"eps": 1e-10, "eps_mode": "max"}
    )


def packed(x: Any) -> Any:
    """Strings whose begins and ends are numbers above those of x."""
    begins, ends = (ops.reshape(ops.add(x, integers(step)), ops.shape_of(x), False) for step in (1, 2))
    return opset15.string_tensor_pack(begins, ends, np.zeros(1, np.uint8))


def quantized_product(x: Any) -> Any:
    """The product of x [1, 8] with the unit matrix, which the plugin computes with integers of eight bits."""
    low, high = np.float32(-12.8), np.float32(12.7)
    weights = ops.multiply(ops.convert(ops.constant(np.eye(8, dtype=np.int8)), np.float32), np.float32(1))
    return ops.matmul(ops.fake_quantize(x, low, high, low, high, 256), weights, False, True)


OF_UNKNOWN_SIZES = frozenset(
    {
        "channels-of-products",
        "concat-empty",
        "normalized-broadcast",
        "transpose-empty",
        "pool-empty",
        "strings-empty",
        "loop-never",
        "broadcast-empty",
        "joined-branches",
        "pooling-by-position",
        "resize-batch",
        "prior-boxes-of-unknown-sizes",
        "scattered-sizes",
    }
)
"""The faults that are there if sizes other than 1 are not known."""


def grown(x: Any) -> Any:
    """A loop that appends nothing of two columns to its state, twice."""
    state, appended = ops.parameter([0, -1], np.float32), ops.parameter([0, 2], np.float32)
    body = openvino.Model([ops.concat([state, appended], 1), ops.constant(np.array(True))], [state, appended])
    loop = ops.loop(ops.constant(np.array(2)), ops.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(state, x.output(0), body.results[0].output(0))
    loop.set_invariant_input(appended, x.output(0))
    return loop.get_iter_value(body.results[0].output(0), -1)


def not_begun(x: Any, runs: Any) -> Any:
    """x, or x + 1 if the condition of a loop of one iteration holds at first."""
    state = ops.parameter([2], np.float32)
    body = openvino.Model([ops.add(state, np.float32(1)), ops.constant(np.array(True))], [state])
    loop = ops.loop(ops.constant(np.array(1, np.int64)), ops.convert(runs, "boolean"))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(state, x.output(0), body.results[0].output(0))
    return ops.relu(loop.get_iter_value(body.results[0].output(0), -1))


def never_run(x: Any, count: Any) -> Any:
    """x [a, b] and the results of `count` iterations of a loop over it, joined along the first axis: [(count + 1) * a,
    b].
    """
    part, step = ops.parameter([-1, -1], np.float32), ops.parameter([], np.int64)
    product = ops.unsqueeze(ops.multiply(part, ops.convert(step, "f32")), np.array(0))
    body = openvino.Model([product, ops.constant(np.array(True))], [step, part])
    loop = ops.loop(count, ops.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([0, 1])
    loop.set_invariant_input(part, x.output(0))
    parts = loop.get_concatenated_slices(body.results[0].output(0), 0, 1, 1, -1, 0)
    count, height = (ops.gather(ops.shape_of(parts), np.array([axis]), np.array(0)) for axis in range(2))
    width = ops.gather(ops.shape_of(x), np.array([1]), np.array(0))
    return ops.concat([x, ops.reshape(parts, ops.concat([ops.multiply(count, height), width], 0), False)], 0)


def matrices_of_unknown_sizes(x: Any) -> Any:
    """A parameter, of which only the rank is known, which is 3."""
    x.set_partial_shape(openvino.PartialShape([-1, -1, -1]))
    return x


def columns_of_nothing(x: Any, *between: int) -> Any:
    """A parameter [0, ..., any]."""
    x.set_partial_shape(openvino.PartialShape([0, *between, -1]))
    return x


def rounded(x: Any, low: float, high: float) -> Any:
    """x rounded to one of 256 levels."""
    return ops.fake_quantize(x, *(np.float32(each) for each in (low, high, low, high)), 256)


def joined_branches(x: Any) -> Any:
    """The exponentials of the first column of x, and of twice x, each of which an If passes on."""
    results: list[Any] = []
    for factor in (1, 2):
        scaled = ops.multiply(x, np.float32(factor))
        branches = [openvino.Model([part], [part]) for part in (ops.parameter([-1, -1], np.float32) for _ in range(2))]
        choice = ops.if_op(ops.greater(ops.gather(ops.shape_of(scaled), np.array(0), np.array(0)), np.int64(0)).output(0))
        choice.set_then_body(branches[0])
        choice.set_else_body(branches[1])
        choice.set_input(scaled.output(0), *(branch.get_parameters()[0] for branch in branches))
        results.append(choice.set_output(*(branch.get_results()[0] for branch in branches)))
    return ops.exp(ops.gather(ops.concat(results, 0), np.array(0), np.array(1)))


Proof = tuple[Callable[..., Any], list[Any], Any]
"""A function that builds a model of its parameters, the inputs, and what it should compute."""

PROOFS: dict[str, Proof] = {
    "pooling-by-position": (
        lambda x, regions: ops.psroi_pooling(x, regions, 1, 1, 1.0, 1, 1, "average"),
        [np.ones((1, 1, 4, 4), np.float32), np.array([[0, 0, 0, 3, 3]] * 2, np.float32)],
        np.ones((2, 1, 1, 1), np.float32),
    ),
    "joined-branches": (joined_branches, [np.eye(200, 8, dtype=np.float32)], np.exp(np.kron([1, 2], np.eye(200)[:, 0])).astype(np.float32)),
    "f64-infinity": (lambda x: ops.add(x, x), [np.array([INF])], np.array([INF])),
    "i64-width": (lambda x: ops.add(x, x), [np.array([2**40])], np.array([2**41])),
    "u32-sign": (lambda x: ops.clamp(x, 3, 2**32), [np.array([2**31 + 5], np.uint32)], np.array([2**31 + 5], np.uint32)),
    "i32-power": (lambda x: ops.power(x, integers(2)), [integers(5001)], integers(5001**2)),
    "norm-overflow": (lambda x: ops.reduce_l2(x, np.array([0]), False), [floats(3e30, 4e30)], np.array(5e30, np.float32)),
    "i32-sum": (lambda x: ops.reduce_sum(x, np.array([0]), False), [integers(2**24, 1, 1, 1)], np.array(2**24 + 3, np.int32)),
    "i32-extremes": (lambda x: ops.reduce_max(x, np.array([0]), False), [integers(2**24 + 1, 0)], np.array(2**24 + 1, np.int32)),
    "i32-quotient": (ops.divide, [integers(1505919582), integers(74)], integers(20350264)),
    "i32-remainder": (ops.mod, [integers(1505919582), integers(74)], integers(46)),
    "i32-reverse": (
        lambda x: ops.reverse_sequence(x, np.array([2]), 0, 1),
        [np.array([[2**24 + 1, 1]], np.int32)],
        np.array([[1, 2**24 + 1]], np.int32),
    ),
    "i32-comparison": (ops.less, [integers(2**24), integers(2**24 + 1)], np.array(True)),
    "i32-select": (
        lambda x, y: ops.select(ops.greater(y, np.int32(0)), x, np.int32(0)),
        [integers(2**24 + 1), integers(1)],
        integers(2**24 + 1),
    ),
    "i16-width": (lambda x: ops.maximum(ops.add(x, x), np.int16(0)), [np.array([-30000], np.int16)], np.array([5536], np.int16)),
    "i32-product-of-matrices": (lambda x: ops.matmul(x, x, False, False), [integers(4097).reshape(1, 1)], integers(4097**2).reshape(1, 1)),
    "relu-nan": (ops.relu, [floats(NAN)], floats(NAN)),
    "exp-nan": (ops.exp, [floats(NAN)], floats(NAN)),
    "convert-nan": (lambda x: ops.convert(x, "boolean"), [floats(NAN)], np.array([True])),
    "clamp-nan": (lambda x: ops.clamp(x, -1, 1), [floats(NAN)], floats(NAN)),
    "maximum-nan": (ops.maximum, [floats(NAN), floats(0)], floats(NAN)),
    "minimum-nan": (ops.minimum, [floats(NAN), floats(0)], floats(NAN)),
    "hard-sigmoid-nan": (lambda x: ops.hard_sigmoid(x, np.float32(0.2), np.float32(0.5)), [floats(NAN)], floats(NAN)),
    "normalize-nan": (
        limited_norm,
        [floats(NAN, 1)],
        floats(NAN, NAN),
    ),
    "scatter-nan": (lambda x, u: opset15.scatter_nd_update(x, np.array([[0]]), u, "max"), [floats(1), floats(NAN)], floats(NAN)),
    "max-pool-infinity": (
        lambda x: ops.max_pool(x, [1], [1], [0], [0], [1]).output(0),
        [floats(-INF).reshape(1, 1, 1)],
        floats(-INF).reshape(1, 1, 1),
    ),
    "max-pool-nan": (
        lambda x: ops.max_pool(x, [1], [1], [0], [0], [2]).output(0),
        [floats(NAN, 1).reshape(1, 1, 2)],
        floats(NAN).reshape(1, 1, 1),
    ),
    "gelu-infinity": (lambda x: ops.gelu(x, "erf"), [floats(INF)], floats(INF)),
    "topk-nan": (lambda x: ops.topk(x, np.array(1), 0, "max", "value").output(0), [floats(1, NAN, 2)], floats(NAN)),
    "reduce-nan": (lambda x: ops.reduce_min(x, np.array([0]), False), [floats(-INF, NAN, -2.5)], np.float32(-INF)),
    "reduce-max-infinity": (lambda x: ops.reduce_max(x, np.array([0]), False), [floats(-INF, -INF)], np.float32(-INF)),
    "reduce-min-infinity": (lambda x: ops.reduce_min(x, np.array([0]), False), [floats(INF, INF)], np.float32(INF)),
    "mod-quotient": (ops.mod, [floats(1e8), floats(0.3)], np.fmod(floats(1e8), floats(0.3))),
    "mod-infinity": (ops.mod, [floats(5.5), floats(INF)], floats(5.5)),
    "loop-empty-state": (grown, [np.zeros((0, 2), np.float32)], np.zeros((0, 6), np.float32)),
    "soft-plus-overflow": (lambda x: ops.log(ops.add(ops.exp(x), np.float32(1))), [floats(100)], floats(INF)),
    "two-columns": (
        lambda x: ops.add(ops.relu(ops.matmul(x, x, False, False)), floats(1, 2)),
        [np.eye(2, dtype=np.float32)],
        floats(2, 2, 1, 3).reshape(2, 2),
    ),
    "fused-nan": (lambda x: gelu(x, NAN), [floats(1)], floats(NAN)),
    "f32-quotient": (ops.divide, [floats(16.5), floats(33 / 255)], floats(16.5) / floats(33 / 255)),
    "quantize-middle": (
        lambda x: ops.fake_quantize(x, floats(-1), floats(254), floats(0), floats(255), 256),
        [floats(12.5)],
        np.rint(floats(12.5)) + 1,
    ),
    "scattered-sizes": (
        lambda x: ops.reshape(
            x, opset15.scatter_nd_update(np.ones(2, np.int64), np.array([[0], [1], [1]]), ops.shape_of(x), reduction="prod"), False
        ),
        [np.zeros((3, 2, 4), np.float32)],
        np.zeros((3, 8), np.float32),
    ),
    "levels-of-sums": (
        lambda x: rounded(ops.add(rounded(x, -14.314325, 9.235048), floats(1)), -13.39082, 10.158553),
        [floats(0)],
        floats(11 * 0.09235048),
    ),
    "f8-rounding": (lambda x: ops.convert(ops.convert(x, "f8e4m3"), np.float32), [floats(-3.6253185)], floats(-3.75)),
    "e8m0-rounding": (
        lambda x: ops.convert(ops.convert(x, "f8e8m0"), np.float32),
        [floats(5.1)],
        floats(8),
    ),
    "unique-empty": (
        lambda x: ops.unique(x, np.array(1), sorted=False).output(1),
        [np.zeros((0, 1), np.float32)],
        np.array([0], np.int64),
    ),
    "gelu-constants": (lambda x: approximate_gelu(x, 0.8058634), [floats(-0.70645994)], floats(-0.16809201)),
    "prelu-shape": (
        lambda x: ops.subtract(ops.relu(x), ops.multiply(ops.relu(ops.negative(x)), floats(2, 3).reshape(2, 1, 1))),
        [np.full((1, 1, 1, 1), -1, np.float32)],
        floats(-2, -3).reshape(1, 2, 1, 1),
    ),
    "transpose-empty": (lambda x: ops.transpose(x, np.array([2, 0, 1])), [np.zeros((0, 2, 1), np.float32)], np.zeros((1, 0, 2))),
    "concat-empty": (
        lambda x: ops.concat([ops.slice(x, np.array([0]), np.array([0]), np.array([1]), np.array([1])), x], 0),
        [np.zeros((4, 0), np.float32)],
        np.zeros((8, 0)),
    ),
    "pool-empty": (
        lambda x: ops.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2]),
        [np.zeros((0, 2, 4, 4), np.float32)],
        np.zeros((0, 2, 3, 3)),
    ),
    "attention-keys": (
        attention,
        [np.eye(4, dtype=np.float32)[None, :2].repeat(4, 0)[None]],
        np.broadcast_to(floats(1, 1, 0, 0), (1, 4, 2, 4)),
    ),
    "average-pool-empty": (
        lambda x: ops.avg_pool(x, [1], [2], [2], [2], True),
        [np.zeros((50, 2, 0), np.float32)],
        np.full((50, 2, 3), NAN),
    ),
    "strings-empty": (
        packed,
        [np.zeros((0, 5), np.int32)],
        np.zeros((0, 5), np.str_),
    ),
    "convolution-of-one-channel": (
        lambda x: ops.convolution(x, np.ones((2, 1, 2, 3), np.float32), [1, 3], [0, 0], [0, 0], [1, 1]),
        [np.arange(60, dtype=np.float32).reshape(3, 1, 5, 4)],
        np.broadcast_to(np.arange(3).reshape(3, 1, 1, 1) * 120 + np.arange(4).reshape(1, 1, 4, 1) * 24 + 18, (3, 2, 4, 1)),
    ),
    "convolution-infinity": (
        lambda x: ops.convolution(ops.add(x, floats(1, 1)), np.full((1, 2, 1, 1), 0.3, np.float32), [2, 1], [0, 0], [0, 0], [1, 1]),
        [np.full((2, 2, 2, 2), -INF, np.float32)],
        np.full((2, 1, 1, 2), -INF, np.float32),
    ),
    "elementwise-empty": (
        lambda x: ops.equal(ops.unsqueeze(columns_of_nothing(x), np.array(-1)), floats(0, 1, 2)),
        [np.zeros((0, 2), np.float32)],
        np.zeros((0, 2, 3), np.bool_),
    ),
    "unsqueeze-empty": (
        lambda x: ops.unsqueeze(ops.squeeze(columns_of_nothing(x, 1), np.array(1)), np.array(0)),
        [np.zeros((0, 1, 2), np.float32)],
        np.zeros((1, 0, 2), np.float32),
    ),
    "resize-batch": (
        lambda x: ops.interpolate(x, np.array([2, 2, 3, 4]), "nearest", "sizes", axes=np.arange(4)),
        [np.ones((1, 2, 3, 4), np.float32)],
        np.ones((2, 2, 3, 4), np.float32),
    ),
    "zero-divisor": (
        lambda x: ops.divide(
            ops.add(ops.convolution(x, np.ones((1, 1, 1, 1), np.float32), [1, 1], [0, 0], [0, 0], [1, 1]), floats(-1)), floats(0)
        ),
        [np.full((1, 1, 1, 1), 2, np.float32)],
        np.full((1, 1, 1, 1), INF, np.float32),
    ),
    "broadcast-empty": (
        lambda x: ops.add(ops.broadcast(np.float32(1), ops.shape_of(x)), np.ones((1, 1), np.float32)),
        [np.zeros((0, 2), np.float32)],
        np.zeros((0, 2), np.float32),
    ),
    "loop-not-begun": (not_begun, [floats(1, 2), np.array(0)], floats(1, 2)),
    "loop-never": (never_run, [np.ones((2, 4), np.float32), np.array(0)], np.ones((2, 4), np.float32)),
    "convolution-empty": (
        lambda x: ops.convolution(x, np.ones((1, 2, 3), np.float32), [1], [2], [1], [1]),
        [np.zeros((50, 2, 0), np.float32)],
        np.zeros((50, 1, 1)),
    ),
    "mean-empty": (lambda x: ops.reduce_mean(x, np.array([1]), False), [np.zeros((3, 0), np.float32)], floats(NAN, NAN, NAN)),
    "gelu-rank": (gelu, [np.float32(1)], floats(0.8413447)),
}
