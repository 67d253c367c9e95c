"""Combinations: three or four kinds of operations in a row, with what graph fusions look at around them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch

import numpy as np

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.elementwise import either
from tests.fuzz.fusions.kinds.every import KINDS, Kind

FAMILIES = {
    "activation": 3.0,
    "unary": 1.5,
    "arithmetic": 3.0,
    "window": 3.0,
    "pooling": 2.5,
    "movement": 3.5,
    "reduction": 1.8,
    "normalization": 1.5,
    "product": 1.8,
    "quantization": 2.0,
    "block": 0.5,
    "recurrent": 0.5,
}
"""How often a kind of each family is drawn."""

TRIES = 12
"""Kinds that are tried at one place before the combination is given up."""


def drawn_kind(draw: Draw, only: str = "*", families: dict[str, float] | None = None) -> Kind:
    """A kind whose name matches a glob. Raises NoCase if there is none."""
    weights = FAMILIES if families is None else families
    kinds = [each for each in KINDS.values() if fnmatch(each.name, only) and weights.get(each.family)]
    if not kinds:
        raise NoCase("nothing of that name")
    totals = {family: sum(each.weight for each in kinds if each.family == family) for family in weights}
    shares = np.array([weights[each.family] * each.weight / totals[each.family] for each in kinds])
    return kinds[int(draw.random.choice(len(kinds), p=shares / shares.sum()))]


def begun(draw: Draw) -> tuple[Draft, Value]:
    """A graph with one input: an image of one to three dimensions, a sequence, a matrix or a list."""
    d = Draft(draw, channels_last=draw.chance(0.15))
    dtype = draw.one_of((np.float32,) * 18 + (np.float16, np.int32))
    batch = draw.one_of((1, 1, 2, 3))
    channels = draw.one_of((1, 2, 4, 4, 6, 8, 8, 16))
    sizes = [draw.one_of((1, 2, 3, 4, 5, 7, 8)) for _ in range(3)]
    if draw.chance(0.5):
        sizes = sizes[:1] * 3
    match draw.integer(0, 11):
        case 0 | 1 | 2 | 3 | 4:
            shape = [batch, channels, *sizes[:2]]
        case 5:
            shape = [batch, channels, sizes[0]]
        case 6:
            shape = [batch, channels, *(min(size, 4) for size in sizes)]
        case 7 | 8:
            shape = [batch, draw.one_of((1, 2, 3, 5, 8)), draw.one_of((2, 4, 8, 16))]
        case 9 | 10:
            shape = [batch, draw.one_of((1, 2, 3, 4, 8, 16))]
        case _:
            shape = [draw.one_of((1, 2, 3, 4, 8))]
    if d.channels_last and len(shape) > 2:
        shape = [shape[0], *shape[2:], shape[1]]
    return d, d.input(shape, dtype)


def appended(d: Draft, x: Value, only: str = "*", families: dict[str, float] | None = None) -> tuple[str, Value]:
    """Append an operation of any kind that applies; its name and its result. Raises NoCase if none does after some tries."""
    for _ in range(TRIES):
        each = drawn_kind(d.draw, only, families)
        state = len(d.nodes), len(d.values), set(d.inputs), set(d.constants)
        try:
            result = each.apply(d, x)
        except NoCase:
            restore(d, state)
            continue
        if result not in d.values:
            d.values.append(result)
        return each.name, result
    raise NoCase("no kind applies")


def restore(d: Draft, state: tuple[int, int, set[str], set[str]]) -> None:
    """Take back what a kind that did not apply has appended."""
    nodes, values, inputs, constants = state
    del d.nodes[nodes:], d.values[values:]
    for table, kept in ((d.inputs, inputs), (d.constants, constants)):
        for name in [each for each in table if each not in kept]:
            del table[name]  # type: ignore[attr-defined]


def combination(draw: Draw, only: str = "*") -> Case:
    """A row of kinds. `only` has a glob for each place, separated by commas: "Conv,MaxPool,*"."""
    globs = only.split(",")
    length = len(globs) if len(globs) > 1 else draw.one_of((3, 3, 4))
    globs = globs if len(globs) > 1 else [only, *["*"] * (length - 1)]
    d, x = begun(draw)
    if draw.chance(0.4) and x.is_float:
        # Many fusions want an operand that is computed.
        x = d.op(draw.one_of(("Relu", "Sigmoid", "Neg", "Tanh")), x)
        d.values.append(x)
    names: list[str] = []
    row = [x]
    for place, glob in enumerate(globs):
        name, x = appended(d, x, glob)
        names.append(name)
        row.append(x)
        if draw.chance(0.12):
            d.outputs.append(x)
        if draw.chance(0.12):
            used_again(d, x)
        if draw.chance(0.2) and place:
            x = residual(d, x, row)
    d.outputs.append(x)
    return d.case("+".join(names))


def used_again(d: Draft, x: Value) -> None:
    """Another user of a value, whose result is an output."""
    try:
        _, result = appended(d, x, families={"activation": 1.0, "unary": 2.0, "arithmetic": 1.0, "movement": 1.0})
    except NoCase:
        return
    d.outputs.append(result)


def residual(d: Draft, x: Value, row: Sequence[Value]) -> Value:
    """A sum or product of a value with one before it of the same shape, perhaps with an activation after it."""
    fitting = [each for each in row[:-1] if each.shape == x.shape and each.dtype == x.dtype]
    if not fitting:
        return x
    result = either(d, d.draw.one_of(("Add", "Add", "Add", "Mul")), x, d.draw.one_of(fitting))
    if d.draw.chance(0.3) and x.is_float:
        result = d.op("Relu", result)
    d.values.append(result)
    return result
