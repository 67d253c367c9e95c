"""Networks that JAX exported: as few operations as through other frameworks, and the results of JAX.

`tests/fixtures/stablehlo/networks.py` makes them. No IR has more operations than that of the same network through ONNX,
although JAX defines what an index beyond the data is and the twins of ONNX do not.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import moir
from moir.dialects.moir import models_of
from tests.numerical.runtime import core

FIXTURES = Path(__file__).parents[2] / "fixtures" / "stablehlo" / "networks"

ATTENTION = {"ScaledDotProductAttention": 1, "Transpose": 4, "Reshape": 4}
ENCODER = {**ATTENTION, "Add": 10, "Gelu": 1, "MVN": 2, "MatMul": 6, "Multiply": 2}
CHECKED = {"Gather": 1}
"""The places of rows, of which the first one is NaN, for indices that are negative or out of range."""
NORMALIZED = {"Multiply": 6, "ReduceMean": 2, "Add": 2, "Sqrt": 2, "Divide": 2}
DECODER = {"MatMul": 8, "Multiply": 1, "Swish": 1, "Add": 2, "Gather": 1}
ANGLES = {"Convert": 1, "Multiply": 1, "Cos": 1, "Sin": 1, "Unsqueeze": 3}
ROTATED = {"Split": 2, "Multiply": 8, "Subtract": 2, "Add": 2, "Concat": 2}


def total(*parts: dict[str, int]) -> dict[str, int]:
    """Numbers of operations, added."""
    result = Counter[str]()
    for part in parts:
        result.update(part)
    return dict(result)


LLAMA = total(NORMALIZED, DECODER, ANGLES, CHECKED)
GROUPS = {"Reshape": 2}
"""Reshapes of the groups of queries: one of them merges with that of the heads, and none splits the heads before."""

EXPECTED: dict[str, dict[str, int]] = {
    "activations": {
        **{"Clamp": 2, "Divide": 1, "Elu": 3, "Gelu": 2, "HSigmoid": 1, "HSwish": 1, "LogSoftmax": 1, "MVN": 1, "Mish": 1, "Multiply": 2},
        **{
            "Negative": 2,
            "PRelu": 1,
            "Relu": 1,
            "Selu": 1,
            "Sigmoid": 2,
            "SoftPlus": 2,
            "SoftSign": 1,
            "Softmax": 1,
            "VariadicSplit": 1,
            "Swish": 1,
        },
    },
    "classifier": {"Add": 1, "Convolution": 1, "LogSoftmax": 1, "MatMul": 1, "MaxPool": 1, "ReduceMean": 1, "Relu": 1, "Transpose": 1},
    "decoder_of_jax": total(LLAMA, ROTATED, ATTENTION, GROUPS),
    "encoder_by_einsum": ENCODER,
    "encoder_causal": total(ENCODER, {"Gather": 1, "Minimum": 1, "Maximum": 1, "Add": 1, "MatMul": 1}),
    "encoder_of_any_length": total(ENCODER, {"Add": -3, "Select": 1, "Unsqueeze": 1}),
    "encoder_of_flax": total(ENCODER, {"Add": -3, "Select": 1, "Unsqueeze": 1}),
    "encoder_of_jax": ENCODER,
    "encoder_with_bias": ENCODER,
    "encoder_with_mask": total(ENCODER, {"Select": 1, "Unsqueeze": 1}),
    "experts": {
        **{"Divide": 1, "Einsum": 2, "MatMul": 3, "Multiply": 2, "OneHot": 1, "ReduceSum": 2, "Reshape": 2},
        **{"Softmax": 1, "Swish": 1, "TopK": 1, "Unsqueeze": 1},
    },
    "group_normalization": {"Add": 1, "Convolution": 2, "GroupNormalization": 2, "Swish": 2, "Transpose": 2},
    "pooled": {
        **{"AvgPool": 2, "Convolution": 1, "MatMul": 1, "ReduceMean": 1, "Relu": 1, "Transpose": 1},
        # A group normalization of an unknown batch.
        **{"Add": 1, "MVN": 1, "Multiply": 1, "Reshape": 2},
    },
    "group_normalization_of_flax": {"Add": 1, "Convolution": 2, "GroupNormalization": 2, "Swish": 2, "Transpose": 2},
}

TWINS = {
    **{"activations": 81, "cache_step": 138, "decoder_of_groups": 70, "decoder_of_jax": 62, "decoder_of_repeated_heads": 65},
    **{"encoder_by_einsum": 49, "encoder_causal": 56, "encoder_of_any_length": 52, "encoder_of_flax": 52, "encoder_of_jax": 56},
    **{"encoder_with_bias": 56, "encoder_with_mask": 67, "experts": 20, "group_normalization": 41, "group_normalization_of_flax": 15},
}
"""Operations in the IRs of the same networks through ONNX, by jax2onnx 0.17.1; those of the other two do not convert."""

ATTENTIVE = ("cache_step", "decoder_of_groups", "decoder_of_jax", "decoder_of_repeated_heads")


@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.jax")))
def test_network(name: str) -> None:
    module = moir.convert_model(FIXTURES / f"{name}.jax")
    (model,) = models_of(module)
    kinds = Counter(op.name.partition(".")[2] for op in model.block.ops)
    actual = {kind: count for kind, count in kinds.items() if kind not in ("Constant", "Parameter", "Result")}
    if name in EXPECTED:
        assert actual == EXPECTED[name]
    assert sum(actual.values()) <= TWINS.get(name, math.inf)
    if name in ATTENTIVE:
        assert actual["ScaledDotProductAttention"] == 1
        assert not {"Einsum", "Softmax"} & {*actual}
    compiled = core().compile_model(moir.to_openvino(module), "CPU")
    with np.load(FIXTURES / f"{name}.npz") as arrays:
        inputs = [arrays[key] for key in arrays if key.startswith("in/")]
        expected = [arrays[key] for key in arrays if key.startswith("out/")]
    results = compiled(inputs)
    for index, reference in enumerate(expected):
        np.testing.assert_allclose(results[index], reference, rtol=1e-4, atol=1e-5, err_msg=f"result {index}")
