"""Branches: conditions that are known, given or computed, captured values, results of different shapes."""

from __future__ import annotations

import numpy as np

from tests.fuzz.sketch import CONTROL_FLOW, Sketch, pattern


def condition(g: Sketch, x: str) -> str:
    """A condition: known, an input, or computed from a value."""
    match g.draw.integer(0, 2):
        case 0:
            return g.array(g.draw.one_of((True, False, [True], [False])), np.bool_, given=0.6)
        case 1:
            return g.op("Greater", g.op("ReduceSum", x, keepdims=0), g.array(0.0))
        case _:
            return g.op("Equal", g.op("Size", x), g.array(g.draw.one_of((0, 1, 4)), np.int64))


@pattern("If", CONTROL_FLOW)
def branches(g: Sketch) -> str:
    """Branches that compute with captured values, or pass them on."""
    shape = g.draw.shape(0, 3)
    x, y = g.input(shape), g.input(g.draw.broadcasts_to(shape))
    unary = g.draw.one_of(("Relu", "Neg", "Exp", "Identity"))
    count = g.draw.integer(1, 2)
    then = g.body({}, lambda: [g.op("Add", x, y), x][:count])
    other = g.body({}, lambda: [g.op(unary, x), g.op("Mul", x, x)][:count])
    results = g.plain("If", condition(g, x), outputs=count, then_branch=then, else_branch=other)
    g.outputs += results[1:]
    return g.op("Abs", results[0]) if g.draw.chance(0.3) else results[0]


@pattern("If.shapes", CONTROL_FLOW)
def shapes(g: Sketch) -> str:
    """Branches whose results have different sizes or ranks."""
    shape = g.draw.shape(1, 3)
    x = g.input(shape)
    axis = g.draw.axis(len(shape))
    then = g.body({}, lambda: [g.op("Concat", x, x, axis=axis)])

    def other() -> list[str]:
        match g.draw.integer(0, 2):
            case 0:
                return [g.op("Unsqueeze", x, g.integers(0))]
            case 1:
                return [g.op("Slice", x, g.integers(0), g.integers(1), g.integers(0))]
            case _:
                return [g.op("Relu", x)]

    return g.plain("If", condition(g, x), then_branch=then, else_branch=g.body({}, other))[0]


@pattern("If.constants", CONTROL_FLOW)
def constants(g: Sketch) -> str:
    """Branches that compute nothing."""
    shape = g.draw.shape(0, 2)
    x, left, right = g.input(shape), g.weights(shape), g.weights(g.draw.broadcasts_to(shape))
    then, other = g.body({}, lambda: [left]), g.body({}, lambda: [right])
    chosen = g.plain("If", condition(g, x), then_branch=then, else_branch=other)[0]
    return g.op("Add", x, chosen) if g.draw.chance(0.7) else chosen


@pattern("If.nested", CONTROL_FLOW)
def nested(g: Sketch) -> str:
    """A branch within a branch."""
    shape = g.draw.shape(0, 2)
    x, y = g.input(shape), g.input(shape)

    def then() -> list[str]:
        inner = g.plain(
            "If",
            condition(g, y),
            then_branch=g.body({}, lambda: [g.op("Sub", x, y)]),
            else_branch=g.body({}, lambda: [y if g.draw.chance(0.5) else g.op("Neg", x)]),
        )
        return [g.op("Relu", inner[0])]

    other = g.body({}, lambda: [g.op("Mul", x, y)])
    return g.plain("If", condition(g, x), then_branch=g.body({}, then), else_branch=other)[0]
