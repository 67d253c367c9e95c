"""Sums of windows that are divided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.proofs.families.graph import Graph
from moir.proofs.families.small_graphs import all_sizes


def _pooled(graph: Graph, value: SSAValue, kernel: Sequence[int], pads: Sequence[int], counted: bool) -> SSAValue:
    ones = [1] * len(kernel)
    pads_begin, pads_end = ([each] * len(kernel) for each in pads)
    excluded = {"exclude-pad": not counted}
    mean = graph.op.AvgPool(value, kernel=list(kernel), strides=ones, pads_begin=pads_begin, pads_end=pads_end, **excluded)
    return graph.op.Multiply(mean, float(prod(kernel)))


def _counts(sizes: Sequence[int], kernel: Sequence[int], pads: Sequence[int]) -> Any:
    """How many elements of data each window has, as an array [1, 1, …].

    Args:
        sizes: the sizes of the spatial axes.
        kernel: the sizes of the windows.
        pads: the padding before and after each spatial axis.
    """
    counts: Any = np.ones((1, 1))
    for size, length in zip(sizes, kernel, strict=True):
        begins = np.arange(-pads[0], size + pads[1] - length + 1)
        inside = [sum(0 <= begin + offset < size for offset in range(length)) for begin in begins.tolist()]
        counts = counts[..., None] * np.array(inside)
    return counts


def means_of_windows() -> Iterator[ModuleOp]:
    """Models with sums of windows divided by their size, by the numbers of their elements, or by other numbers, for
    one and two spatial dimensions of all sizes up to 3, with a Transpose between or not.
    """
    for sizes in (*all_sizes(1), *all_sizes(2)):
        for length, pads, divisor, moved in product((1, 2), ((0, 0), (1, 0), (1, 1)), ("size", "counts", "ones", "other"), (False, True)):
            kernel = (length,) * len(sizes)
            if max(pads) >= length or min(sizes) + sum(pads) < length:
                continue
            graph = Graph()
            total = _pooled(graph, graph.input((1, 2, *sizes)), kernel, pads, True)
            numbers: Any = {"size": np.array(prod(kernel)), "other": np.array(7)}.get(divisor, _counts(sizes, kernel, pads))
            order = [0, *range(2, len(sizes) + 2), 1]
            if divisor == "ones":
                other = _pooled(graph, graph.op.constant(np.ones((1, 1, *sizes), np.float32)), kernel, pads, True)
                other = graph.op.Transpose(other, order) if moved else other
            else:
                numbers = np.transpose(numbers, order) if moved and numbers.ndim else numbers
                other = graph.op.constant(numbers.astype(np.float32))
            total = graph.op.Transpose(total, order) if moved else total
            yield graph.module(graph.op.Divide(total, other))
