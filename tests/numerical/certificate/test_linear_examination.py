"""The work of a certificate is linear in the pieces of a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from moir.certificate import examination
from tests.unit.test_linear_work import calls

STEP = 60


def write_chain(path: Path, count: int) -> Path:
    """A model of pieces that all differ: sums with vectors that have other values each time."""
    nodes = [helper.make_node("Add" if index % 2 else "Mul", [f"x{index}", f"w{index}"], [f"x{index + 1}"]) for index in range(count)]
    weights = [numpy_helper.from_array(np.array([1 + index / count, 0.5], np.float32), f"w{index}") for index in range(count)]
    first, last = ([helper.make_tensor_value_info(f"x{index}", TensorProto.FLOAT, [3, 2])] for index in (0, count))
    graph = helper.make_graph(nodes, "chain", first, last, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_a_piece_more_costs_what_one_before_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    # With fewer pieces at once than any of the models has, every model has several batches.
    monkeypatch.setattr(examination, "BATCH", STEP // 4)
    for size in (STEP, STEP, 2 * STEP, 4 * STEP):
        model = write_chain(tmp_path / "chain.onnx", size)
        moir.save_model(moir.convert_model(model), tmp_path / "chain.xml")
        counts.append(calls(lambda model=model: moir.certify(model, tmp_path / "chain.xml")))
    few, many = counts[2] - counts[1], counts[3] - counts[2]
    assert many < 2.3 * few, f"{STEP} pieces more take {few} calls, {2 * STEP} more {many}"
