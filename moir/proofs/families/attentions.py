"""Attention of small static sizes, of matrix products and of Einsums."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.proofs.families.graph import Graph
from moir.proofs.families.small_graphs import filled

SIZES = ((1, 2, 2, 2), (2, 1, 1, 2), (1, 1, 2, 3))
"""The sizes of heads, queries, width and keys."""


def _weights(graph: Graph, scores: SSAValue, scale: str, mask: str, shape: tuple[int, ...]) -> SSAValue:
    """The softmax of scores of a shape.

    Args:
        graph: the graph to build in.
        scores: the scores.
        scale: `factor` multiplies them by ½, `divisor` divides them by 2, any other value leaves them.
        mask: `added` adds an input as mask, any other value none.
        shape: the shape of the scores.
    """
    op = graph.op
    scores = op.Multiply(scores, 0.5) if scale == "factor" else op.Divide(scores, 2.0) if scale == "divisor" else scores
    if mask == "added":
        scores = op.Add(scores, graph.input((*[1] * (len(shape) - 2), *shape[-2:])))
    return op.Softmax(scores, axis=-1)


def products() -> Iterator[ModuleOp]:
    """Models with attention of three and four dimensions, with the key transposed by the product or before it, with
    and without a scale and an added mask.

    A Select as mask is left out: that its low number absorbs a finite score is a law of floats, not of real
    numbers.
    """
    for (heads, queries, width, keys), rank, transposed in product(SIZES, (3, 4), ("flag", "before")):
        for scale, mask in product(("", "factor", "divisor"), ("", "added")):
            graph = Graph()
            lead = (heads,) if rank == 3 else (1, heads)
            query, key = graph.input((*lead, queries, width)), graph.input((*lead, keys, width))
            value = graph.input((*lead, keys, 2))
            if transposed == "before":
                key = graph.op.Transpose(key, [*range(rank - 2), rank - 1, rank - 2])
            scores = graph.op.MatMul(query, key, transpose_b=transposed == "flag")
            weights = _weights(graph, scores, scale, mask, (*lead, queries, keys))
            yield graph.module(graph.op.MatMul(weights, value))


def einsums() -> Iterator[ModuleOp]:
    """Models with attention of Einsums, with heads before or after queries, and queries that share keys and values."""
    for (heads, queries, width, keys), scale, mask in product(SIZES, ("", "factor", "divisor"), ("", "added")):
        for terms in (("bqhd", "bkhd", "bhqk", "bqhd"), ("bhqd", "bhkd", "bhqk", "bhqd"), ("bqhgd", "bkhd", "bhgqk", "bqhgd")):
            graph = Graph()
            sizes = {"b": 1, "q": queries, "h": heads, "d": width, "k": keys, "g": 2}
            first, second, scores, output = terms
            query, key, value = (graph.input([sizes[label] for label in term]) for term in (first, second, second))
            products = graph.op.Einsum(query, key, equation=f"{first},{second}->{scores}")
            weights = _weights(graph, products, scale, mask, tuple(sizes[label] for label in scores))
            yield graph.module(graph.op.Einsum(weights, value, equation=f"{scores},{second}->{output}"))


def biased_keys() -> Iterator[ModuleOp]:
    """Models with keys to which a constant is added, one of each element or one of each key, before they are split
    into heads.
    """
    for (heads, queries, width, keys), varies, mask, first in product(SIZES[:2], (False, True), ("", "added"), (False, True)):
        graph = Graph()
        own = (keys, heads * width) if varies else (heads * width,)
        data, bias = graph.input((1, keys, 2)), filled(graph, own)
        data = graph.op.MatMul(data, graph.weights((2, heads * width)))
        key = graph.op.Add(*((bias, data) if first else (data, bias)))
        key = graph.op.Reshape(key, np.array([0, 0, heads, width], np.int64), special_zero=True)
        key = graph.op.Transpose(key, [0, 2, 1, 3])
        operands = [graph.input((1, heads, queries, width)), key, graph.input((1, heads, keys, 2))]
        operands += [graph.input((1, 1, queries, keys)), graph.op.constant(np.float32(0.5))] if mask else []
        yield graph.module(graph.op.ScaledDotProductAttention(*operands, causal=False))
