"""Scans of CHLO: states that are updated by each slice of an input, with outputs of each step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.runtime import core

TYPES = "(tensor<2x4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)"
FORMS = {
    "custom": """%0:2 = chlo.scan(%x) inits(%s) dimension=1 {
    ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>): BODY
    } : TYPES""",
    "generic": """%0:2 = "chlo.scan"(%x, %s) <{dimension = 1 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>,
      resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>): BODY
    }) : TYPES""",
}
BODY = """
      %1 = stablehlo.multiply %b, %k : tensor<2xf32>
      %2 = stablehlo.add %a, %1 : tensor<2xf32>
      stablehlo.return %b, %2 : tensor<2xf32>, tensor<2xf32>"""


def converted(form: str, folder: Path, body: str = BODY) -> moir.ModuleOp:
    operation = FORMS[form].replace("BODY", body).replace("TYPES", TYPES)
    (folder / "a.mlir").write_text(
        "module { func.func @main(%x: tensor<2x4xf32>, %s: tensor<2xf32>, %k: tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) {\n"
        f"    {operation}\n    return %0#0, %0#1 : tensor<2x4xf32>, tensor<2xf32>\n  }} }}\n"
    )
    return moir.convert_model(folder / "a.mlir")


@pytest.mark.parametrize("form", FORMS)
def test_scan(form: str, tmp_path: Path) -> None:
    """A state before each step, a value from around the body, and a scan from the end."""
    x, s, k = np.arange(8, dtype=np.float32).reshape(2, 4), np.array([1, -1], np.float32), np.array([2, 0.5], np.float32)
    actual = core().compile_model(moir.to_openvino(converted(form, tmp_path)), "CPU")([x, s, k])
    state, outputs = s, np.empty_like(x)
    for index in range(4) if form == "custom" else (3, 2, 1, 0):
        outputs[:, index] = state
        state = x[:, index] + state * k
    np.testing.assert_allclose(actual[0], outputs)
    np.testing.assert_allclose(actual[1], state)


def test_a_body_of_other_results(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="its body returns 1 values for 1 states and 1 outputs"):
        converted("custom", tmp_path, "\n      stablehlo.return %b : tensor<2xf32>")
