"""Scores that depend on distances, chosen keys and differences of heads, against definitions in numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.numerical.passes.module_lines import apply, build, run
from tests.unit.language_models.folders import Array

HEADS, SIZE = 2, 4

MASK = """%mask = opset1.Parameter() {name = "mask"} : tensor<?x?xsi64>
    %tokens = opset1.Parameter() {name = "tokens"} : tensor<?x?xsi64>
    """


def drawn(*shape: int) -> Array:
    """Normally distributed numbers, the same for a shape."""
    return np.random.default_rng(math.prod(shape)).standard_normal(shape).astype(np.float32)


def heads_of(x: Array) -> Array:
    """Heads [heads, tokens, size] of x [tokens, heads * size]."""
    return x.reshape(len(x), -1, SIZE).swapaxes(0, 1)


def row_of(distance: int, span: int, longest: int) -> int:
    """The index of the embedding of a distance: the first half of the distances has one each (DeBERTa V2)."""
    half = span // 2
    if longest and abs(distance) > half:
        growth = math.log(abs(distance) / half) / math.log((longest - 1) / half)
        distance = int(math.copysign(math.ceil(growth * (half - 1) - 1e-9) + half, distance))
    return min(max(distance + span, 0), 2 * span - 1)


@pytest.mark.parametrize(("span", "longest"), [(8, 0), (4, 0), (8, 30), (6, 12)])
@pytest.mark.parametrize("terms", ["c2p", "both"])
def test_scores_depend_on_distances(span: int, longest: int, terms: str) -> None:
    count, width = 40, HEADS * SIZE
    queries, keys = drawn(1, count, width), drawn(1, count, width) + 1
    table = drawn(1, 2 * span, width)
    properties = f"heads = {HEADS}, span = {span}, longest = {longest}, scale = 0.5"
    operands = {"c2p": "%table", "both": "%table, %table"}[terms]
    text = f"""{MASK}%q = opset1.Parameter() {{name = "q"}} : tensor<?x?x{width}xf32>
    %k = opset1.Parameter() {{name = "k"}} : tensor<?x?x{width}xf32>
    %m = transformers.Mask(%mask, %tokens) {{name = "m"}} : tensor<?x1x?x?xf32>
    %s = transformers.DistanceScores(%m, %q, %k, %tokens, {operands}) {{{properties}, name = "s"}} : tensor<?x{HEADS}x?x?xf32>
    opset1.Result(%s) {{name = "s"}}"""
    module = build(text, table=table)
    apply(module, "lower-transformers fold-constants")
    ones = np.ones((1, count), np.int64)
    (actual,) = run(module, ones, ones, queries, keys)
    q, k, p = heads_of(queries[0]), heads_of(keys[0]), heads_of(table[0])
    rows = np.array([[row_of(i - j, span, longest) for j in range(count)] for i in range(count)])
    expected = np.zeros((HEADS, count, count), np.float32)
    for i in range(count):
        for j in range(count):
            for_keys = (q[:, i] * p[:, rows[i, j]]).sum(-1)
            for_queries = (k[:, j] * p[:, rows[i, j]]).sum(-1)
            expected[:, i, j] = 0.5 * {"c2p": for_keys, "both": for_keys + for_queries}[terms]
    np.testing.assert_allclose(actual[0], expected, atol=1e-5)


@pytest.mark.parametrize("most", [1, 3, 9, 20])
def test_each_query_sees_the_keys_with_the_best_scores(most: int) -> None:
    count, heads = 9, 8
    properties = f"heads = {heads}, count = {most}, scale = 0.5, layer = 0"
    mask = np.array([[1] * count, [0, 0, 0] + [1] * 6])
    queries, keys, weights = drawn(2, count, heads * SIZE), drawn(2, count, SIZE), drawn(2, count, heads)
    cosines, sines = np.ones((2, 1, count, 2), np.float32), np.zeros((2, 1, count, 2), np.float32)
    text = f"""{MASK}%q = opset1.Parameter() {{name = "q"}} : tensor<?x?x{heads * SIZE}xf32>
    %k = opset1.Parameter() {{name = "k"}} : tensor<?x?x{SIZE}xf32>
    %w = opset1.Parameter() {{name = "w"}} : tensor<?x?x{heads}xf32>
    %beams = opset1.Parameter() {{name = "beams"}} : tensor<?xsi32>
    %cos = opset1.Parameter() {{name = "cos"}} : tensor<?x1x?x2xf32>
    %sin = opset1.Parameter() {{name = "sin"}} : tensor<?x1x?x2xf32>
    %m = transformers.CausalMask(%mask, %tokens) {{name = "m"}} : tensor<?x1x?x?xf32>
    %s = transformers.IndexedMask(%m, %q, %k, %w, %beams, %cos, %sin) {{{properties}, name = "s"}} : tensor<?x1x?x?xf32>
    opset1.Result(%s) {{name = "s"}}"""
    module = build(text)
    apply(module, "lower-transformers fold-constants use-initial-zeros")
    (actual,) = run(module, mask, mask, queries, keys, weights, np.arange(2, dtype=np.int32), cosines, sines)
    for row, padding in enumerate((0, 3)):
        products = np.maximum(np.einsum("thd,sd->hts", queries[row].reshape(count, heads, SIZE), keys[row]), 0)
        scores = np.einsum("hts,th->ts", products, weights[row])
        for query in range(padding, count):
            visible = sorted(range(padding, query + 1), key=lambda key: -scores[query, key])[:most]
            assert set(np.flatnonzero(actual[row, 0, query] == 0)) == set(visible)


def test_the_second_half_of_the_heads_is_subtracted() -> None:
    x, y = drawn(2, 3, 8), drawn(2, 3, 8) - 1
    text = """%x = opset1.Parameter() {name = "x"} : tensor<?x?x8xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x?x8xf32>
    %d = transformers.Difference(%x, %y, %a, %b, %c, %d1) {start = 0.2, name = "d"} : tensor<?x?x8xf32>
    opset1.Result(%d) {name = "d"}"""
    vectors = {name: drawn(size)[:4] for name, size in (("a", 4), ("b", 5), ("c", 6), ("d1", 7))}
    module = build(text, **vectors)
    apply(module, "lower-transformers fold-constants")
    factor = np.exp(vectors["a"] @ vectors["b"]) - np.exp(vectors["c"] @ vectors["d1"]) + 0.2
    np.testing.assert_allclose(run(module, x, y)[0], x - factor * y, rtol=1e-5, atol=1e-5)
