"""Mixtures of experts of com.microsoft, against ONNX Runtime, or numpy where its CPU has no kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.test_block_weights import packed, scales
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(15)
microsoft = partial(node, domain="com.microsoft")
EXPERTS, TOKENS, WIDTH, INNER = 4, 6, 32, 16


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


INPUTS = {"x": random(TOKENS, WIDTH), "router": random(TOKENS, EXPERTS)}
MATRICES = {
    "w1": random(EXPERTS, INNER, WIDTH),
    "b1": random(EXPERTS, INNER),
    "w2": random(EXPERTS, WIDTH, INNER),
    "b2": random(EXPERTS, WIDTH),
}


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "identity"])
@pytest.mark.parametrize(("k", "normalize"), [(1, 0), (2, 0), (2, 1), (4, 1)])
def test_floats(activation: str, k: int, normalize: int) -> None:
    model = [microsoft("MoE", ["x", "router", *MATRICES], ["y"], k=k, normalize_routing_weights=normalize, activation_type=activation)]
    check(model, INPUTS, constants=MATRICES, atol=2e-2 if activation == "gelu" else 1e-3)


def test_batch_of_texts() -> None:
    inputs = INPUTS | {"x": INPUTS["x"].reshape(2, 3, WIDTH)}
    check([microsoft("MoE", ["x", "router", *MATRICES], ["y"], k=2, activation_type="silu")], inputs, constants=MATRICES, atol=1e-3)


def test_without_biases() -> None:
    matrices = {name: MATRICES[name] for name in ("w1", "w2")}
    check([microsoft("MoE", ["x", "router", "w1", "", "w2"], ["y"], k=2)], INPUTS, constants=matrices, atol=1e-3)


@pytest.mark.parametrize("attributes", [{}, {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 2.0}])
def test_interleaved_gates(attributes: dict[str, float]) -> None:
    matrices = MATRICES | {"w1": random(EXPERTS, 2 * INNER, WIDTH), "b1": random(EXPERTS, 2 * INNER)}
    model = [microsoft("MoE", ["x", "router", *matrices], ["y"], k=2, activation_type="swiglu", swiglu_fusion=1, **attributes)]
    check(model, INPUTS, constants=matrices, atol=2e-3)


def mixed(matrices: dict[str, Array], inner: Any) -> Array:
    """The results of the two best experts for each token, by a function of a token and an expert."""
    exponentials = np.exp(INPUTS["router"])
    weights = exponentials / exponentials.sum(1, keepdims=True)
    rows = []
    for token, weight in zip(INPUTS["x"], weights, strict=True):
        best = np.argsort(-weight)[:2]
        rows.append(sum(weight[each] * (matrices["w2"][each] @ inner(token, each) + matrices["b2"][each]) for each in best))
    return np.array(rows, np.float32)


def swish(x: Array) -> Array:
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize("activation", ["silu", "swiglu"])
def test_gates_that_are_a_third_matrix(activation: str) -> None:
    matrices = MATRICES | {"w3": random(EXPERTS, INNER, WIDTH), "b3": random(EXPERTS, INNER)}

    def inner(token: Array, each: int) -> Array:
        gate, up = (matrices[f"w{layer}"][each] @ token + matrices[f"b{layer}"][each] for layer in (1, 3))
        return swish(gate) * up

    model = [microsoft("MoE", ["x", "router", *matrices], ["y"], k=2, activation_type=activation)]
    check(model, INPUTS, constants=matrices, expected=[mixed(matrices, inner)], atol=2e-3)


@pytest.mark.parametrize("activation", ["swiglu", "geglu"])
def test_gates_that_are_halves(activation: str) -> None:
    matrices = MATRICES | {"w1": random(EXPERTS, 2 * INNER, WIDTH), "b1": random(EXPERTS, 2 * INNER)}

    def inner(token: Array, each: int) -> Array:
        gate, up = np.split(matrices["w1"][each] @ token + matrices["b1"][each], 2)
        if activation == "swiglu":
            return swish(gate) * up
        return 0.5 * gate * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3))) * up

    model = [microsoft("MoE", ["x", "router", *matrices], ["y"], k=2, activation_type=activation, swiglu_fusion=2)]
    check(model, INPUTS, constants=matrices, expected=[mixed(matrices, inner)], atol=1e-2)


def quantized(bits: int, block: int, zero_points: bool) -> tuple[list[str], dict[str, Array]]:
    """The names of the operands of a QMoE, and its constants."""
    constants: dict[str, Array] = {}
    for layer, rows, columns in ((1, INNER, WIDTH), (2, WIDTH, INNER)):
        shape = (EXPERTS, rows) if not block else (EXPERTS, rows, columns // block)
        constants[f"w{layer}"] = packed(RANDOM.integers(0, 2**bits, (EXPERTS, rows, columns)), bits)
        constants[f"s{layer}"] = scales(*shape)
        constants[f"b{layer}"] = MATRICES[f"b{layer}"]
        if zero_points:
            constants[f"z{layer}"] = packed(RANDOM.integers(0, 2**bits, shape), bits)
    names = ["x", "router", "w1", "s1", "b1", "w2", "s2", "b2"]
    return names + (["", "", "", "z1", "z2"] if zero_points else []), constants


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("block", [0, 16])
@pytest.mark.parametrize("zero_points", [False, True])
def test_integers(bits: int, block: int, zero_points: bool) -> None:
    names, constants = quantized(bits, block, zero_points)
    attributes = {"expert_weight_bits": bits} | ({"block_size": block} if block else {})
    model = [microsoft("QMoE", names, ["y"], k=2, normalize_routing_weights=1, activation_type="relu", **attributes)]
    # ONNX Runtime rounds the data to 8 bits where weights of 8 bits have blocks.
    check(model, INPUTS, constants=constants, **({"rtol": 5e-2, "atol": 20} if bits == 8 and block else {"rtol": 1e-3, "atol": 1e-2}))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"use_sparse_mixer": 1}, "use_sparse_mixer is not supported"),
        ({"activation_type": "tanh"}, "activation 'tanh' is not one of"),
        ({"activation_type": "swiglu"}, "there is no matrix fc3"),
    ],
)
def test_refusal(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        check([microsoft("MoE", ["x", "router", *MATRICES], ["y"], **attributes)], INPUTS, constants=MATRICES, expected=[INPUTS["x"]])


def test_refused_types_of_weights() -> None:
    names, constants = quantized(4, 16, False)
    with pytest.raises(ConversionError, match="quant_type 'fp4'"):
        check([microsoft("QMoE", names, ["y"], quant_type="fp4")], INPUTS, constants=constants, expected=[INPUTS["x"]])
