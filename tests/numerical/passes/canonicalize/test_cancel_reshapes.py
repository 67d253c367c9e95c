"""`cancel-reshapes`: what is on both sides of Reshapes that cancel each other can cancel, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset13 as ops

import moir
from tests.numerical.runtime import core

COSINES, SINES = np.random.default_rng(0).standard_normal((2, 1, 1, 2, 4)).astype(np.float32)
ORDER = np.array([0, 2, 1, 3])


def rotated(x: Any) -> Any:
    """A rotary embedding of x."""
    halves = ops.variadic_split(x, ops.constant(np.int64(3)), np.array([2, -1]))
    turned = ops.concat([ops.negative(halves.output(1)), halves.output(0)], -1)
    return ops.add(ops.multiply(x, ops.constant(COSINES)), ops.multiply(turned, ops.constant(SINES)))


def rotate(x: Any) -> Any:
    """What `rotated` computes, of an array."""
    return x * COSINES + np.concatenate([-x[..., 2:], x[..., :2]], -1) * SINES


@pytest.mark.parametrize("batch", [1, -1])
def test_embeddings_between_reshapes(batch: int, tmp_path: Path) -> None:
    """The plugin loses one of two Transposes between rotary embeddings, if something else reads the first one."""
    x = ops.parameter([batch, 2, 16], np.float32)
    heads = ops.reshape(x, np.array([1, 2, 4, 4]), False)
    rows = ops.reshape(ops.transpose(rotated(ops.transpose(heads, ORDER)), ORDER), np.array([1, 2, 16]), False)
    again = rotated(ops.transpose(ops.reshape(rows, np.array([1, 2, 4, 4]), False), ORDER))
    results: Any = [ops.result(ops.sigmoid(rows)), ops.result(again)]
    openvino.save_model(openvino.Model(results, [x]), tmp_path / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(tmp_path / "given.xml"), tmp_path / "m.xml")
    data = np.random.default_rng(1).standard_normal((1, 2, 16)).astype(np.float32)
    actual = list(core().compile_model(tmp_path / "m.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([data]).values())[1]
    wanted = rotate(rotate(data.reshape(1, 2, 4, 4).transpose(ORDER)))
    assert actual.shape == wanted.shape
    assert np.allclose(actual, wanted, atol=1e-5)
