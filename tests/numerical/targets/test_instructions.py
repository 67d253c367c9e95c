"""The faults that the CPU plugin has with a limit of the instruction set, which a process sets before it loads the plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset12
from openvino import opset13 as ops

import moir

X = np.random.default_rng(0).standard_normal((3, 4, 7, 7)).astype(np.float32)
RUN = """
import sys, numpy, openvino
core = openvino.Core()
compiled = core.compile_model(sys.argv[1], "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
numpy.savez(sys.argv[3], *compiled(numpy.load(sys.argv[2])).values())
"""


def maxima(x: Any) -> Any:
    """The maximum of each window of two rows and columns, without its sign."""
    return ops.abs(ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0))


def averages(x: Any) -> Any:
    """Averages of windows of two rows and columns, with zeros around the images, then their squares."""
    pooled = ops.avg_pool(x, [2, 2], [1, 1], [1, 1], [2, 2], False)
    return ops.multiply(pooled, pooled)


def limited(path: Path, folder: Path, x: Any = X) -> list[Any]:
    """The results of an IR in a process that is limited to AVX2."""
    np.save(folder / "x.npy", x)
    arguments = [sys.executable, "-c", RUN, str(path), str(folder / "x.npy"), str(folder / "results.npz")]
    subprocess.run(arguments, check=True, env=os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX2"})
    return list(np.load(folder / "results.npz").values())


@pytest.mark.parametrize("axis", [1, -3])
@pytest.mark.parametrize("pooled", [maxima, averages], ids=["maxima", "averages"])
def test_largest_of_pooled_channels(pooled: Any, axis: int, tmp_path: Path) -> None:
    x = ops.parameter(X.shape, np.float32)
    data = pooled(x)
    largest: Any = ops.topk(data, ops.constant(np.int64(3)), axis, "max", "value", "i64", True)
    results: Any = [ops.result(each) for each in (data, *largest.outputs())]
    openvino.save_model(openvino.Model(results, [x]), tmp_path / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(tmp_path / "given.xml"), tmp_path / "converted.xml")
    known, values, places = limited(tmp_path / "converted.xml", tmp_path)
    order = np.argsort(-known, axis=1, kind="stable")[:, :3]
    assert np.array_equal(places, order)
    assert np.array_equal(values, np.take_along_axis(known, order, 1))


@pytest.mark.parametrize("shape", [(2, 5), (2, 3, 8), (1, 8, 8), (2, 3, 5, 7), (1, 2, 2, 2, 3)], ids=lambda shape: f"rank {len(shape)}")
@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("is_known", [True, False], ids=["static", "dynamic"])
def test_normalized_partial_vectors(shape: tuple[int, ...], first: int, is_known: bool, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    axes = tuple(range(min(first, len(shape) - 1), len(shape)))
    x = ops.parameter(list(shape) if is_known else [-1] * len(shape), np.float32)
    results: Any = [ops.result(ops.mvn(x, np.array(axes), True, 1e-3, "INSIDE_SQRT"))]
    openvino.save_model(openvino.Model(results, [x]), tmp_path / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(tmp_path / "given.xml"), tmp_path / "converted.xml")
    (actual,) = limited(tmp_path / "converted.xml", tmp_path, data)
    wanted = (data - data.mean(axes, keepdims=True)) / np.sqrt(data.var(axes, keepdims=True) + 1e-3)
    assert actual.shape == shape
    assert np.allclose(actual, wanted, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 4, 7), (1, 4, 3, 8), (2, 4, 4, 4)], ids=str)
@pytest.mark.parametrize("is_known", [True, False], ids=["static", "dynamic"])
def test_normalized_groups_of_partial_vectors(shape: tuple[int, ...], is_known: bool, tmp_path: Path, monkeypatch: Any) -> None:
    """Beside a FakeQuantize, with which the plugin does not generate code for the operation."""
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x = ops.parameter(list(shape) if is_known else [-1, 4, *[-1] * (len(shape) - 2)], np.float32)
    groups = opset12.group_normalization(x, np.ones(4, np.float32), np.zeros(4, np.float32), 2, 1e-3)
    quantized = ops.fake_quantize(x, np.float32(-4), np.float32(4), np.float32(-4), np.float32(4), 256)
    results: Any = [ops.result(groups), ops.result(quantized)]
    openvino.save_model(openvino.Model(results, [x]), tmp_path / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(tmp_path / "given.xml"), tmp_path / "converted.xml")
    actual, _ = limited(tmp_path / "converted.xml", tmp_path, data)
    rows = data.reshape(shape[0], 2, -1)
    wanted = ((rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-3)).reshape(shape)
    assert np.allclose(actual, wanted, atol=1e-5)
