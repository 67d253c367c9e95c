"""Compression of language models: its defaults, experts and their routers, numbers with scales, options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import moir
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.errors import UsageError
from moir.options import ConversionOptions
from tests.unit.language_models.folders import write_folder

Array = np.ndarray[Any, Any]
SIZES = {"hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 16}
RANDOM = np.random.default_rng(0)


def tensors(hidden: int = 128, experts: int = 0, tied: bool = False) -> dict[str, Array]:
    layer = "model.layers.0"
    attention = {"q": (hidden, hidden), "k": (hidden // 2, hidden), "v": (hidden // 2, hidden), "o": (hidden, hidden)}
    shapes = {f"{layer}.self_attn.{name}_proj": shape for name, shape in attention.items()}
    shapes |= {f"{layer}.{name}": (hidden,) for name in ("input_layernorm", "post_attention_layernorm")}
    shapes |= {"model.embed_tokens": (16, hidden), "model.norm": (hidden,)} | ({} if tied else {"lm_head": (16, hidden)})
    if experts:
        shapes[f"{layer}.block_sparse_moe.gate"] = (experts, hidden)
        matrices = {"w1": (256, hidden), "w3": (256, hidden), "w2": (hidden, 256)}
        shapes |= {f"{layer}.block_sparse_moe.experts.{each}.{name}": shape for each in range(experts) for name, shape in matrices.items()}
    else:
        shapes |= {f"{layer}.mlp.gate_proj": (256, hidden), f"{layer}.mlp.up_proj": (256, hidden), f"{layer}.mlp.down_proj": (hidden, 256)}
    return {f"{name}.weight": RANDOM.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def converted(folder: Path, weights: dict[str, Array], keys: Mapping[str, object], **options: Any) -> tuple[dict[str, str], str]:
    """The types of the constants by the last part of their names but one, and the notes."""
    module = moir.convert_model(write_folder(folder / "model", weights, **{**SIZES, "tie_word_embeddings": False, **keys}), **options)
    names = {(name_of(op) or "").removesuffix("_compressed"): op for op in module.walk() if isinstance(op, Constant)}
    notes = [note for model in models_of(module) for note in value_of(model.attributes[ModuleLevel.NOTES])]
    actual = {
        name.removesuffix(".weight").rpartition(".")[2]: str(op.results[0].type)[7:-1] for name, op in names.items() if ".weight" in name
    }
    return actual, "\n".join(notes)


def test_four_bits_in_groups_of_128(tmp_path: Path) -> None:
    actual, notes = converted(tmp_path, tensors(), {}, compress_weights="int4")
    layer = {name: actual[name] for name in ("q_proj", "k_proj", "o_proj", "gate_proj", "down_proj")}
    groups = {"q_proj": "128x1x128", "k_proj": "64x1x128", "o_proj": "128x1x128", "gate_proj": "256x1x128", "down_proj": "128x2x128"}
    assert layer == {name: f"{shape.replace('x1x', 'x')}xui4" for name, shape in groups.items()}
    assert actual["embed_tokens"] == "16x128xui8"
    # The table, and the matrix of the logits.
    assert "7 operations have 4 bits" in notes
    assert "2 operations have 8 bits" in notes


def test_a_shared_table_has_8_bits_and_all_other_matrices_4(tmp_path: Path) -> None:
    actual, _ = converted(tmp_path, tensors(tied=True), {"tie_word_embeddings": True}, compress_weights="int4_sym")
    assert actual["embed_tokens"] == "16x128xsi8"
    assert {each[-3:] for name, each in actual.items() if name.endswith("_proj")} == {"si4"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"compress_weights": "int4", "group_size": 32}, "128x8x32xui4"),
        ({"compress_weights": "int4", "group_size": "channel"}, "128x256xui4"),
        ({"compress_weights": "int4:64"}, "128x4x64xui4"),
        ({"compress_weights": "int4", "ratio": 0}, "128x256xui8"),
        ({"compress_weights": "int8", "group_size": 64}, "128x4x64xui8"),
    ],
)
def test_options(tmp_path: Path, options: dict[str, Any], expected: str) -> None:
    assert converted(tmp_path, tensors(), {}, **options)[0]["down_proj"] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group_size": 32}, "group_size has no effect without compress_weights"),
        ({"ratio": 0.5}, "ratio has no effect without compress_weights"),
        ({"compress_weights": "int8", "ratio": 0.5}, "gives all weights 8 bits"),
        ({"compress_weights": "int4:64", "group_size": 32}, "group_size is 32, but compress_weights is int4:64"),
    ],
)
def test_options_that_contradict_each_other(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ConversionOptions(**options).pass_options("compress-weights")


def test_matrices_without_groups_are_named(tmp_path: Path) -> None:
    actual, notes = converted(tmp_path, tensors(hidden=136), {"hidden_size": 136}, compress_weights="int4")
    assert actual["q_proj"] == "136x136xui8"
    assert actual["down_proj"] == "136x2x128xui4"
    assert "weights of 7 matrices without groups of 16 have 8 bits: model.layers.0.self_attn.q_proj.weight, " in notes


def test_experts_are_compressed_and_routers_are_not(tmp_path: Path) -> None:
    keys = {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    actual, _ = converted(tmp_path, tensors(experts=8), keys, compress_weights="int4")
    assert actual["gate"] == "8x128xf32"
    assert (actual["w1"], actual["w2"]) == ("8x256x128xui4", "8x128x2x128xui4")


def test_numbers_with_scales_are_rounded_again(tmp_path: Path) -> None:
    weights = tensors()
    name = "model.layers.0.mlp.down_proj"
    numbers, scales = RANDOM.standard_normal((128, 256)).astype(ml_dtypes.float8_e4m3fn), RANDOM.uniform(1, 2, (1, 2)).astype(np.float32)
    weights |= {f"{name}.weight": numbers, f"{name}.weight_scale_inv": scales}
    keys = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    actual, notes = converted(tmp_path, weights, keys, compress_weights="int8")
    assert actual["down_proj"] == "128x256xui8"
    assert "weights of 1 operation were numbers with scales, and are rounded a second time" in notes
    assert "f8" not in str(actual)
