"""Decoders from folders of Hugging Face Transformers against a definition in numpy: at once, token by token, padded."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.runtime import core
from tests.numerical.transformers import reference
from tests.unit.language_models.folders import HIDDEN, INNER, Array, weights, write_folder

HEADS, KEY_HEADS = 2, 1
TEXT = np.array([0, 2, 4, 3, 5, 2, 2, 1])

PROJECTIONS = [f"model.layers.0.self_attn.{letter}_proj" for letter in "qkv"]


def compiled(folder: Path, tensors: dict[str, Array], **keys: object) -> openvino.InferRequest:
    """A request of the converted model."""
    module = moir.convert_model(write_folder(folder / "m", tensors, **keys))
    return core().compile_model(moir.to_openvino(module), "CPU", {"KV_CACHE_PRECISION": "f32"}).create_infer_request()


def step(request: openvino.InferRequest, tokens: Array, mask: Array, beams: Array | None = None) -> Array:
    """The logits of new tokens [batch, tokens] after those that the request has seen."""
    positions = np.maximum(np.cumsum(mask, 1) - 1, 0)[:, -tokens.shape[1] :]
    inputs = {
        "input_ids": tokens,
        "attention_mask": mask,
        "position_ids": positions,
        "beam_idx": np.arange(len(tokens), dtype=np.int32) if beams is None else beams,
    }
    return request.infer(inputs)["logits"]


def with_biases(tensors: dict[str, Array]) -> dict[str, Array]:
    """The tensors with biases of queries, keys and values."""
    generator = np.random.default_rng(1)
    biases = {f"{name}.bias": generator.standard_normal(len(tensors[f"{name}.weight"])) for name in PROJECTIONS}
    return tensors | {name: value.astype(np.float32) for name, value in biases.items()}


def with_query_norms(tensors: dict[str, Array]) -> dict[str, Array]:
    """The tensors with weights of the normalizations of queries and keys."""
    generator = np.random.default_rng(2)
    names = [f"model.layers.0.self_attn.{letter}_norm.weight" for letter in "qk"]
    return tensors | {name: generator.standard_normal(4).astype(np.float32) for name in names}


def with_experts(tensors: dict[str, Array]) -> dict[str, Array]:
    """The tensors with three experts instead of one network."""
    generator = np.random.default_rng(3)
    prefix = "model.layers.0.block_sparse_moe"
    shapes = {f"{prefix}.gate": (3, HIDDEN)}
    for expert in range(3):
        shapes |= {f"{prefix}.experts.{expert}.{name}": (INNER, HIDDEN) for name in ("w1", "w3")}
        shapes[f"{prefix}.experts.{expert}.w2"] = (HIDDEN, INNER)
    experts = {f"{name}.weight": generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    return {name: value for name, value in tensors.items() if ".mlp." not in name} | experts


MODELS = {
    "llama": ("llama", weights(), 0),
    "llama with a matrix of logits": ("llama", weights() | {"lm_head.weight": weights()["model.embed_tokens.weight"][::-1]}, 0),
    "mistral": ("mistral", weights(), 3),
    "qwen2": ("qwen2", with_biases(weights()), 0),
    "qwen2 of a model with images": ("qwen2_vl", with_biases(weights()) | {"visual.patch": weights()["model.norm.weight"]}, 0),
    "qwen3": ("qwen3", with_query_norms(weights()), 0),
    "mixtral": ("mixtral", with_experts(weights()), 0),
}


@pytest.fixture(params=MODELS, name="model")
def fixture_model(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[openvino.InferRequest, dict[str, Array], int]:
    """A request, the tensors, and the window."""
    model_type, tensors, window = MODELS[request.param]
    keys: dict[str, object] = {"model_type": model_type, "tie_word_embeddings": "lm_head.weight" not in tensors, "head_dim": 4}
    if model_type == "mistral":
        keys["sliding_window"] = window
    if model_type == "qwen2_vl":
        keys |= {"vision_config": {"depth": 1}, "image_token_id": 7, "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 0]}}
    if model_type == "mixtral":
        keys |= {"num_local_experts": 3, "num_experts_per_tok": 2}
    return compiled(tmp_path, tensors, **keys), tensors, window


def expected(tensors: dict[str, Array], text: Array, window: int) -> Array:
    """The logits of a text by definition."""
    return reference.logits(tensors, text, HEADS, KEY_HEADS, window)


def compare(result: Array, logits: Array) -> None:
    """Raises AssertionError unless logits agree."""
    np.testing.assert_allclose(result, logits, rtol=1e-4, atol=1e-4)


def test_a_whole_text(model: tuple[openvino.InferRequest, dict[str, Array], int]) -> None:
    request, tensors, window = model
    compare(step(request, TEXT[None], np.ones((1, 8), np.int64))[0], expected(tensors, TEXT, window))


def test_parts_of_a_text_in_turn(model: tuple[openvino.InferRequest, dict[str, Array], int]) -> None:
    """Five tokens, then one by one: keys and values of former tokens come from the cache."""
    request, tensors, window = model
    ends = [0, 5, 6, 7, 8]
    parts = [step(request, TEXT[None, a:b], np.ones((1, b), np.int64))[0] for a, b in itertools.pairwise(ends)]
    compare(np.concatenate(parts), expected(tensors, TEXT, window))


def test_a_shorter_text_is_padded_on_the_left(model: tuple[openvino.InferRequest, dict[str, Array], int]) -> None:
    request, tensors, window = model
    short = TEXT[:5]
    mask = np.ones((2, 8), np.int64)
    mask[1, :3] = 0
    results = step(request, np.stack([TEXT, np.concatenate([[1, 1, 1], short])]), mask)
    assert np.isfinite(results).all()
    compare(results[0], expected(tensors, TEXT, window))
    compare(results[1, 3:], expected(tensors, short, window))


def test_beams_are_reordered(model: tuple[openvino.InferRequest, dict[str, Array], int]) -> None:
    """The second beam continues the first one's text and the reverse."""
    request, tensors, window = model
    texts = np.stack([TEXT[:4], TEXT[4:]])
    step(request, texts, np.ones((2, 4), np.int64))
    results = step(request, np.array([[3], [5]]), np.ones((2, 5), np.int64), np.array([1, 0], np.int32))
    for beam, (text, token) in enumerate(((texts[1], 3), (texts[0], 5))):
        compare(results[beam], expected(tensors, np.append(text, token), window)[-1:])
