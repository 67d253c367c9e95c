"""Blocks of networks for sequences: encoders and decoders of transformers, recurrent cells, convolutions along time."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.architectures.language import Language
from tests.fuzz.fusions.architectures.registry import Architecture
from tests.fuzz.fusions.draft import Value


def sequence(n: Language) -> Value:
    """A sequence of embeddings, perhaps with those of positions."""
    draw = n.draw
    x = n.input((draw.one_of((1, 1, 2)), draw.one_of((1, 2, 4, 5, 8, 16)), draw.one_of((8, 16, 16, 32))))
    return n.binary("Add", x, n.constant(n.numbers(x.shape[1:]))) if draw.chance(0.5) else x


def heads_of(n: Language, x: Value, heads: int) -> Value:
    """[batch, steps, heads · size] as [batch, heads, steps, size]."""
    batch, steps, size = x.shape
    return n.transposed(n.reshaped(x, (batch, steps, heads, size // heads)), (0, 2, 1, 3))


def attended(n: Language, x: Value, memory: Value, *, causal: bool) -> Value:
    """Attention of several heads to a sequence."""
    draw, (batch, steps, width) = n.draw, x.shape
    heads = draw.one_of([each for each in (1, 2, 4) if width % each == 0])
    size = width // heads
    if memory is x and draw.chance(0.4):
        queries, keys, values = (heads_of(n, each, heads) for each in n.parts(n.dense(x, 3 * width), [width] * 3, 2))
    else:
        queries = heads_of(n, n.dense(x, width), heads)
        keys, values = (heads_of(n, n.dense(memory, width), heads) for _ in range(2))
    keys = n.transposed(keys, (0, 1, 3, 2))
    if draw.chance(0.5):
        queries = n.binary("Mul", queries, n.scalar(size**-0.5))
        scores = n.product(n.rounded(queries), n.rounded(keys))
    else:
        scores = n.binary("Mul", n.product(n.rounded(queries), n.rounded(keys)), n.scalar(size**-0.5))
    if causal:
        mask = np.triu(np.full(scores.shape[-2:], -1e4, np.float32), 1)
        scores = n.binary("Add", scores, n.constant(mask))
    elif draw.chance(0.3):
        scores = n.binary("Add", scores, n.constant(n.numbers((heads, *scores.shape[-2:]))))
    result = n.product(n.rounded(n.softmax(scores, 3)), n.rounded(values))
    return n.dense(n.reshaped(n.transposed(result, (0, 2, 1, 3)), (batch, steps, width)), width)


def fed_forward(n: Language, x: Value) -> Value:
    """Two products with an activation between them, perhaps a gate."""
    draw, width = n.draw, x.shape[-1]
    kind = draw.one_of(("Gelu", "Gelu", "Relu", "Swish", "Mish", "HardSwish", "Square"))
    inner = n.unary(kind, n.dense(x, 2 * width))
    if draw.chance(0.35):
        inner = n.binary("Mul", inner, n.dense(x, 2 * width))
    return n.dense(inner, width)


def with_residual(n: Language, x: Value, y: Value, *, normalizes_after: bool) -> Value:
    """The sum, normalized in networks that do so after each part."""
    total = n.binary("Add", x, y) if n.draw.chance(0.5) else n.binary("Add", y, x)
    return n.layer_normalization(total, 2) if normalizes_after else total


def encoded(n: Language, x: Value) -> Value:
    """A layer of an encoder, normalized before its parts or after them."""
    after, causal = n.draw.chance(0.5), n.draw.chance(0.3)
    inner = x if after else n.layer_normalization(x, 2)
    x = with_residual(n, x, attended(n, inner, inner, causal=causal), normalizes_after=after)
    inner = x if after else n.layer_normalization(x, 2)
    return with_residual(n, x, fed_forward(n, inner), normalizes_after=after)


def decoded(n: Language, x: Value) -> Value:
    """A layer of a decoder: attention to itself, then to another sequence."""
    x = with_residual(n, x, attended(n, x, x, causal=True), normalizes_after=True)
    fitting = [each for each in n.values if each.rank == 3 and each.shape[0] == x.shape[0] and each.shape[-1] == x.shape[-1]]
    memory = n.draw.one_of(fitting) if fitting and n.draw.chance(0.6) else n.input((x.shape[0], n.draw.integer(1, 6), x.shape[2]))
    x = with_residual(n, x, attended(n, x, memory, causal=False), normalizes_after=True)
    return with_residual(n, x, fed_forward(n, x), normalizes_after=True)


def long_short_term_memory(n: Language, x: Value) -> Value:
    """LSTM cells, step by step."""
    width = n.draw.one_of((4, 8))
    gates, recurrent = n.dense(x, 4 * width), n.matrix(n.weights((width, 4 * width), width))
    state = memory = n.constant(np.zeros((x.shape[0], width), np.float32))
    rows: list[Value] = []
    for step in steps_of(n, x):
        row = n.reshaped(n.sliced(gates, 1, step, step + 1), (x.shape[0], 4 * width))
        given, forget, update, out = n.parts(n.binary("Add", row, n.product(n.rounded(state), recurrent)), [width] * 4, 1)
        kept = n.binary("Mul", n.unary("Sigmoid", forget), memory)
        memory = n.binary("Add", kept, n.binary("Mul", n.unary("Sigmoid", given), n.unary("Tanh", update)))
        state = n.binary("Mul", n.unary("Sigmoid", out), n.unary("Tanh", memory))
        rows.append(n.reshaped(state, (x.shape[0], 1, width)))
    if n.draw.chance(0.3):
        n.outputs.append(memory)
    return n.joined(rows, 1) if len(rows) > 1 else rows[0]


def gated_recurrent(n: Language, x: Value) -> Value:
    """GRU cells, step by step."""
    width = n.draw.one_of((4, 8))
    given = n.dense(x, 3 * width)
    gates, update = n.matrix(n.weights((width, 2 * width), width)), n.matrix(n.weights((width, width), width))
    state = n.constant(np.zeros((x.shape[0], width), np.float32))
    rows: list[Value] = []
    for step in steps_of(n, x):
        row = n.reshaped(n.sliced(given, 1, step, step + 1), (x.shape[0], 3 * width))
        first, last = n.parts(row, [2 * width, width], 1)
        kept, reset = n.parts(n.unary("Sigmoid", n.binary("Add", first, n.product(n.rounded(state), gates))), [width] * 2, 1)
        new = n.unary("Tanh", n.binary("Add", last, n.product(n.rounded(n.binary("Mul", reset, state)), update)))
        old = n.binary("Mul", kept, state)
        state = n.binary("Add", old, n.binary("Mul", n.binary("Sub", n.scalar(1.0), kept), new))
        rows.append(n.reshaped(state, (x.shape[0], 1, width)))
    return n.joined(rows, 1) if len(rows) > 1 else rows[0]


def steps_of(n: Language, x: Value) -> range:
    """The steps of a short sequence. Raises NoCase for any other value."""
    if x.rank != 3 or x.shape[1] > 5:
        raise NoCase("no short sequence")
    del n
    return range(x.shape[1])


def convolved_along_time(n: Language, x: Value) -> Value:
    """A convolution over an image of one row, with a gate of the other half of its channels."""
    batch, steps, width = x.shape
    y = n.reshaped(x, (batch, 1, steps, width)) if n.channels_last else n.reshaped(n.transposed(x, (0, 2, 1)), (batch, width, 1, steps))
    y = n.convolution(y, 2 * width, [1, n.draw.one_of((1, 3, 5))])
    first, second = n.parts(y, [width, width], n.channel_axis(y))
    y = n.binary("Mul", n.unary("Tanh", first), n.unary("Sigmoid", second))
    if n.draw.chance(0.5):
        y = n.convolution(y, width, [1, 3], groups=width)
    y = n.reshaped(y, (batch, steps, width)) if n.channels_last else n.transposed(n.reshaped(y, (batch, width, steps)), (0, 2, 1))
    return n.binary("Add", x, y)


def pooled_and_classified(n: Language, x: Value) -> Value:
    """The head of a classifier of sequences."""
    width = x.shape[-1]
    y = n.reduced("Mean", x, [1], keep=False) if n.draw.chance(0.5) else n.reshaped(n.sliced(x, 1, 0, 1), (x.shape[0], width))
    return n.softmax(n.dense(n.unary("Tanh", n.dense(y, width)), 3), 1)


ARCHITECTURES = {
    "encoder": Architecture(sequence, (encoded,), (pooled_and_classified,)),
    "decoder": Architecture(sequence, (decoded, encoded), ()),
    "recurrent": Architecture(sequence, (long_short_term_memory, gated_recurrent), (pooled_and_classified,)),
    "sequences": Architecture(
        sequence, (encoded, decoded, long_short_term_memory, gated_recurrent, convolved_along_time), (pooled_and_classified,)
    ),
}
