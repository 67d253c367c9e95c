"""Codes are taken apart when they are written, not by the passes before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.dialects.memory_map import Array
from moir.frontends.gguf import blocks_of_256
from tests.unit.frontends.gguf.test_blocks import BY_NAME, random_rows
from tests.unit.frontends.gguf.written_files import Stored, metadata, write_file

WIDTH = 1024


def test_passes_look_at_few_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = BY_NAME["Q4_K"]
    shapes = {
        "token_embd": (256, WIDTH), "blk.0.attn_q": (WIDTH, WIDTH), "blk.0.attn_k": (512, WIDTH), "blk.0.attn_v": (512, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH), "blk.0.ffn_gate": (WIDTH, WIDTH), "blk.0.ffn_up": (WIDTH, WIDTH),
        "blk.0.ffn_down": (WIDTH, WIDTH),
    }  # fmt: skip
    rows = random_rows("Q4_K", WIDTH, WIDTH // kind.count)
    tensors: dict[str, Stored] = {
        f"{name}.weight": (12, shape, np.roll(rows, index, 0)[: shape[0]].tobytes()) for index, (name, shape) in enumerate(shapes.items())
    }
    tensors |= {f"{name}.weight": np.ones(WIDTH, np.float32) for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm")}
    write_file(tmp_path / "m.gguf", metadata(keys={"embedding_length": WIDTH, "feed_forward_length": WIDTH}), tensors)
    seen: list[int] = []
    half_at = blocks_of_256.half_at

    def counted(blocks: Array, place: int) -> Array:
        seen.append(blocks[..., 0].size)
        return half_at(blocks, place)

    monkeypatch.setattr(blocks_of_256, "half_at", counted)
    module = moir.convert_model(tmp_path / "m.gguf")
    count = sum(rows * WIDTH // kind.count for rows, _ in shapes.values())
    assert sum(seen) < count / 4
    moir.save_model(module, tmp_path / "m.xml")
    assert sum(seen) > 2 * count
