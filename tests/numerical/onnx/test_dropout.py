"""Dropout in inference."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("opset", [7, 10, 12, 13, 22])
def test_dropout_is_its_operand(opset: int) -> None:
    check([node("Relu", ["x"], ["r"]), node("Dropout", ["r"], ["y"])], {"x": X}, opset=opset, expected=[np.maximum(X, 0)])


@pytest.mark.parametrize(("opset", "kind"), [(7, np.float32), (10, np.bool_), (13, np.bool_)])
def test_the_mask_keeps_everything(opset: int, kind: type) -> None:
    check([node("Dropout", ["x"], ["y", "mask"])], {"x": X}, opset=opset, expected=[X, np.ones((2, 3), kind)], outputs=["y", "mask"])


def test_training_is_refused() -> None:
    constants = {"ratio": np.array(0.5, np.float32), "training": np.array(True)}
    with pytest.raises(ConversionError, match=r"onnx\.Dropout.*training mode"):
        check([node("Dropout", ["x", "ratio", "training"], ["y"])], {"x": X}, constants=constants, opset=13, expected=[X])
