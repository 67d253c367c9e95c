"""Loops: trip counts from zero on, conditions, captured values, shapes that grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from tests.fuzz.sketch import CONTROL_FLOW, Sketch, pattern

ARITHMETIC = ("Add", "Mul", "Sub", "Max", "Min")


def trips(g: Sketch) -> str:
    """A number of iterations: often none, mostly known."""
    return g.array(g.draw.one_of((0, 1, 2, 3, 5)), np.int64, given=0.5)


def looped(
    g: Sketch, count: str, condition: str, states: Sequence[str], types: Sequence[int], step: Callable[..., Sequence[str]], results: int
) -> list[str]:
    """A Loop: `step` gets the names of iteration, condition and states, and returns those of condition, states and scan outputs."""
    number = g.count
    names = [f"i{number}", f"keep{number}", *(f"s{number}_{place}" for place in range(len(states)))]
    # Exporters say the ranks of states, or nothing about their shapes.
    ranks = [g.operands[state].ndim if state in g.operands and g.draw.chance(0.7) else None for state in states]
    kinds = [(TensorProto.INT64, 0), (TensorProto.BOOL, 0), *zip(types, ranks, strict=True)]
    parameters = dict(zip(names, kinds, strict=True))
    body = g.body(parameters, lambda: step(*names))
    return g.plain("Loop", count, condition, *states, outputs=results, body=body)


def last(g: Sketch, results: Sequence[str]) -> str:
    """All results but the last become outputs; the last one is returned."""
    g.outputs += results[:-1]
    return results[-1]


def condition(g: Sketch) -> str:
    """A condition to begin with: none, true, seldom false or given."""
    return "" if g.draw.chance(0.4) else g.array(g.draw.chance(0.85), np.bool_, given=0.3)


@pattern("Loop", CONTROL_FLOW)
def accumulate(g: Sketch) -> str:
    """A state that is combined with a captured value, and what it was in each iteration."""
    shape = g.draw.shape(0, 3)
    state, captured = g.input(shape), g.input(g.draw.broadcasts_to(shape))
    kind, scan, passed = g.draw.one_of(ARITHMETIC), g.draw.integer(0, 2), g.draw.chance(0.2)

    def step(iteration: str, keep: str, value: str) -> list[str]:
        following = g.op(kind, value, captured)
        if g.draw.chance(0.3):
            following = g.op("Add", following, g.op("Cast", iteration, to=1))
        scanned = [value if passed else following, g.op("Cast", iteration, to=1)][:scan]
        return [keep if g.draw.chance(0.5) else g.op("Identity", keep), following, *scanned]

    return last(g, looped(g, trips(g), condition(g), [state], [1], step, 1 + scan))


@pattern("Loop.while", CONTROL_FLOW)
def while_less(g: Sketch) -> str:
    """A loop that ends when a state passes a limit."""
    state = g.input(g.draw.one_of(([], [1])))
    limit, scan = g.array(g.draw.one_of((-5.0, 3.0, 10.0)), given=0.3), g.draw.integer(0, 1)

    def step(_iteration: str, _keep: str, value: str) -> list[str]:
        following = g.op("Add", value, g.number(2.0))
        less = g.op("Less", g.op("ReduceSum", following, keepdims=0), limit)
        return [less, following, *[following][:scan]]

    count = "" if g.draw.chance(0.3) else g.array(g.draw.one_of((4, 8)), np.int64, given=0.3)
    return last(g, looped(g, count, condition(g), [state], [1], step, 1 + scan))


@pattern("Loop.growing", CONTROL_FLOW)
def growing(g: Sketch) -> str:
    """A state that gets longer in each iteration."""
    shape = g.draw.shape(1, 3)
    axis = g.draw.axis(len(shape))
    state, captured = g.input(shape), g.input(shape)
    return last(
        g,
        looped(
            g,
            trips(g),
            condition(g),
            [state],
            [1],
            lambda _, keep, value: [keep, g.op("Concat", value, g.op("Relu", captured), axis=axis)],
            1,
        ),
    )


@pattern("Loop.shrinking", CONTROL_FLOW)
def shrinking(g: Sketch) -> str:
    """A state that gets shorter, until it is empty."""
    state = g.input(g.draw.filled(1, 2))

    def step(_: str, keep: str, value: str) -> list[str]:
        return [keep, g.op("Slice", value, g.integers(1), g.integers(2**31 - 1), g.integers(0))]

    return last(g, looped(g, trips(g), condition(g), [state], [1], step, 1))


@pattern("Loop.swap", CONTROL_FLOW)
def swapped(g: Sketch) -> str:
    """Two states that change places, and one that never changes."""
    shape = g.draw.shape(0, 2)
    states = [g.input(shape), g.input(shape), g.input(g.draw.shape(0, 2))]

    def step(_: str, keep: str, left: str, right: str, fixed: str) -> list[str]:
        return [keep, right, left if g.draw.chance(0.5) else g.op("Neg", left), fixed, left]

    return last(g, looped(g, trips(g), condition(g), states, [1, 1, 1], step, 4))


@pattern("Loop.gather", CONTROL_FLOW)
def by_index(g: Sketch) -> str:
    """A loop over the slices of a captured value, as exporters write recurrent networks."""
    length = g.draw.integer(1, 4)
    shape = g.draw.shape(0, 2)
    data, state = g.input([length, *shape]), g.input(shape)
    kind = g.draw.one_of(ARITHMETIC)

    def step(iteration: str, keep: str, value: str) -> list[str]:
        piece = g.op("Gather", data, iteration, axis=0)
        following = g.op(kind, piece, value) if g.draw.chance(0.5) else g.op(kind, value, piece)
        return [keep, following, following if g.draw.chance(0.7) else piece]

    count = g.array(g.draw.integer(0, length), np.int64, given=0.5)
    if g.draw.chance(0.3):
        count = g.op("Gather", g.op("Shape", data), g.array(0, np.int64), axis=0)
    return last(g, looped(g, count, condition(g), [state], [1], step, 2))


@pattern("Loop.nested", CONTROL_FLOW)
def nested(g: Sketch) -> str:
    """A loop in a loop; the inner one captures a state of the outer one."""
    shape = g.draw.shape(0, 2)
    state = g.input(shape)

    def outer(_: str, keep: str, value: str) -> list[str]:
        inner = looped(g, trips(g), "", [value], [1], lambda _, keep, x: [keep, g.op("Add", x, value), x], 2)
        return [keep, inner[0], g.op("ReduceSum", inner[1], keepdims=0)]

    return last(g, looped(g, trips(g), condition(g), [state], [1], outer, 2))
