"""Other names of rotary embeddings denote the same ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import moir
from tests.unit.language_models.folders import weights, write_folder

SCALING = {"alpha": 50.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0}


def test_sections_of_hunyuan(tmp_path: Path) -> None:
    """As the original of HunYuan's models for images writes them, and as Transformers does."""
    tensors = weights()
    for each in ("query", "key"):
        tensors[f"model.layers.0.self_attn.{each}_layernorm.weight"] = np.ones(4, np.float32)
    spellings = (
        {"rope_scaling": {"type": "xdrope", "xdrope_section": [1, 1], **SCALING}},
        {"rope_parameters": {"rope_type": "dynamic", "mrope_section": [1, 1], "rope_theta": 10000.0, **SCALING}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
    )
    original, present, plain = (
        str(moir.convert_model(write_folder(tmp_path / str(number) / "m", tensors, model_type="hunyuan_vl_text", **keys)))
        for number, keys in enumerate(spellings)
    )
    assert original == present != plain
