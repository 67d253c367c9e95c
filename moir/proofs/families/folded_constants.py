"""Constants that are folded into each other and into the constants of other operations, for a bounded check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.errors import InferenceError
from moir.proofs.families.graph import MOST_RANKS, Graph
from moir.proofs.families.small_graphs import DIVISORS, POSITIVE, TERMS, all_sizes, broadcast_pairs, filled

PAIRS = (*product(("Add", "Subtract"), repeat=2), *product(("Multiply", "Divide"), repeat=2))


MOST_ELEMENTS = 6
"""The largest number of elements of data beside two constants."""

MOST_ROUNDED = 4
"""The largest number of elements of data that are rounded: each is proved by cases."""


def applied(graph: Graph, kind: str, value: SSAValue, shape: Sequence[int], start: int = 0, *, is_first: bool = False) -> SSAValue:
    """Build the operation `kind` of a value and a constant of a shape.

    Args:
        graph: the graph to build in.
        kind: the operation, such as `Add` or `Divide`.
        value: the value.
        shape: the shape of the constant.
        start: the index of its first element in the numbers that the constant takes in turn.
        is_first: whether the constant stands first, if the operation is an Add or a Multiply.
    """
    constant = filled(graph, shape, DIVISORS if kind == "Divide" else TERMS, start)
    is_first = is_first and kind in ("Add", "Multiply")
    return getattr(graph.op, kind)(*((constant, value) if is_first else (value, constant)))


def two_constants() -> Iterator[ModuleOp]:
    """Models with two additions, or two multiplications, of constants of all shapes that broadcast to data of at most
    MOST_ELEMENTS elements.
    """
    small = [pair for pair in broadcast_pairs() if prod(pair[0]) <= MOST_ELEMENTS]
    for number, ((shape, own), (inner, outer)) in enumerate(product(small, PAIRS)):
        for other in dict.fromkeys(((), own, shape)):
            graph = Graph()
            is_first = number % 2 == 0
            value = applied(graph, inner, graph.input(shape), own, is_first=is_first)
            yield graph.module(applied(graph, outer, value, other, 5, is_first=not is_first))


def linear(graph: Graph, kind: str, data: SSAValue, sizes: Sequence[int], transposed: bool) -> SSAValue:
    """Build a convolution or a matrix product of data with constant weights [outputs, inputs, …].

    Args:
        graph: the graph to build in.
        kind: `MatMul`, `Convolution` or `GroupConvolution`.
        data: the data.
        sizes: the shape of the weights.
        transposed: whether a MatMul transposes the weights itself, or a convolution pads its data.
    """
    if kind == "MatMul":
        return graph.op.MatMul(data, filled(graph, sizes if transposed else sizes[::-1]), transpose_b=transposed)
    spatial = len(sizes) - (3 if kind == "GroupConvolution" else 2)
    pads = [1 if transposed else 0] * spatial
    return getattr(graph.op, kind)(
        data, filled(graph, sizes), strides=[1] * spatial, dilations=[1] * spatial, pads_begin=pads, pads_end=pads
    )


def linear_graphs() -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...], bool]]:
    """Kinds of linear operations, shapes of their data and weights, and a flag: transposed weights, or padded data."""
    for inputs, outputs, transposed in product((1, 2, 3), (1, 3), (False, True)):
        for rank in range(1, MOST_RANKS + 1):
            yield "MatMul", (*(2, 3, 1)[: rank - 1], inputs), (outputs, inputs), transposed
        for spatial in ((3,), (2, 3)):
            yield "Convolution", (2, inputs, *spatial), (outputs, inputs, *(2,) * len(spatial)), transposed
            if inputs < 3:
                yield "GroupConvolution", (1, 2 * inputs, *spatial), (2, outputs, inputs, *(2,) * len(spatial)), transposed


def channels_of(kind: str, sizes: Sequence[int], side: str) -> int:
    """The number of channels in all groups: of the outputs if `side` is `outputs`, else of the inputs.

    Args:
        kind: the operation, of which a GroupConvolution has the groups first in its weights.
        sizes: the shape of the weights.
        side: `outputs` or `inputs`.
    """
    groups, rest = (sizes[0], sizes[1:]) if kind == "GroupConvolution" else (1, sizes)
    return groups * rest[0 if side == "outputs" else 1]


def along_channels(kind: str, rank: int, count: int) -> tuple[int, ...]:
    """The shape of a constant with `count` channels that broadcasts to data of a rank: the last axis for MatMul, else
    axis 1.
    """
    return (count,) if kind == "MatMul" else (count, *(1,) * (rank - 2))


def scales_after() -> Iterator[ModuleOp]:
    """Models with factors after convolutions and matrix products, one or one of each channel, with and without a term
    before.
    """
    arithmetic = (("Multiply", ""), ("Divide", ""), ("Multiply", "Add"), ("Divide", "Subtract"))
    for number, ((kind, shape, sizes, flag), (factor, term)) in enumerate(product(linear_graphs(), arithmetic)):
        graph = Graph()
        own = along_channels(kind, len(shape), channels_of(kind, sizes, "outputs"))
        value = linear(graph, kind, graph.input(shape), sizes, flag)
        value = applied(graph, term, value, own, 7) if term else value
        yield graph.module(applied(graph, factor, value, () if number % 3 == 0 else own, 3))


def scales_before() -> Iterator[ModuleOp]:
    """Models with factors before convolutions and matrix products, one or one of each channel."""
    yield from _before(("Multiply", "Divide"))


def shifts_before() -> Iterator[ModuleOp]:
    """Models with terms before convolutions, one or one of each channel."""
    yield from _before(("Add", "Subtract"))


def _before(kinds: Sequence[str]) -> Iterator[ModuleOp]:
    for (kind, shape, sizes, flag), arithmetic, one in product(linear_graphs(), kinds, (False, True)):
        graph = Graph()
        own = along_channels(kind, len(shape), channels_of(kind, sizes, "inputs"))
        value = applied(graph, arithmetic, graph.input(shape), () if one else own, 3)
        yield graph.module(linear(graph, kind, value, sizes, flag))


def terms_after() -> Iterator[ModuleOp]:
    """Models of a convolution and two Adds or Subtracts of constants: the first constant is a scalar or has an element
    for each channel, the second one has an element for each channel.
    """
    for number, ((kind, shape, sizes, flag), (inner, outer)) in enumerate(product(linear_graphs(), PAIRS[:4])):
        if kind == "MatMul":
            continue
        graph = Graph()
        own = along_channels(kind, len(shape), channels_of(kind, sizes, "outputs"))
        value = applied(graph, inner, linear(graph, kind, graph.input(shape), sizes, flag), () if number % 3 == 0 else own)
        yield graph.module(applied(graph, outer, value, own, 5))


def ranges_after() -> Iterator[ModuleOp]:
    """Models with a factor or term after a FakeQuantize of at most MOST_ROUNDED elements, of all shapes that broadcast
    to the data, with limits of these shapes.
    """
    for (shape, own), kind in product(broadcast_pairs(), ("Add", "Subtract", "Multiply", "Divide")):
        if prod(shape) > MOST_ROUNDED:
            continue
        for limits in dict.fromkeys(((), own)):
            graph = Graph()
            low, high = (filled(graph, limits, [number]) for number in (-1.0, 2.0))
            value = graph.op.FakeQuantize(graph.input(shape), low, high, filled(graph, limits), filled(graph, limits, TERMS, 9), levels=4)
            yield graph.module(applied(graph, kind, value, own, 2))


def normalized_batches() -> Iterator[ModuleOp]:
    """Models with batch normalizations by constants, with and without a shift, for all shapes at ranks from 2 to 4."""
    for rank in range(2, MOST_RANKS + 1):
        for shape, (epsilon, shifted) in product(all_sizes(rank), ((0.0, True), (0.75, False))):
            graph = Graph()
            own = shape[1:2]
            variances = [number - epsilon for number in POSITIVE if number > epsilon]
            gamma, variance = filled(graph, own, TERMS), filled(graph, own, variances)
            beta, mean = (filled(graph, own, numbers) for numbers in ((TERMS[4:], TERMS[9:]) if shifted else ([0.0], [0.0])))
            try:
                yield graph.module(graph.op.BatchNormInference(graph.input(shape), gamma, beta, mean, variance, epsilon=epsilon))
            except InferenceError:
                continue


KINDS = ("Add", "Subtract", "Multiply", "Divide", "Maximum", "Less", "Equal")


def constants() -> Iterator[ModuleOp]:
    """Models with Arithmetic, reductions and movements of constants of all shapes at ranks up to 3, beside an input."""
    for (shape, own), kind in product(broadcast_pairs(3), KINDS):
        graph = Graph()
        numbers = DIVISORS if kind == "Divide" else TERMS
        value = getattr(graph.op, kind)(filled(graph, shape), filled(graph, own, numbers, 2))
        data, is_truth = graph.input(shape), kind in KINDS[-2:]
        yield graph.module(graph.op.Select(value, data, 0.0) if is_truth else graph.op.Add(data, value))
    for rank in range(1, MOST_RANKS):
        for shape, axis in product(all_sizes(rank), range(rank)):
            graph = Graph()
            axes, data = np.array([axis], np.int64), filled(graph, shape)
            moved = graph.op.Transpose(graph.op.Concat(data, graph.op.Negative(data), axis=axis), list(range(rank))[::-1])
            total = graph.op.ReduceSum(data, axes, keep_dims=True)
            yield graph.module(graph.op.Relu(moved), graph.op.Multiply(graph.input(shape), total))


GRIDS = ((-1.28, 1.27, 256), (-1.27, 1.27, 255), (0.0, 2.55, 256), (0.0, 2.54, 255), (-1.0, 2.0, 256))
"""Limits and levels of weights: grids of bytes with and without a sign, and one with a zero point."""


BETWEEN = tuple(number + 1 / 64 for number in TERMS)
"""Weights that are not in the middle between two levels, where rounded arithmetic takes either one."""


def quantized_weights() -> Iterator[ModuleOp]:
    """Models with products and convolutions of constant weights that a FakeQuantize rounds, with limits for all
    weights or for each output channel.
    """
    for (low, high, levels), (outputs, inputs), kind, one in product(GRIDS, all_sizes(2), ("MatMul", "Convolution"), (False, True)):
        graph = Graph()
        shape = (outputs, inputs) if kind == "MatMul" else (outputs, inputs, 1)
        own = (1,) * len(shape) if one else (outputs, *(1,) * (len(shape) - 1))
        numbers = [filled(graph, own, [limit * factor for factor in (1, 2, 0.5)]) for limit in (low, high)]
        weights = graph.op.FakeQuantize(filled(graph, shape, BETWEEN), *numbers, *numbers, levels=levels)
        data = graph.input((2, inputs, *shape[2:]))
        ones, zeros = [1], [0]
        yield graph.module(
            graph.op.MatMul(data, weights, transpose_b=True)
            if kind == "MatMul"
            else graph.op.Convolution(data, weights, strides=ones, dilations=ones, pads_begin=zeros, pads_end=zeros)
        )
