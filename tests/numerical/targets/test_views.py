"""The faults `views-of-moved-data` and `compressed-convolution-of-a-result`, which only models of several results show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset13 as ops

import moir
from tests.numerical.runtime import core

X = np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4) - 20
POSITIVE = np.maximum(X, 0)


def convolved(x: Any) -> Any:
    """The sums of the channels of x, which are last."""
    kernels = ops.constant(np.ones((1, 4, 1, 1), np.float32))
    return ops.convolution(ops.transpose(x, np.array([0, 3, 1, 2])), kernels, [1, 1], [0, 0], [0, 0], [1, 1])


def resized(x: Any) -> Any:
    """Twice the rows and columns of x."""
    return ops.interpolate(x, np.array([6, 8], np.int32), "nearest", "sizes", axes=np.array([1, 2]))


MOVED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "convolved": (convolved, POSITIVE.sum(-1)[:, None]),
    "resized": (resized, POSITIVE.repeat(2, 1).repeat(2, 2)),
}


def summed(x: Any, size: int) -> Any:
    """The sums of the rows of a matrix of a number of columns."""
    return ops.matmul(x, ops.constant(np.ones((size, 1), np.float32)), False, False)


VIEWS: dict[str, tuple[Callable[[Any], list[Any]], list[Any]]] = {
    "a result": (lambda x: [ops.reshape(x, np.array([4, 12]), False)], [POSITIVE.reshape(4, 12)]),
    "two": (
        lambda x: [summed(ops.reshape(x, np.array([12, 4]), False), 4), summed(ops.reshape(x, np.array([4, 12]), False), 12)],
        [POSITIVE.reshape(12, 4).sum(1, keepdims=True), POSITIVE.reshape(4, 12).sum(1, keepdims=True)],
    ),
}


@pytest.mark.parametrize("views", VIEWS)
@pytest.mark.parametrize("moved", MOVED)
def test_data_with_views_are_copied_before_they_are_moved(views: str, moved: str, tmp_path: Path) -> None:
    (view, seen), (move, wanted) = VIEWS[views], MOVED[moved]

    def is_right(model: openvino.Model | Path) -> bool:
        """Whether a model computes the views, and what else it should, of X."""
        actual = list(core().compile_model(model, "CPU")([X]).values())
        return all(np.array_equal(a, b) for a, b in zip(actual, [*seen, wanted], strict=True))

    x = ops.parameter(X.shape, np.float32, name="x")
    positive = ops.relu(x)
    model = openvino.Model([*view(positive), move(positive)], [x])
    openvino.save_model(model, tmp_path / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(tmp_path / "given.xml"), tmp_path / "m.xml")
    assert is_right(tmp_path / "m.xml")
    assert (tmp_path / "m.xml").read_text(encoding="utf-8").count('type="Maximum"') == 1


AFTER: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "transposed": (lambda y: ops.transpose(y, np.array([0, 2, 3, 1])), lambda y: y.transpose(0, 2, 3, 1)),
    "reshaped": (lambda y: ops.reshape(y, np.array([1, -1]), False), lambda y: y.reshape(1, -1)),
}


@pytest.mark.parametrize("flattened", [False, True])
@pytest.mark.parametrize("after", AFTER)
def test_compressed_convolution_of_a_result(after: str, flattened: bool, tmp_path: Path) -> None:
    move, moved = AFTER[after]
    units = np.eye(3, dtype=np.int8).reshape(3, 3, 1, 1)
    x = ops.parameter(X.shape, np.float32, name="x")
    images = ops.convolution(x, ops.constant(units.astype(np.float32)), [1, 1], [0, 0], [0, 0], [1, 1])
    last = ops.transpose(images, np.array([0, 2, 3, 1]))
    kernels = ops.multiply(ops.convert(ops.constant(2 * units), np.float32), ops.constant(np.float32(0.5)))
    same = ops.convolution(images, kernels, [1, 1], [0, 0], [0, 0], [1, 1])
    results: Any = [ops.result(ops.reshape(last, np.array([-1]), False) if flattened else last), ops.result(move(same))]
    openvino.save_model(openvino.Model(results, [x]), tmp_path / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(tmp_path / "given.xml"), tmp_path / "m.xml")
    seen, actual = core().compile_model(tmp_path / "m.xml", "CPU")([X]).values()
    assert np.array_equal(seen.reshape(-1), X.transpose(0, 2, 3, 1).reshape(-1))
    assert np.array_equal(actual, moved(X))
