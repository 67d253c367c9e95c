"""Recurrent cells and loops."""

from __future__ import annotations

from math import prod

import numpy as np
from onnx import helper

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.elementwise import ACTIVATIONS, floats_only
from tests.fuzz.fusions.kinds.registry import KINDS, kind

STEPS = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Mul.constant", "Add.constant", "Scale", "QDQ", "MatMul.constant", "Clip", "Softmax")
"""What bodies of loops are made of."""


@kind("Recurrent", "recurrent", 1.5)
def recurrent(d: Draft, x: Value) -> Value:
    """LSTM, GRU or RNN over the first of three dimensions."""
    if x.rank != 3 or x.dtype != np.float32:
        raise NoCase("no sequence")
    draw, (steps, batch, size) = d.draw, x.shape
    name, gates = draw.one_of((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    direction = draw.one_of(("forward", "reverse", "bidirectional"))
    ways, hidden = 2 if direction == "bidirectional" else 1, draw.integer(1, 4)
    operands: list[Value | None] = [x, d.weights((ways, gates * hidden, size), x, 0.5), d.weights((ways, gates * hidden, hidden), x, 0.5)]
    operands.append(d.weights((ways, 2 * gates * hidden), x, 0.5) if draw.chance(0.7) else None)
    others = {"linear_before_reset": draw.integer(0, 1)} if name == "GRU" else {}
    result, last = d.ops(name, *operands, outputs=2, hidden_size=hidden, direction=direction, **others)
    if draw.chance(0.3):
        return d.op("Squeeze", last, d.constant(np.array([0], np.int64))) if ways == 1 else last
    if ways == 1:
        return d.op("Squeeze", result, d.constant(np.array([1], np.int64)))
    return d.reshape(d.transpose(result, (0, 2, 1, 3)), (steps, batch, ways * hidden))


@kind("Cell", "recurrent", 1.0)
def cell(d: Draft, x: Value) -> Value:
    """A GRU or LSTM cell of simple operations: gates of a joined product, split."""
    floats_only(x)
    if x.rank != 2:
        raise NoCase("no vectors")
    draw, (batch, size) = d.draw, x.shape
    hidden = draw.integer(1, 4)
    state = d.input((batch, hidden), x.dtype)
    joined = d.op("Concat", x, state, axis=-1)
    halves = d.constant(np.array([hidden] * 2, np.int64))
    gates = d.op("Add", d.op("MatMul", joined, d.weights((size + hidden, 2 * hidden), x, 0.5)), d.weights((2 * hidden,), x, 0.5))
    update, reset = d.ops("Split", d.op("Sigmoid", gates), halves, outputs=2, axis=-1)
    if draw.chance(0.5):
        inner = d.op("Concat", x, d.op("Mul", reset, state), axis=-1)
        candidate = d.op(
            "Tanh", d.op("Add", d.op("MatMul", inner, d.weights((size + hidden, hidden), x, 0.5)), d.weights((hidden,), x, 0.5))
        )
        kept = d.op("Mul", update, state)
        return d.op("Add", d.op("Mul", d.op("Sub", d.scalar(1, x), update), candidate), kept)
    return d.op("Mul", update, d.op("Tanh", d.op("Add", state, reset)))


@kind("Scan", "recurrent", 1.0)
def scan(d: Draft, x: Value) -> Value:
    """A Scan over the first dimension with a state of the shape of a slice; the body uses the state twice or once."""
    floats_only(x)
    if x.rank < 2 or x.shape[0] > 4 or prod(x.shape[1:]) > 200:
        raise NoCase("nothing to be scanned")
    return _scanned(d, x, x.shape[1:])


@kind("Loop", "recurrent", 0.7)
def loop(d: Draft, x: Value) -> Value:
    """A Loop of a known number of iterations with one state."""
    floats_only(x)
    draw, number = d.draw, d.count
    names = [f"{each}{number}" for each in ("step", "going", "state")]
    with d.body() as nodes:
        state = Value(names[2], x.shape, x.dtype)
        following = _step(d, state)
        again = d.op("Identity", Value(names[1], (), np.dtype(bool)))
        following = d.op("Identity", following)
        element = helper.np_dtype_to_tensor_dtype(x.dtype)
        body = helper.make_graph(
            nodes,
            f"body{number}",
            [
                helper.make_tensor_value_info(names[0], 7, []),
                helper.make_tensor_value_info(names[1], 9, []),
                helper.make_tensor_value_info(names[2], element, list(x.shape)),
            ],
            [helper.make_tensor_value_info(again.name, 9, []), helper.make_tensor_value_info(following.name, element, list(x.shape))],
        )
    count, going = d.constant(np.array(draw.integer(1, 3), np.int64)), d.constant(np.array(True))
    result = Value(f"v{d.count}", x.shape, x.dtype)
    d.nodes.append(helper.make_node("Loop", [count.name, going.name, x.name], [result.name], f"Loop_{d.count}", body=body))
    d.count += 1
    return result


def _step(d: Draft, state: Value) -> Value:
    """A new state of the same shape. Raises NoCase if the shape changes."""
    result = state
    for _ in range(d.draw.integer(1, 3)):
        result = KINDS[d.draw.one_of(STEPS)].apply(d, result) if d.draw.chance(0.8) else d.draw.one_of([*ACTIVATIONS.values()])(d, result)
        if d.draw.chance(0.3):
            result = d.op(d.draw.one_of(("Add", "Mul", "Sub")), result, state)
    # States that are multiplied in each iteration must stay small.
    if result.shape != state.shape or result.dtype != state.dtype:
        raise NoCase("the state changes its shape")
    return d.op("Clip", result, d.constant(-8, state.dtype), d.constant(8, state.dtype)) if d.draw.chance(0.5) else d.op("Tanh", result)


def _scanned(d: Draft, x: Value, shape: tuple[int, ...]) -> Value:
    draw, number = d.draw, d.count
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    begin = d.constant(d.numbers(shape, x.dtype)) if draw.chance(0.6) else d.input(shape, x.dtype)
    with d.body() as nodes:
        state, part = Value(f"state{number}", shape, x.dtype), Value(f"part{number}", shape, x.dtype)
        joined = d.op(draw.one_of(("Add", "Mul", "Sub", "Max")), state, part)
        following = d.op("Identity", _step(d, joined))
        source = draw.one_of((following, following, joined, state, part))
        result = d.op("Identity", _step(d, source) if draw.chance(0.7) else source)
        body = helper.make_graph(
            nodes,
            f"body{number}",
            [helper.make_tensor_value_info(each.name, element, list(shape)) for each in (state, part)],
            [helper.make_tensor_value_info(each.name, element, list(shape)) for each in (following, result)],
        )
    last, value = Value(f"v{d.count}", shape, x.dtype), Value(f"v{d.count}_1", x.shape, x.dtype)
    attributes = {"num_scan_inputs": 1}
    if draw.chance(0.2):
        attributes["scan_input_directions"] = [1]
    d.nodes.append(helper.make_node("Scan", [begin.name, x.name], [last.name, value.name], f"Scan_{d.count}", body=body, **attributes))
    d.count += 1
    if draw.chance(0.4):
        d.values.append(last)
    return value
