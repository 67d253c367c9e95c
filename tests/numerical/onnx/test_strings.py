"""Strings of ONNX, by their bytes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node


def test_strings_are_concatenated() -> None:
    a, b = np.array([["a", "bc"], ["", "größe"]], object), np.array(["x", ""], object)
    check([node("StringConcat", ["a", "b"], ["y"])], {"a": a, "b": b}, expected=[a + b], forms=["static", "dynamic"])


@pytest.mark.parametrize("attributes", [{}, {"delimiter": ","}, {"delimiter": ", "}, {"delimiter": ",", "maxsplit": 1}])
def test_strings_are_split(attributes):
    x = np.array([["a,b, c", "größe , x"], ["", ",,"]], object)
    nodes = [node("StringSplit", ["x"], ["y", "n"], **attributes)]
    check(nodes, {"x": x}, reference="onnx", forms=["static", "dynamic"])
