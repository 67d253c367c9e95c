"""Tensors that some files have by other names, in several pieces, or once for several layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from moir.architectures.families import family_of
from moir.errors import ModelFileError
from moir.frontends.huggingface.checkpoint import FolderCheckpoint
from moir.frontends.huggingface.keys import Keys
from tests.unit.frontends.stored_values import values
from tests.unit.language_models.folders import Array, write_folder

PIECES = {
    f"model.layers.0.linear_attn.{part}_conv1d.weight": np.full((rows, 1, 4), rows, np.float32)
    for part, rows in zip("qkv", (2, 2, 3), strict=True)
}


def checkpoint(folder: Path, model_type: str, tensors: dict[str, Array], **keys: object) -> FolderCheckpoint:
    """The weights of a folder of a family."""
    family = family_of(model_type)
    assert family is not None
    return FolderCheckpoint(write_folder(folder / "m", tensors), family, Keys(keys, "config.json"))


def test_the_rows_of_several_tensors(tmp_path: Path) -> None:
    """OLMo Hybrid: the kernels of queries, keys and values are one convolution."""
    weights = checkpoint(tmp_path, "olmo_hybrid", PIECES)
    kernel = values(weights.weight("layers.0.convolution.kernel.weight", (7, 4)))
    np.testing.assert_array_equal(kernel[:, 0], [2, 2, 2, 2, 3, 3, 3])
    weights.check_all_read()


def test_a_piece_that_is_missing(tmp_path: Path) -> None:
    weights = checkpoint(tmp_path, "olmo_hybrid", dict(list(PIECES.items())[:2]))
    with pytest.raises(ModelFileError, match=r"cannot be joined to 'model.layers.0.linear_attn.conv1d.weight' of the shape \[7, 4\]"):
        weights.weight("layers.0.convolution.kernel.weight", (7, 4))


def test_the_first_name_that_the_file_has(tmp_path: Path) -> None:
    weights = checkpoint(tmp_path, "olmo_hybrid", {"model.layers.0.input_layernorm.weight": np.ones(3, np.float32)})
    assert weights.name("layers.0.attention_norm.weight") == "model.layers.0.input_layernorm.weight"
    assert weights.name("layers.1.attention_norm.weight") == "model.layers.1.attention_layer_norm.weight"


def test_layers_with_the_same_weights(tmp_path: Path) -> None:
    """ALBERT: the first half of the layers has the weights of the first group, the others those of the second."""
    weights = checkpoint(tmp_path, "albert", {}, num_hidden_groups=2, num_hidden_layers=4)
    groups = [weights.name(f"layers.{layer}.feed_forward.up.weight").split(".")[2] for layer in range(4)]
    assert groups == ["0", "0", "1", "1"]
