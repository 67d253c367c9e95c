"""Encoders from folders of Hugging Face Transformers against a definition in numpy, with padding."""

from __future__ import annotations

from collections.abc import Mapping
from math import erf
from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.runtime import core
from tests.unit.language_models.folders import HIDDEN, INNER, WORDS, Array, write_folder

HEADS, POSITIONS, EPSILON = 2, 16, 1e-12
TEXTS = np.array([[2, 4, 3, 5, 2], [4, 4, 2, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
TYPES = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])


def tensors(labels: int = 0) -> dict[str, Array]:
    """Random weights of a BERT of one layer; with labels, of a classifier."""
    prefix = "bert." if labels else ""
    layer = f"{prefix}encoder.layer.0"
    matrices = {
        **{f"{layer}.attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")},
        f"{layer}.attention.output.dense": (HIDDEN, HIDDEN),
        f"{layer}.intermediate.dense": (INNER, HIDDEN),
        f"{layer}.output.dense": (HIDDEN, INNER),
        f"{prefix}pooler.dense": (HIDDEN, HIDDEN),
        **({"classifier": (labels, HIDDEN)} if labels else {}),
    }
    norms = [f"{prefix}embeddings", f"{layer}.attention.output", f"{layer}.output"]
    tables = {"word": len(WORDS), "position": POSITIONS, "token_type": 2}
    shapes = {f"{name}.weight": shape for name, shape in matrices.items()}
    shapes |= {f"{name}.bias": shape[:1] for name, shape in matrices.items()}
    shapes |= {f"{name}.LayerNorm.{part}": (HIDDEN,) for name in norms for part in ("weight", "bias")}
    shapes |= {f"{prefix}embeddings.{name}_embeddings.weight": (size, HIDDEN) for name, size in tables.items()}
    generator = np.random.default_rng(4)
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def expected(weights: Mapping[str, Array], prefix: str) -> Array:
    """The last values [texts, tokens, features] (Devlin et al., "BERT", 2019)."""
    named = {name.removeprefix(prefix): np.asarray(value, np.float64) for name, value in weights.items()}

    def linear(x: Array, name: str) -> Array:
        return x @ named[f"{name}.weight"].T + named[f"{name}.bias"]

    def norm(x: Array, name: str) -> Array:
        centered = x - x.mean(-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * named[f"{name}.LayerNorm.weight"] + named[f"{name}.LayerNorm.bias"]

    def heads(x: Array) -> Array:
        return x.reshape(*x.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)

    tables = [named[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
    x = norm(tables[0][TEXTS] + tables[1][: TEXTS.shape[1]] + tables[2][TYPES], "embeddings")
    query, key, value = (heads(linear(x, f"encoder.layer.0.attention.self.{part}")) for part in ("query", "key", "value"))
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(HIDDEN / HEADS) + np.where(MASK, 0, -np.inf)[:, None, None]
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    attended = (shares / shares.sum(-1, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(x.shape)
    x = norm(x + linear(attended, "encoder.layer.0.attention.output.dense"), "encoder.layer.0.attention.output")
    inner = linear(x, "encoder.layer.0.intermediate.dense")
    inner = inner * (1 + np.vectorize(erf)(inner / np.sqrt(2))) / 2
    return norm(x + linear(inner, "encoder.layer.0.output.dense"), "encoder.layer.0.output")


def result(folder: Path, weights: dict[str, Array], **keys: object) -> Array:
    """The output of the converted model."""
    sizes = {"num_attention_heads": HEADS, "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "layer_norm_eps": EPSILON}
    unused = {"num_key_value_heads": None, "rms_norm_eps": None, "rope_theta": None}
    module = moir.convert_model(write_folder(folder / "m", weights, model_type="bert", hidden_act="gelu", **sizes, **unused, **keys))
    compiled = core().compile_model(moir.to_openvino(module), "CPU")
    return compiled({"input_ids": TEXTS, "attention_mask": MASK, "token_type_ids": TYPES})[0]


def test_last_values(tmp_path: Path) -> None:
    weights = tensors()
    actual = result(tmp_path, weights, architectures=["BertModel"])
    np.testing.assert_allclose(actual[MASK > 0], expected(weights, "")[MASK > 0], atol=1e-4)


@pytest.mark.parametrize("labels", [1, 3])
def test_classification(tmp_path: Path, labels: int) -> None:
    weights = tensors(labels)
    names = {str(label): f"label {label}" for label in range(labels)}
    actual = result(tmp_path, weights, architectures=["BertForSequenceClassification"], id2label=names)
    pooled = np.tanh(expected(weights, "bert.")[:, 0] @ weights["bert.pooler.dense.weight"].T + weights["bert.pooler.dense.bias"])
    np.testing.assert_allclose(actual, pooled @ weights["classifier.weight"].T + weights["classifier.bias"], atol=1e-4)
