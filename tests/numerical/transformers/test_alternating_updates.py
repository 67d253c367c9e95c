"""Several values of each token, gates below a quantile, and tables with a limit, against definitions in numpy (Gemma 3n)."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from tests.numerical.passes.module_lines import Array, apply, build, inputs, run

WIDTH, TOKENS = 6, 5

GENERATOR = np.random.default_rng(7)

FIRST, SECOND = (GENERATOR.standard_normal((2, TOKENS, WIDTH)).astype(np.float32) for _ in range(2))


def computed(text: str, *arrays: Array, **weights: Array) -> list[Array]:
    """The outputs of lines after their lowering."""
    module = build(text, **weights)
    apply(module, "lower-transformers fold-constants")
    return run(module, *arrays)


def test_each_value_is_a_sum_of_all() -> None:
    coefficients = GENERATOR.standard_normal((2, TOKENS, 4)).astype(np.float32)
    text = f"""{inputs(f"?x?x{WIDTH}xf32", f"?x?x{WIDTH}xf32", "?x?x4xf32")}
    %a, %b = transformers.MixValues(%z, %x, %y) {{name = "m"}} : tensor<?x?x{WIDTH}xf32>, tensor<?x?x{WIDTH}xf32>
    opset1.Result(%a) {{name = "a"}}
    opset1.Result(%b) {{name = "b"}}"""
    actual = computed(text, FIRST, SECOND, coefficients)
    rows = coefficients.reshape(2, TOKENS, 2, 2)
    for index, own in enumerate((FIRST, SECOND)):
        expected = own + rows[..., index, :1] * FIRST + rows[..., index, 1:] * SECOND
        np.testing.assert_allclose(actual[index], expected, rtol=1e-5, atol=1e-5)


def test_what_is_computed_of_one_corrects_all() -> None:
    coefficients = GENERATOR.standard_normal((2, TOKENS, 2)).astype(np.float32)
    new = (FIRST - 2 * SECOND).astype(np.float32)
    text = f"""{inputs(f"?x?x{WIDTH}xf32", f"?x?x{WIDTH}xf32", "?x?x2xf32")}
    %new = opset1.Parameter() {{name = "new"}} : tensor<?x?x{WIDTH}xf32>
    %a, %b = transformers.CorrectValues(%z, %new, %x, %y) {{active = 1, name = "m"}} : tensor<?x?x{WIDTH}xf32>, tensor<?x?x{WIDTH}xf32>
    opset1.Result(%a) {{name = "a"}}
    opset1.Result(%b) {{name = "b"}}"""
    actual = computed(text, FIRST, SECOND, coefficients, new)
    for index, own in enumerate((FIRST, SECOND)):
        expected = own + (new - SECOND) * (coefficients[..., index : index + 1] + 1)
        np.testing.assert_allclose(actual[index], expected, rtol=1e-5, atol=1e-5)


def test_a_value_with_the_magnitude_of_another() -> None:
    text = f"""{inputs(f"?x?x{WIDTH}xf32", f"?x?x{WIDTH}xf32")}
    %a = transformers.Rescale(%x, %y) {{name = "m"}} : tensor<?x?x{WIDTH}xf32>
    opset1.Result(%a) {{name = "a"}}"""
    small = FIRST.copy()
    small[0, 0] = 1e-4
    (actual,) = computed(text, small, SECOND)
    squares = np.maximum((small**2).mean(-1, keepdims=True), 1e-5)
    np.testing.assert_allclose(actual, small * np.sqrt((SECOND**2).mean(-1, keepdims=True) / squares), rtol=1e-5)


def test_gates_below_a_quantile_are_zero() -> None:
    gate, up, down = (GENERATOR.standard_normal((WIDTH, WIDTH)).astype(np.float32) for _ in range(3))
    cutoff = NormalDist().inv_cdf(0.6)
    text = f"""{inputs(f"?x?x{WIDTH}xf32")}
    %a = transformers.GatedMLP(%x, %gate, %up, %down) {{activation = "relu", cutoff = {cutoff!r}, name = "m"}} : tensor<?x?x{WIDTH}xf32>
    opset1.Result(%a) {{name = "a"}}"""
    (actual,) = computed(text, FIRST, gate=gate, up=up, down=down)
    gates = FIRST @ gate.T
    gates = np.maximum(gates - gates.mean(-1, keepdims=True) - cutoff * gates.std(-1, keepdims=True), 0)
    assert 0.2 < (gates == 0).mean() < 1
    np.testing.assert_allclose(actual, (gates * (FIRST @ up.T)) @ down.T, rtol=1e-4, atol=1e-4)


def test_tokens_beyond_a_table_read_its_first_row() -> None:
    table = GENERATOR.standard_normal((4, WIDTH)).astype(np.float32)
    text = f"""%x = opset1.Parameter() {{name = "x"}} : tensor<?x?xsi64>
    %a = transformers.Embedding(%x, %table) {{limit = 4, scale = 2.0, name = "m"}} : tensor<?x?x{WIDTH}xf32>
    opset1.Result(%a) {{name = "a"}}"""
    (actual,) = computed(text, np.array([[0, 3, 4, 7]]), table=table)
    np.testing.assert_allclose(actual[0], 2 * table[[0, 3, 0, 0]], rtol=1e-6)
