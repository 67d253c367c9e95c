"""What the page of two models says of their differences."""

from __future__ import annotations

from typing import Any

import pytest

from moir.report_page.difference import content_of_difference


def model(operations: str, result: str) -> str:
    return f"""
  %x = opset1.Parameter() {{name = "x"}} : tensor<4xf32>
{operations}
  opset1.Result({result}) {{name = "y"}}
"""


RELU = model('  %y = opset1.Relu(%x) {name = "a"} : tensor<4xf32>', "%y")
SUM = model(
    """
  %c = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "c"} : tensor<f32>
  %s = opset1.Add(%x, %c) {name = "s"} : tensor<4xf32>
  %y = opset1.Relu(%s) {name = "a"} : tensor<4xf32>""",
    "%y",
)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (RELU, RELU, "The models do not differ."),
        (SUM, RELU, "1 operation only in the first, 1 operation changed"),
        (RELU, SUM, "1 operation only in the second, 1 operation changed"),
    ],
)
def test_constants_of_one_model_are_not_counted(parse: Any, first: str, second: str, expected: str) -> None:
    assert content_of_difference(parse(first), parse(second), ("first", "second"))["summary"] == expected
