"""The matrices of experts in one tensor, in families whose files usually have one for each expert, and the reverse."""

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

COUNT, ROWS, COLUMNS = 2, 3, 4

BOTH = np.arange(COUNT * 2 * ROWS * COLUMNS, dtype=np.float32).reshape(COUNT, 2 * ROWS, COLUMNS)

DOWN = np.arange(COUNT * COLUMNS * ROWS, dtype=np.float32).reshape(COUNT, COLUMNS, ROWS)

PREFIX = "model.layers.0.mlp.experts"


def checkpoint(folder: Path, model_type: str, tensors: dict[str, Array]) -> FolderCheckpoint:
    """The weights of a folder of a family."""
    family = family_of(model_type)
    assert family is not None
    return FolderCheckpoint(write_folder(folder / "m", tensors), family, Keys({}, "config.json"))


@pytest.mark.parametrize("ending", ["", ".weight"])
@pytest.mark.parametrize("model_type", ["qwen3_moe", "deepseek_v3", "flex_olmo", "glm4_moe"])
def test_one_tensor_for_all_experts(tmp_path: Path, model_type: str, ending: str) -> None:
    names = {f"{PREFIX}.gate_up_proj{ending}": BOTH, f"{PREFIX}.down_proj{ending}": DOWN}
    weights = checkpoint(tmp_path, model_type, names)
    for part, shape, expected in (
        ("gate", (COUNT, ROWS, COLUMNS), BOTH[:, :ROWS]),
        ("up", (COUNT, ROWS, COLUMNS), BOTH[:, ROWS:]),
        ("down", (COUNT, COLUMNS, ROWS), DOWN),
    ):
        np.testing.assert_array_equal(values(weights.weight(f"layers.0.experts.{part}.weight", shape)), expected)
    weights.check_all_read()


def test_columns_of_gate_before_those_of_up(tmp_path: Path) -> None:
    prefix = PREFIX.replace("mlp", "feed_forward")
    weights = checkpoint(tmp_path, "llama4_text", {f"{prefix}.gate_up_proj": BOTH.transpose(0, 2, 1).copy()})
    for part, expected in (("gate", BOTH[:, :ROWS]), ("up", BOTH[:, ROWS:])):
        np.testing.assert_array_equal(values(weights.weight(f"layers.0.experts.{part}.weight", (COUNT, ROWS, COLUMNS))), expected)


def test_rows_of_all_experts_in_one_matrix(tmp_path: Path) -> None:
    prefix = "transformer.blocks.0.ffn.experts.mlp"
    gate, up, down = BOTH[:, :ROWS], BOTH[:, ROWS:], DOWN.transpose(0, 2, 1)
    tensors = {"w1": gate.reshape(-1, COLUMNS), "v1": up.reshape(-1, COLUMNS), "w2": down.reshape(-1, COLUMNS)}
    weights = checkpoint(tmp_path, "dbrx", {f"{prefix}.{name}": value.copy() for name, value in tensors.items()})
    for part, expected in (("gate", gate), ("up", up), ("down", DOWN)):
        np.testing.assert_array_equal(values(weights.weight(f"layers.0.experts.{part}.weight", expected.shape)), expected)
    weights.check_all_read()


def test_a_flat_tensor_of_another_shape(tmp_path: Path) -> None:
    name = "transformer.blocks.0.ffn.experts.mlp.w1"
    weights = checkpoint(tmp_path, "dbrx", {name: np.ones((COUNT * ROWS + 1, COLUMNS), np.float32)})
    with pytest.raises(ModelFileError, match=r"mlp.w1' is \[7, 4\] instead of \[6, 4\]"):
        weights.weight("layers.0.experts.gate.weight", (COUNT, ROWS, COLUMNS))


def test_a_packed_tensor_of_another_shape(tmp_path: Path) -> None:
    weights = checkpoint(tmp_path, "qwen3_moe", {f"{PREFIX}.gate_up_proj": BOTH[:, 1:].copy()})
    with pytest.raises(ModelFileError, match=r"gate_up_proj' is \[2, 5, 4\] instead of \[2, 6, 4\]"):
        weights.weight("layers.0.experts.gate.weight", (COUNT, ROWS, COLUMNS))
