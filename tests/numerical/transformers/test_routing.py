"""Which experts compute a token, and their weights, against definitions in numpy; the plugin computes no others."""

from __future__ import annotations

from collections import Counter

import numpy as np
import openvino
import pytest

from moir.emit.in_memory import to_openvino
from tests.numerical.passes.module_lines import Array, apply, build, inputs, run

HIDDEN, INNER, COUNT = 6, 5, 8

GENERATOR = np.random.default_rng(5)

ROUTER, GATE, UP, DOWN, CORRECTION, TOKENS = (
    (GENERATOR.standard_normal(shape) * scale).astype(np.float32)
    for shape, scale in (
        ((COUNT, HIDDEN), 1.0),
        ((COUNT, INNER, HIDDEN), 0.5),
        ((COUNT, INNER, HIDDEN), 0.5),
        ((COUNT, HIDDEN, INNER), 0.5),
        ((COUNT,), 0.3),
        ((2, 7, HIDDEN), 1.0),
    )
)


def softmax(x: Array) -> Array:
    """Exponentials in parts of their sum."""
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def softmax_of_chosen(logits: Array, count: int) -> dict[int, float]:
    """The softmax of the largest logits."""
    chosen = np.argsort(-logits)[:count]
    return dict(zip(chosen.tolist(), softmax(logits[chosen]).tolist(), strict=True))


