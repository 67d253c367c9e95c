"""Activations that exporters write as several nodes."""

from __future__ import annotations

from tests.fuzz.sketch import Sketch, pattern


@pattern("fuse-gelu")
def gelu(g: Sketch) -> str:
    x = g.input(g.draw.shape(0, 4))
    one, half, root = g.number(1.0, 2), g.number(0.5, 2), g.number(2**0.5, 2)
    inner = g.op("Erf", g.op("Div", x, root))
    if g.draw.chance(0.5):
        return g.either("Mul", g.either("Mul", x, half), g.either("Add", inner, one))
    return g.either("Mul", g.either("Mul", x, g.either("Add", inner, one)), half)


@pattern("fuse-gelu.tanh")
def gelu_by_tanh(g: Sketch) -> str:
    x = g.input(g.draw.shape(0, 4))
    cube = g.op("Pow", x, g.number(3.0, 1)) if g.draw.chance(0.5) else g.op("Mul", g.op("Mul", x, x), x)
    inner = g.either("Mul", g.either("Add", x, g.either("Mul", cube, g.number(0.044715))), g.number((2 / 3.141592653589793) ** 0.5))
    return g.either("Mul", g.either("Mul", x, g.number(0.5)), g.either("Add", g.op("Tanh", inner), g.number(1.0)))


@pattern("fuse-clamp")
def clamp(g: Sketch) -> str:
    x = g.input(g.draw.shape(0, 4))
    low, high = g.number(g.draw.one_of((-1.0, 0.0, 2.0)), 2), g.number(g.draw.one_of((1.0, 6.0, 0.0)), 2)
    return g.either("Min", g.either("Max", x, low), high) if g.draw.chance(0.5) else g.either("Max", g.either("Min", x, high), low)


@pattern("fuse-clamp.twice")
def clamp_twice(g: Sketch) -> str:
    x = g.input(g.draw.shape(0, 3))
    for _ in range(2):
        x = g.op("Clip", x, g.array(g.draw.one_of((-2.0, 0.0, 1.0))), g.array(g.draw.one_of((0.5, 3.0, -1.0))))
    return g.op("Relu", x) if g.draw.chance(0.5) else x


def hard_sigmoid(g: Sketch, x: str) -> str:
    """Relu6(x + 3) / 6 in one of its forms."""
    shifted = g.either("Add", x, g.number(3.0, 2))
    whole = g.draw.chance(0.5)
    clipped = g.op("Clip", shifted, g.array(0.0), g.array(6.0)) if whole else g.op("Min", g.op("Relu", shifted), g.number(6.0))
    return g.op("Div", clipped, g.number(6.0, 2)) if g.draw.chance(0.5) else g.either("Mul", clipped, g.number(1 / 6, 2))


@pattern("fuse-hsigmoid")
def hsigmoid(g: Sketch) -> str:
    return hard_sigmoid(g, g.input(g.draw.shape(0, 4)))


@pattern("fuse-hswish")
def hswish(g: Sketch) -> str:
    x = g.input(g.draw.shape(0, 4))
    other = g.input([1]) if g.draw.chance(0.1) else x
    return g.either("Mul", other, hard_sigmoid(g, x))


@pattern("fuse-soft-plus")
def softplus(g: Sketch) -> str:
    return g.op("Log", g.either("Add", g.op("Exp", g.input(g.draw.shape(0, 4))), g.number(1.0, 2)))


@pattern("fuse-mish")
def mish(g: Sketch) -> str:
    x = g.input(g.draw.shape(0, 4))
    other = g.input([1]) if g.draw.chance(0.1) else x
    return g.either("Mul", other, g.op("Tanh", g.op("Softplus", x)))


@pattern("fuse-swish")
def swish(g: Sketch) -> str:
    x = g.input(g.draw.shape(0, 4))
    inner = g.either("Mul", x, g.number(g.draw.one_of((1.0, 1.702, -1.0)), 2)) if g.draw.chance(0.5) else x
    if g.draw.chance(0.2):
        return g.op("Div", x, g.either("Add", g.op("Exp", g.op("Neg", inner)), g.number(1.0)))
    return g.either("Mul", g.input([1]) if g.draw.chance(0.1) else x, g.op("Sigmoid", inner))


@pattern("fuse-prelu")
def prelu(g: Sketch) -> str:
    shape = g.draw.shape(1, 4)
    x = g.input(shape)
    slope = g.number(g.draw.one_of((0.1, 0.25, 1.5, -0.5)), 2) if g.draw.chance(0.5) else g.weights(g.draw.broadcasts_to(shape))
    match g.draw.integer(0, 2):
        case 0:
            return g.either("Max", x, g.either("Mul", x, slope))
        case 1:
            return g.op("Sub", g.op("Relu", x), g.either("Mul", g.op("Relu", g.op("Neg", x)), slope))
        case _:
            return g.either("Add", g.op("Relu", x), g.either("Mul", g.op("Min", x, g.number(0.0)), slope))


@pattern("eliminate-identities")
def identities(g: Sketch) -> str:
    shape = g.draw.shape(0, 3)
    x = g.input(shape)
    for _ in range(g.draw.integer(1, 3)):
        kind, neutral = g.draw.one_of((("Add", 0.0), ("Mul", 1.0), ("Sub", 0.0), ("Div", 1.0), ("Pow", 1.0)))
        x = g.op(kind, x, g.number(neutral, len(shape)))
    return x


@pattern("fold-constants")
def constants(g: Sketch) -> str:
    shape = g.draw.shape(0, 3)
    left, right = g.weights(shape), g.weights(g.draw.broadcasts_to(shape))
    folded = g.op(g.draw.one_of(("Add", "Mul", "Sub", "Max")), left, right)
    folded = g.op(g.draw.one_of(("Relu", "Exp", "Neg", "Floor", "Round")), folded)
    return g.op("Add", g.input(g.draw.broadcasts_to(shape)), folded)


@pattern("deduplicate")
def duplicates(g: Sketch) -> str:
    shape = g.draw.shape(1, 3)
    x = g.input(shape)
    kind = g.draw.one_of(("Softmax", "LogSoftmax"))
    left, right = g.op(kind, x, axis=g.axis(0, len(shape))), g.op(kind, x, axis=g.axis(0, len(shape)))
    return g.op(g.draw.one_of(("Sub", "Add")), left, right)
