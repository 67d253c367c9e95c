"""Programs of StableHLO whose lists or regions do not fit their operands: each is refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import moir
from moir.errors import ConversionError

REDUCE = """%i = stablehlo.constant dense<0.0> : tensor<f32>
    %y = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({REGION}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"""

PROGRAMS = {
    "an axis that there is not": (
        '%y = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>',
        "permutation is [0, 2], which are not axes of a tensor of rank 2",
    ),
    "too few entries": (
        '%y = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1, 1>, strides = array<i64: 1, 1>}>'
        " : (tensor<2x3xf32>) -> tensor<1x1xf32>",
        "start_indices has 1 entries for an operand of rank 2",
    ),
    "a limit beyond the size": (
        '%y = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 4>, strides = array<i64: 1, 1>}>'
        " : (tensor<2x3xf32>) -> tensor<2x4xf32>",
        "limit_indices is 4 for a dimension of 3",
    ),
    "a stride of 0": (
        '%y = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 0, 1>}>'
        " : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "strides has a number below 1",
    ),
    "a constant of an unknown size": (
        "%y = stablehlo.constant dense<1.0> : tensor<?x3xf32>",
        "a constant has no static shape",
    ),
    "a list of a trillion numbers": (
        '%y = "stablehlo.pad"(%x, %x) <{padding = dense<1> : tensor<1000000x1000000xi64>}> : (tensor<2x3xf32>, tensor<2x3xf32>)'
        " -> tensor<2x3xf32>",
        "a list of the shape [1000000, 1000000] has elements of the shape []",
    ),
    "a function of one argument": (
        REDUCE.replace("REGION", "^bb0(%a: tensor<f32>): stablehlo.return %a : tensor<f32>"),
        "its region has 1 arguments, not 2",
    ),
    "a function that returns two values": (
        REDUCE.replace("REGION", "^bb0(%a: tensor<f32>, %b: tensor<f32>): stablehlo.return %a, %b : tensor<f32>, tensor<f32>"),
        "its region does not return 1 values",
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_what_does_not_fit_is_refused(tmp_path: Path, case: str) -> None:
    body, message = PROGRAMS[case]
    path = tmp_path / "program.mlir"
    path.write_text(
        f"func.func public @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{\n    {body}\n    return %y : tensor<2x3xf32>\n}}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConversionError) as caught:
        moir.read_model(path)
    assert message in str(caught.value)