def corrected(logits: Array, count: int, groups: int, chosen_groups: int) -> dict[int, float]:
    """DeepSeek V3: sigmoids; groups are ranked by their two best corrected scores; weights are without correction."""
    scores = 1 / (1 + np.exp(-logits))
    ranked = scores + CORRECTION
    best = np.sort(ranked.reshape(groups, -1), 1)[:, -2:].sum(1)
    kept = np.isin(np.arange(COUNT) // (COUNT // groups), np.argsort(-best)[:chosen_groups])
    chosen = np.argsort(-np.where(kept, ranked, -np.inf))[:count]
    return {int(each): float(2.5 * scores[each] / scores[chosen].sum()) for each in chosen}


def best_groups(logits: Array, count: int, groups: int, chosen_groups: int) -> dict[int, float]:
    """DeepSeek V2: softmax; groups are ranked by their best score."""
    scores = softmax(logits)
    kept = np.isin(np.arange(COUNT) // (COUNT // groups), np.argsort(-scores.reshape(groups, -1).max(1))[:chosen_groups])
    chosen = np.argsort(-np.where(kept, scores, 0))[:count]
    return {int(each): float(scores[each]) for each in chosen}


def sigmoid_of_chosen(logits: Array, count: int, cap: float) -> dict[int, float]:
    """Kolibri, with the cap of Laguna: the correction is added to the logits; weights are sigmoids in parts of their
    sum.
    """
    capped = cap * np.tanh(logits / cap)
    chosen = np.argsort(-(capped + CORRECTION))[:count]
    scores = 1 / (1 + np.exp(-capped[chosen]))
    return dict(zip(chosen.tolist(), (scores / scores.sum()).tolist(), strict=True))


def mixed(logits: Array, jitter: float) -> dict[int, float]:
    """Phi-3.5-MoE: two experts in turn, each with the softmax of the logits that are close to the largest left."""
    results: dict[int, float] = {}
    for _ in range(2):
        left = np.array([-np.inf if each in results else value for each, value in enumerate(logits)])
        largest = left.max()
        far = (largest - logits) / np.maximum(np.abs(logits), largest) > 2 * jitter
        results[int(left.argmax())] = float(softmax(np.where(far, -np.inf, left)).max())
    return results


GROUPS = "groups = 4, chosen_groups = 2"

CASES = {
    "softmax of the chosen": ('chosen = 3, scores = "chosen softmax"', False, lambda x: softmax_of_chosen(x, 3)),
    "best two of a group": (
        f'chosen = 3, scores = "sigmoid", is_normalized = true, scale = 2.5, {GROUPS}, group_score = "best two"',
        True,
        lambda x: corrected(x, 3, 4, 2),
    ),
    "best of a group": (f'chosen = 3, scores = "softmax", {GROUPS}, group_score = "best"', False, lambda x: best_groups(x, 3, 4, 2)),
    "sigmoid of the chosen": (
        'chosen = 3, scores = "chosen sigmoid", is_normalized = true, cap = 0.8',
        True,
        lambda x: sigmoid_of_chosen(x, 3, 0.8),
    ),
    "sparse mixer": ('chosen = 2, scores = "sparse mixer", jitter = 0.2', False, lambda x: mixed(x, 0.2)),
}


@pytest.mark.parametrize("case", CASES)
def test_routing(case: str) -> None:
    properties, has_correction, weights_of = CASES[case]
    operands = "%x, %router, %gate, %up, %down" + (", %zero, %zeros, %zeros, %none, %correction" if has_correction else "")
    constants = {"router": ROUTER, "gate": GATE, "up": UP, "down": DOWN}
    if has_correction:
        zeros = {"zero": 0 * CORRECTION, "zeros": 0 * GATE[..., 0], "none": 0 * DOWN[..., 0]}
        constants |= {"correction": CORRECTION, **zeros}
    text = f"""{inputs(f"?x?x{HIDDEN}xf32")}
    %y = transformers.MixtureOfExperts({operands}) {{{properties}, activation = "relu", name = "m"}} : tensor<?x?x{HIDDEN}xf32>
    opset1.Result(%y) {{name = "out"}}"""
    module = build(text, **constants)
    apply(module, "lower-transformers fold-constants")
    expected = np.zeros_like(TOKENS)
    for place in np.ndindex(TOKENS.shape[:2]):
        x = TOKENS[place]
        for expert, weight in weights_of((ROUTER @ x).astype(np.float64)).items():
            expected[place] += weight * (DOWN[expert] @ (np.maximum(GATE[expert] @ x, 0) * (UP[expert] @ x)))
    np.testing.assert_allclose(run(module, TOKENS)[0], expected, rtol=1e-4, atol=1e-5)


def test_weights_as_factors_of_inputs() -> None:
    """Llama 4: an expert computes the product of a token and its weight; Gemma 4: the router reads another value."""
    factors = np.abs(CORRECTION)
    zeros = {"zero": 0 * CORRECTION, "zeros": 0 * GATE[..., 0], "none": 0 * DOWN[..., 0]}
    constants = {"router": ROUTER, "gate": GATE, "up": UP, "down": DOWN, "factors": factors, **zeros}
    text = f"""{inputs(f"?x?x{HIDDEN}xf32", f"?x?x{HIDDEN}xf32")}
    %m = transformers.MixtureOfExperts(%x, %router, %gate, %up, %down, %zero, %zeros, %zeros, %none, %zero, %y, %factors)
    {{chosen = 2, scores = "sigmoid", scales_inputs = true, activation = "relu", name = "m"}} : tensor<?x?x{HIDDEN}xf32>
    opset1.Result(%m) {{name = "out"}}"""
    module = build(text.replace("%factors)\n    {", "%factors) {"), **constants)
    apply(module, "lower-transformers fold-constants")
    routed = TOKENS[::-1].copy()
    expected = np.zeros_like(TOKENS)
    for place in np.ndindex(TOKENS.shape[:2]):
        scores = 1 / (1 + np.exp(-(ROUTER @ routed[place])))
        for expert in np.argsort(-scores)[:2]:
            x = TOKENS[place] * scores[expert] * factors[expert]
            expected[place] += DOWN[expert] @ (np.maximum(GATE[expert] @ x, 0) * (UP[expert] @ x))
    np.testing.assert_allclose(run(module, TOKENS, routed)[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_interleaved", [False, True])
def test_chosen_experts_alone_are_computed(is_interleaved: bool) -> None:
    """The plugin recognizes the operations of a mixture, with gate and up apart or, as in gpt-oss, in one matrix."""
    if is_interleaved:
        operands, kind = "%x, %router, %both, %both, %down, %bias, %bias_up, %bias_up, %bias_down", "clamped swish"
        both = np.stack([GATE, UP], 2).reshape(COUNT, 2 * INNER, HIDDEN)
        biases = {"bias": CORRECTION, "bias_up": both[..., 0].copy(), "bias_down": DOWN[..., 0].copy()}
        constants = {"router": ROUTER, "both": both, "down": DOWN, **biases}
        properties = 'chosen = 2, is_interleaved = true, scores = "chosen softmax", limit = 7.0, slope = 1.702'
    else:
        operands, kind, constants = "%x, %router, %gate, %up, %down", "silu", {"router": ROUTER, "gate": GATE, "up": UP, "down": DOWN}
        properties = 'chosen = 2, scores = "softmax"'
    text = f"""{inputs(f"?x?x{HIDDEN}xf32")}
    %y = transformers.MixtureOfExperts({operands}) {{{properties}, activation = "{kind}", name = "m"}} : tensor<?x?x{HIDDEN}xf32>
    opset1.Result(%y) {{name = "out"}}"""
    module = build(text, **constants)
    apply(module, "lower-transformers fold-constants")
    graph = openvino.Core().compile_model(to_openvino(module), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).get_runtime_model()
    executed = Counter(op.get_rt_info()["layerType"].astype(str) for op in graph.get_ops())
    assert executed["GatherMatmul"] == (2 if is_interleaved else 3)
