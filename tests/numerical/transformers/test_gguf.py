"""Decoders from files in GGUF against a definition in numpy, and against the numbers that their codes stand for."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from moir.frontends.gguf.block_types import TYPES
from tests.numerical.runtime import core
from tests.numerical.transformers import reference
from tests.numerical.transformers.test_decoders import TEXT, step
from tests.unit.frontends.gguf.test_blocks import BY_NAME, DEFINITIONS, random_rows
from tests.unit.frontends.gguf.written_files import Array, Stored, llama_tensors, metadata, stored, write_file
from tests.unit.language_models.folders import weights

ONCE = np.ones((1, len(TEXT)), np.int64)


def compiled(path: Path, tensors: dict[str, Stored], architecture: str, keys: dict[str, object]) -> openvino.InferRequest:
    """A request of the converted model."""
    values = metadata(architecture, keys)
    module = moir.convert_model(write_file(path / "m.gguf", values, tensors))
    exact = {"KV_CACHE_PRECISION": "f32", "INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    return core().compile_model(moir.to_openvino(module), "CPU", exact).create_infer_request()


@pytest.mark.parametrize(("architecture", "window"), [("llama", 0), ("llama", 3), ("qwen2", 0)])
def test_against_the_definition(tmp_path: Path, architecture: str, window: int) -> None:
    tensors: dict[str, Stored] = dict(llama_tensors() if architecture == "llama" else stored(weights()))
    keys: dict[str, object] = {"attention.sliding_window": window} if window else {}
    request = compiled(tmp_path, tensors, architecture, keys)
    expected = reference.logits(weights(), TEXT, 2, 1, window)
    parts = [step(request, TEXT[None, start:stop], ONCE[:, :stop]) for start, stop in ((0, 5), (5, 6), (6, 8))]
    np.testing.assert_allclose(np.concatenate(parts, 1)[0], expected, atol=1e-4 * np.abs(expected).max())


def decoded(name: str, rows: Array) -> Array:
    """The numbers of rows of blocks, by definition."""
    kind = BY_NAME[name]
    blocks = rows.reshape(len(rows), -1, kind.size)
    numbers = [[DEFINITIONS[name](block.tobytes(), index) for block in row for index in range(kind.count)] for row in blocks]
    return np.array(numbers, np.float32)


WIDTH = 256
"""The size of embeddings of which a row is a whole number of blocks of any type."""


def compare(path: Path, name: str, shapes: dict[str, tuple[int, ...]], plain: dict[str, Stored], keys: dict[str, object]) -> None:
    """Compare a model whose tensors have codes of a type with one that has the numbers that they stand for."""
    number = next(number for number, kind in TYPES.items() if kind.name == name)
    codes, numbers = dict(plain), dict(plain)
    for index, (tensor, shape) in enumerate(shapes.items()):
        rows = np.roll(random_rows(name, math.prod(shape[:-1]), shape[-1] // BY_NAME[name].count), index, 0)
        codes[f"{tensor}.weight"] = (number, shape, rows.tobytes())
        numbers[f"{tensor}.weight"] = decoded(name, rows).reshape(shape)
    keys = {"embedding_length": WIDTH, "feed_forward_length": WIDTH, "attention.key_length": 8, **keys}
    actual, expected = (step(compiled(path, each, "llama", keys), TEXT[None], ONCE) for each in (codes, numbers))
    np.testing.assert_allclose(actual, expected, atol=2e-5 * np.abs(expected).max())


def plain_tensors(*shapes: tuple[str, tuple[int, ...]]) -> dict[str, Stored]:
    """Random tensors, and the weights of normalizations."""
    generator = np.random.default_rng(2)
    norms = {f"{each}.weight": np.ones(WIDTH, np.float32) for each in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm")}
    return {**norms, **{f"{name}.weight": generator.standard_normal(shape).astype(np.float32) for name, shape in shapes}}


ATTENTION: dict[str, tuple[int, ...]] = {"blk.0.attn_q": (16, WIDTH), "blk.0.attn_k": (8, WIDTH), "blk.0.attn_v": (8, WIDTH)}


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL", "MXFP4", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"])
def test_against_the_numbers_of_codes(tmp_path: Path, name: str) -> None:
    matrices = {f"blk.0.ffn_{part}": (WIDTH, WIDTH) for part in ("gate", "up", "down")}
    compare(tmp_path, name, {"token_embd": (6, WIDTH), **ATTENTION, **matrices}, plain_tensors(("blk.0.attn_output", (WIDTH, 16))), {})


@pytest.mark.parametrize("name", ["Q4_0", "Q4_K", "Q6_K", "MXFP4"])
def test_codes_of_experts(tmp_path: Path, name: str) -> None:
    matrices = {f"blk.0.ffn_{part}_exps": (3, WIDTH, WIDTH) for part in ("gate", "up", "down")}
    others = (("token_embd", (6, WIDTH)), ("blk.0.ffn_gate_inp", (3, WIDTH)), ("blk.0.attn_output", (WIDTH, 16)), *ATTENTION.items())
    compare(tmp_path, name, matrices, plain_tensors(*others), {"expert_count": 3, "expert_used_count": 2})
