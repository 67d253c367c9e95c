"""What stands between the blocks of a network: elementwise operations and movements of data, as people write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.architectures.language import Language
from tests.fuzz.fusions.architectures.registry import Append
from tests.fuzz.fusions.draft import Value

ACTIVATIONS = (
    "Abs",
    "Elu",
    "Erf",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Mish",
    "Neg",
    "Relu",
    "Relu6",
    "Sigmoid",
    "Sin",
    "Softplus",
    "Square",
    "Swish",
    "Tanh",
)

INSERTIONS: dict[str, Append] = {}
"""All insertions, by their names. None changes the shape of what it is appended to."""


def insertion(function: Append) -> Append:
    """Register an insertion by the name of its function."""
    INSERTIONS[function.__name__.replace("_", "-")] = function
    return function


@insertion
def activation(n: Language, x: Value) -> Value:
    return n.unary(n.draw.one_of(ACTIVATIONS), x)


@insertion
def constant_term_or_factor(n: Language, x: Value) -> Value:
    """With one number, one for each entry of an axis, or one for each element; some are 0, 1 or negative."""
    draw = n.draw
    match draw.integer(0, 3):
        case 0:
            array = np.array(draw.one_of((0.5, -1.0, 2.0, -0.25, 1.0, 0.0)), np.float32)
        case 1:
            array = n.numbers((x.shape[-1],), 0.7)
        case 2:
            axis = draw.integer(0, x.rank - 1)
            array = n.numbers([size if each == axis else 1 for each, size in enumerate(x.shape)], 0.7)
        case _:
            array = n.numbers([size if draw.chance(0.6) else 1 for size in x.shape], 0.7)
    kind, constant = draw.one_of(("Add", "Sub", "Mul", "Mul", "Max", "Min")), n.constant(array)
    return n.binary(kind, x, constant) if draw.chance(0.7) else n.binary(kind, constant, x)


@insertion
def earlier_value(n: Language, x: Value) -> Value:
    """A sum or product with a value of the same shape that was computed before."""
    fitting = [each for each in n.values if each.shape == x.shape and each.name != x.name]
    if not fitting:
        raise NoCase("no such value")
    other = n.draw.one_of(fitting)
    kind = n.draw.one_of(("Add", "Add", "Mul", "Sub", "Max"))
    return n.binary(kind, x, n.unary(n.draw.one_of(ACTIVATIONS), other) if n.draw.chance(0.3) else other)


@insertion
def reshaped_for_a_while(n: Language, x: Value) -> Value:
    """Another shape, an operation there, and the shape again."""
    shape = list(x.shape)
    if x.rank > 2 and n.draw.chance(0.5):
        axis = n.draw.integer(0, x.rank - 2)
        shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
    else:
        shape.insert(n.draw.integer(0, x.rank), 1)
    if len(shape) > 5:
        raise NoCase("too many dimensions")
    return n.reshaped(once_more(n, n.reshaped(x, shape)), x.shape)


@insertion
def transposed_for_a_while(n: Language, x: Value) -> Value:
    """Axes in another order, an operation there, and the order again."""
    order = n.draw.permutation(x.rank)
    return n.transposed(once_more(n, n.transposed(x, order)), [int(each) for each in np.argsort(order)])


@insertion
def split_and_joined(n: Language, x: Value) -> Value:
    """Parts along an axis, of which some pass an operation, joined again, perhaps in another order."""
    axis = n.draw.one_of([each for each, size in enumerate(x.shape) if size > 1] or [0])
    size = x.shape[axis]
    if size < 2:
        raise NoCase("nothing to split")
    first = size // 2 if n.draw.chance(0.7) else n.draw.integer(1, size - 1)
    rows = n.parts(x, [first, size - first], axis)
    rows = [once_more(n, row) if n.draw.chance(0.6) else row for row in rows]
    return n.joined(rows if n.draw.chance(0.6) else rows[::-1], axis)


@insertion
def gated_by_halves(n: Language, x: Value) -> Value:
    """The product of two halves, twice beside each other."""
    axis = n.draw.one_of([each for each, size in enumerate(x.shape) if size % 2 == 0] or [0])
    if x.shape[axis] % 2:
        raise NoCase("no halves")
    first, second = n.parts(x, [x.shape[axis] // 2] * 2, axis)
    gate = n.binary("Mul", first, n.unary(n.draw.one_of(("Sigmoid", "Tanh", "Gelu")), second))
    return n.joined([gate, n.draw.one_of((first, second, gate))], axis)


@insertion
def padded_and_sliced(n: Language, x: Value) -> Value:
    """Zeros at one side, and as many entries less at this or the other side."""
    axis, count = n.draw.integer(1, x.rank - 1) if x.rank > 1 else 0, n.draw.integer(1, 2)
    before, after = [0] * x.rank, [0] * x.rank
    (before if n.draw.chance(0.5) else after)[axis] = count
    y = n.padded(x, before, after)
    y = once_more(n, y) if n.draw.chance(0.3) else y
    begin = n.draw.one_of((0, count))
    return n.sliced(y, axis, begin, begin + x.shape[axis])


@insertion
def joined_and_sliced(n: Language, x: Value) -> Value:
    """Beside an earlier value or itself, and a part of both."""
    axis = n.draw.integer(0, x.rank - 1)
    fitting = [each for each in n.values if each.rank == x.rank and _agree(each, x, axis)] or [x]
    other = n.draw.one_of(fitting)
    y = n.joined([x, other] if n.draw.chance(0.5) else [other, x], axis)
    y = once_more(n, y) if n.draw.chance(0.4) else y
    return n.sliced(y, axis, 0, y.shape[axis] - other.shape[axis])


def _agree(first: Value, second: Value, axis: int) -> bool:
    """Whether two values have the same sizes along all axes but one."""
    return all(a == b for each, (a, b) in enumerate(zip(first.shape, second.shape, strict=True)) if each != axis)


@insertion
def reduced_and_spread(n: Language, x: Value) -> Value:
    """Combined with a reduction of itself, which is spread over the axes that went."""
    axes = [axis for axis in range(1, x.rank) if n.draw.chance(0.5)] or [x.rank - 1]
    reduction = n.reduced(n.draw.one_of(("Mean", "Mean", "Max", "Sum")), x, axes, keep=True)
    return n.binary(n.draw.one_of(("Sub", "Add", "Mul")), x, n.unary("Sigmoid", reduction) if n.draw.chance(0.3) else reduction)


@insertion
def soft_maximum(n: Language, x: Value) -> Value:
    return n.softmax(x, n.draw.integer(1, x.rank - 1))


@insertion
def levels(n: Language, x: Value) -> Value:
    if not n.quantizes:
        raise NoCase("only in quantized graphs")
    return n.quantized(x)


SIMPLE: Mapping[str, Append] = {name: INSERTIONS[name] for name in ("activation", "constant-term-or-factor")}


def once_more(n: Language, x: Value) -> Value:
    """One elementwise operation."""
    return n.draw.one_of(list(SIMPLE.values()))(n, x)


def inserted(n: Language, x: Value, count: int) -> Value:
    """Some insertions one after the other; those that do not apply are left out."""
    functions: list[Callable[[Language, Value], Value]] = list(INSERTIONS.values())
    for _ in range(count):
        try:
            x = n.draw.one_of(functions)(n, x)
        except NoCase:
            continue
        n.values.append(x)
    return x
