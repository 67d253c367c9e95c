"""Folders whose weights are quantized, against folders with the numbers that their codes stand for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import openvino
import pytest

import moir
from moir.frontends.quantized_checkpoints.bitsandbytes import NF4
from tests.numerical.runtime import core
from tests.numerical.transformers.test_decoders import TEXT, compiled, step
from tests.unit.frontends.quantized_checkpoints.layers import pairs, words
from tests.unit.frontends.stored_values import E2M1
from tests.unit.language_models.folders import Array, weights, write_folder

QUANTIZED = [f"model.layers.0.mlp.{name}_proj" for name in ("gate", "up", "down")]
GROUP, BITS = 8, 4


def packed(codes: Array) -> Array:
    """Codes [n, m] of four bits as words [n / 8, m], the first code in the lowest bits."""
    shifts = (np.arange(8) * BITS).astype(np.uint32).reshape(1, 8, 1)
    words = codes.astype(np.uint32).reshape(-1, 8, codes.shape[1]) << shifts
    return np.bitwise_or.reduce(words, 1).view(np.int32)


def gptq(name: str, matrix: Array, is_sorted: bool) -> tuple[dict[str, Array], Array]:
    """The tensors of a layer with random codes, and the matrix that they stand for."""
    rows, columns = matrix.shape
    generator = np.random.default_rng(rows + columns)
    groups = np.arange(columns) // GROUP
    groups = groups if is_sorted else generator.permutation(groups)
    codes = generator.integers(0, 1 << BITS, (columns, rows))
    zeros = generator.integers(1, 1 << BITS, (columns // GROUP, rows))
    scales = generator.uniform(0.05, 0.2, zeros.shape).astype(np.float16)
    tensors = {
        "qweight": packed(codes),
        "qzeros": np.ascontiguousarray(packed((zeros - 1).T).T),
        "scales": scales,
        "g_idx": groups.astype(np.int32),
    }
    values = scales.astype(np.float32)[groups] * (codes - zeros[groups])
    return {f"{name}.{key}": value for key, value in tensors.items()}, np.ascontiguousarray(values.T.astype(np.float32))


@pytest.mark.parametrize("is_sorted", [True, False], ids=["groups in order", "groups in any order"])
def test_gptq(tmp_path: Path, is_sorted: bool) -> None:
    plain, quantized = dict(weights()), dict(weights())
    for name in QUANTIZED:
        tensors, plain[f"{name}.weight"] = gptq(name, quantized.pop(f"{name}.weight"), is_sorted)
        quantized |= tensors
    settings = {"quant_method": "gptq", "bits": BITS, "group_size": GROUP, "desc_act": not is_sorted}
    mask = np.ones((1, len(TEXT)), np.int64)
    expected = step(compiled(tmp_path / "plain", plain), TEXT[None], mask)
    request = compiled(tmp_path / "quantized", quantized, quantization_config=settings)
    actual = step(request, TEXT[None], mask)
    np.testing.assert_allclose(actual, expected, atol=1e-4 * np.abs(expected).max())


SIZES = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1}
EXPERTS = {"model_type": "mixtral", "num_local_experts": 3, "num_experts_per_tok": 2, "tie_word_embeddings": True, **SIZES}
Format = Callable[[tuple[int, int], np.random.Generator], tuple[dict[str, Array], Array]]
"""Makes the tensors of a layer of a shape, and the matrix that they stand for."""


def packed_integers(shape: tuple[int, int], generator: np.random.Generator) -> tuple[dict[str, Array], Array]:
    codes, zeros = generator.integers(0, 16, shape), generator.integers(4, 12, (shape[0], shape[1] // 32))
    scales = generator.uniform(0.01, 0.03, zeros.shape).astype(ml_dtypes.bfloat16)
    tensors = {"weight_packed": words(codes, 4), "weight_scale": scales, "weight_shape": np.array(shape)}
    zero_points = {"weight_zero_point": np.ascontiguousarray(words(zeros.T, 4).T)}
    return tensors | zero_points, scales.astype(np.float32).repeat(32, 1) * (codes - zeros.repeat(32, 1))


def blocks_of_eight_bits(shape: tuple[int, int], generator: np.random.Generator) -> tuple[dict[str, Array], Array]:
    numbers = generator.standard_normal(shape).astype(ml_dtypes.float8_e4m3fn)
    scales = generator.uniform(0.1, 0.3, (shape[0] // 32, shape[1] // 32)).astype(np.float32)
    return {"weight": numbers, "weight_scale_inv": scales}, numbers.astype(np.float32) * scales.repeat(32, 0).repeat(32, 1)


def groups_of_four_bits(shape: tuple[int, int], generator: np.random.Generator) -> tuple[dict[str, Array], Array]:
    codes, scales = generator.integers(0, 16, shape), generator.uniform(20, 60, (shape[0], shape[1] // 16)).astype(ml_dtypes.float8_e4m3fn)
    tensors = {"weight_packed": pairs(codes), "weight_scale": scales, "weight_global_scale": np.array([512], np.float32)}
    return tensors, E2M1[codes] * (scales.astype(np.float32) / 512).repeat(16, 1)


def normal_floats(shape: tuple[int, int], generator: np.random.Generator) -> tuple[dict[str, Array], Array]:
    codes, scales = generator.integers(0, 16, shape[0] * shape[1]), generator.uniform(0.2, 0.4, shape[0] * shape[1] // 64)
    state = json.dumps({"quant_type": "nf4", "blocksize": 64, "shape": shape}).encode()
    table, scales = np.array(NF4, np.float32), scales.astype(np.float32)
    tensors = {"weight": pairs(codes, first_is_high=True).reshape(-1, 1), "weight.absmax": scales, "weight.quant_map": table}
    tensors["weight.quant_state.bitsandbytes__nf4"] = np.frombuffer(state, np.uint8)
    return tensors, (table[codes] * scales.repeat(64)).reshape(shape)


def rows_of_eight_bits(shape: tuple[int, int], generator: np.random.Generator) -> tuple[dict[str, Array], Array]:
    codes, largest = generator.integers(-127, 128, shape).astype(np.int8), generator.uniform(0.3, 0.5, shape[0]).astype(np.float32)
    return {"weight": codes, "SCB": largest}, codes * largest[:, None] / np.float32(127)


FORMATS: dict[str, tuple[Format, dict[str, object], str]] = {
    "packed integers": (packed_integers, {"quant_method": "compressed-tensors"}, "u4"),
    "FP8": (blocks_of_eight_bits, {"quant_method": "fp8", "weight_block_size": [32, 32]}, "f32"),
    "NVFP4": (groups_of_four_bits, {"quant_method": "compressed-tensors"}, "f4e2m1"),
    "nf4": (normal_floats, {"quant_method": "bitsandbytes"}, "nf4"),
    "LLM.int8": (rows_of_eight_bits, {"quant_method": "bitsandbytes"}, "i8"),
}


def shapes(experts: bool) -> dict[str, tuple[int, int]]:
    """The matrices of a layer."""
    layer = {"q": (64, 64), "k": (32, 64), "v": (32, 64), "o": (64, 64)}
    results = {f"self_attn.{name}_proj": shape for name, shape in layer.items()}
    if not experts:
        return results | {"mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64), "mlp.down_proj": (64, 128)}
    names = {"w1": (128, 64), "w3": (128, 64), "w2": (64, 128)}
    return results | {f"block_sparse_moe.experts.{expert}.{name}": shape for expert in range(3) for name, shape in names.items()}


def exact(folder: Path, tensors: dict[str, Array], **keys: object) -> openvino.CompiledModel:
    """The converted model, compiled without rounding of activations."""
    model = moir.to_openvino(moir.convert_model(write_folder(folder, tensors, **keys)))
    options = {"KV_CACHE_PRECISION": "f32", "INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    return core().compile_model(model, "CPU", options)


@pytest.mark.parametrize("experts", [False, True], ids=["dense", "experts"])
@pytest.mark.parametrize("name", FORMATS)
def test_formats(tmp_path: Path, name: str, experts: bool) -> None:
    generator = np.random.default_rng(0)
    quantize, settings, kept = FORMATS[name]
    norms = ("input_layernorm", "post_attention_layernorm")
    plain = {f"model.layers.0.{each}.weight": generator.uniform(0.5, 1, 64).astype(np.float32) for each in norms}
    plain["model.norm.weight"] = generator.uniform(0.5, 1, 64).astype(np.float32)
    plain["model.embed_tokens.weight"] = generator.standard_normal((6, 64)).astype(np.float32)
    if experts:
        plain["model.layers.0.block_sparse_moe.gate.weight"] = generator.standard_normal((3, 64)).astype(np.float32)
    quantized = dict(plain)
    for layer, shape in shapes(experts).items():
        tensors, matrix = quantize(shape, generator)
        quantized |= {f"model.layers.0.{layer}.{key}": value for key, value in tensors.items()}
        plain[f"model.layers.0.{layer}.weight"] = matrix.astype(np.float32)
    keys = EXPERTS if experts else SIZES
    mask = np.ones((1, len(TEXT)), np.int64)
    expected = step(exact(tmp_path / "plain", plain, **keys).create_infer_request(), TEXT[None], mask)
    compiled_model = exact(tmp_path / "quantized", quantized, **keys, quantization_config=settings)
    actual = step(compiled_model.create_infer_request(), TEXT[None], mask)
    np.testing.assert_allclose(actual, expected, atol=1e-4 * np.abs(expected).max())
    products = [op for op in compiled_model.get_runtime_model().get_ops() if op.get_rt_info()["layerType"].astype(str) == "FullyConnected"]
    assert sum(op.input(1).get_element_type().to_string() == kept for op in products) >= 4
