"""Dropout in inference and in training mode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.runtime import run

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("opset", [7, 10, 12, 13, 22])
def test_dropout_is_its_operand(opset: int) -> None:
    check([node("Relu", ["x"], ["r"]), node("Dropout", ["r"], ["y"])], {"x": X}, opset=opset, expected=[np.maximum(X, 0)])


@pytest.mark.parametrize(("opset", "kind"), [(7, np.float32), (10, np.bool_), (13, np.bool_)])
def test_the_mask_keeps_everything(opset: int, kind: type) -> None:
    check([node("Dropout", ["x"], ["y", "mask"])], {"x": X}, opset=opset, expected=[X, np.ones((2, 3), kind)], outputs=["y", "mask"])


def test_training_of_an_old_version_is_refused() -> None:
    with pytest.raises(ConversionError, match=r"onnx\.Dropout.*training mode"):
        check([node("Dropout", ["x"], ["y"], is_test=0)], {"x": X}, opset=6, expected=[X])


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("ratio", [0.0, 0.25])
def test_training_drops_a_part(tmp_path: Path, training: bool, ratio: float) -> None:
    """What is kept is divided by its part; the training mode may be an input."""
    x = np.linspace(1, 2, 4000, dtype=np.float32)
    inputs = {"x": x, "training": np.array(training)}
    nodes = [node("Dropout", ["x", "ratio", "training"], ["y", "mask"], seed=3)]
    model = build(nodes, inputs, constants={"ratio": np.array(ratio, np.float32)}, opset=13, outputs=["y", "mask"])
    result, mask = run(convert(model, tmp_path), inputs)
    dropped = ratio if training else 0.0
    assert abs(1 - mask.mean() - dropped) < 0.03
    np.testing.assert_allclose(result, np.where(mask, x / (1 - dropped), 0), rtol=1e-5)
