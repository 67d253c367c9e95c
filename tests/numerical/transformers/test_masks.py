"""Masks with chunks, biases of distances, factors of late queries, and means of tokens, against definitions in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import apply, build, run

MASK = np.array([[1] * 9, [0, 0, 0] + [1] * 6])
"""Two texts of nine tokens, three of the second padding."""

INPUTS = """%mask = opset1.Parameter() {name = "mask"} : tensor<?x?xsi64>
    %tokens = opset1.Parameter() {name = "tokens"} : tensor<?x?xsi64>
    """


@pytest.mark.parametrize("new", [9, 4, 1])
def test_queries_see_keys_of_their_chunk(new: int) -> None:
    text = f"""{INPUTS}%m = transformers.CausalMask(%mask, %tokens) {{chunk = 4, name = "m"}} : tensor<?x1x?x?xf32>
    opset1.Result(%m) {{name = "m"}}"""
    module = build(text)
    apply(module, "lower-transformers fold-constants")
    (actual,) = run(module, MASK, MASK[:, 9 - new :])
    for row, padding in enumerate((0, 3)):
        for query in range(9 - new, 9):
            seen = [key for key in range(padding, query + 1) if (key - padding) // 4 == (query - padding) // 4]
            expected = [key in seen and MASK[row, key] == 1 for key in range(9)]
            if query >= padding:
                assert (actual[row, 0, query - 9 + new] == 0).tolist() == expected


def test_biases_depend_on_buckets_of_distances() -> None:
    """MPNet: 16 buckets for each direction, the first 8 of one distance each, the others of growing ranges up to 128."""
    count = 140
    table = np.arange(64, dtype=np.float32).reshape(32, 2)
    text = f"""{INPUTS}%m = transformers.Mask(%mask, %tokens) {{name = "m"}} : tensor<?x1x?x?xf32>
    %b = transformers.PositionBias(%m, %tokens, %table) {{name = "b"}} : tensor<?x2x?x?xf32>
    opset1.Result(%b) {{name = "b"}}"""
    module = build(text, table=table)
    apply(module, "lower-transformers fold-constants")
    ones = np.ones((1, count), np.int64)
    (actual,) = run(module, ones, ones)
    buckets = actual[0, 0] / 2
    assert np.array_equal(actual[0, 1], actual[0, 0] + 1)
    for distance, bucket in ((0, 0), (-1, 1), (-7, 7), (-8, 8), (-11, 8), (-12, 9), (-90, 14), (-91, 15), (-128, 15), (-139, 15)):
        query = max(0, -distance)
        assert buckets[query, query + distance] == bucket
        if distance:
            assert buckets[query + distance, query] == bucket + 16


def test_queries_grow_with_their_indices() -> None:
    text = f"""{INPUTS}%i = transformers.TokenIndices(%mask, %tokens) {{name = "i"}} : tensor<1x?xsi64>
    %f = transformers.LengthFactor(%i) {{growth = 0.1, length = 3.0, shift = 1, name = "f"}} : tensor<1x?x1xf32>
    opset1.Result(%f) {{name = "f"}}"""
    module = build(text)
    apply(module, "lower-transformers fold-constants")
    (actual,) = run(module, MASK, MASK[:, 5:])
    np.testing.assert_allclose(actual.ravel(), 1 + 0.1 * np.log1p(np.floor((np.arange(5, 9) + 1) / 3)), rtol=1e-6)


def test_the_mean_of_tokens_leaves_out_padding() -> None:
    x = np.random.default_rng(1).standard_normal((2, 9, 4)).astype(np.float32)
    text = """%x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %mask = opset1.Parameter() {name = "mask"} : tensor<?x?xsi64>
    %m = transformers.MeanToken(%x, %mask) {name = "m"} : tensor<?x4xf32>
    opset1.Result(%m) {name = "m"}"""
    module = build(text)
    apply(module, "lower-transformers fold-constants")
    np.testing.assert_allclose(run(module, x, MASK)[0], np.stack([x[0].mean(0), x[1, 3:].mean(0)]), rtol=1e-5, atol=1e-6)
