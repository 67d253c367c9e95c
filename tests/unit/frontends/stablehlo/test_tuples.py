"""Tuples, which an IR does not have: their elements are values of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.dialects.moir import models_of
from moir.errors import ModelFileError
from tests.numerical.runtime import core


def kinds_of(body: str, folder: Path, result: str = "tensor<2xf32>") -> list[str]:
    """The operations of the IR of a function of two arguments."""
    (folder / "a.mlir").write_text(f"module {{ func.func @main(%a: tensor<2xf32>, %b: tensor<2xi32>) -> {result} {{\n{body}\n  }} }}\n")
    (model,) = models_of(moir.convert_model(folder / "a.mlir"))
    return [each.name.partition(".")[2] for each in model.body.block.ops]


def test_elements_of_tuples(tmp_path: Path) -> None:
    pair = "tuple<tensor<2xf32>, tensor<2xi32>>"
    body = f"""
    %0 = stablehlo.tuple %a, %b : {pair}
    %1 = stablehlo.tuple %0, %a : tuple<{pair}, tensor<2xf32>>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<{pair}, tensor<2xf32>>) -> {pair}
    %3 = "stablehlo.get_tuple_element"(%2) <{{index = 0 : i32}}> : ({pair}) -> tensor<2xf32>
    %4 = stablehlo.negate %3 : tensor<2xf32>
    return %4 : tensor<2xf32>"""
    assert kinds_of(body, tmp_path) == ["Parameter", "Parameter", "Negative", "Result"]


def test_a_returned_tuple(tmp_path: Path) -> None:
    """The elements of a tuple that a program returns are results of the model."""
    body = """
    %0 = stablehlo.tuple %b, %a : tuple<tensor<2xi32>, tensor<2xf32>>
    return %0, %a : tuple<tensor<2xi32>, tensor<2xf32>>, tensor<2xf32>"""
    assert kinds_of(body, tmp_path, "(tuple<tensor<2xi32>, tensor<2xf32>>, tensor<2xf32>)").count("Result") == 3


PAIR = "tuple<tensor<2xf32>, tuple<tensor<2xi32>>>"


def test_tuples_of_functions_and_loops(tmp_path: Path) -> None:
    """A model of a tuple that calls a function of a tuple, with a loop and a branch whose states are tuples."""
    text = f"""
module {{
  func.func private @next(%p: {PAIR}) -> {PAIR} {{
    %x = stablehlo.get_tuple_element %p[0] : ({PAIR}) -> tensor<2xf32>
    %q = stablehlo.get_tuple_element %p[1] : ({PAIR}) -> tuple<tensor<2xi32>>
    %n = stablehlo.get_tuple_element %q[0] : (tuple<tensor<2xi32>>) -> tensor<2xi32>
    %y = stablehlo.add %x, %x : tensor<2xf32>
    %m = stablehlo.subtract %n, %n : tensor<2xi32>
    %r = stablehlo.tuple %m : tuple<tensor<2xi32>>
    %s = stablehlo.tuple %y, %r : {PAIR}
    return %s : {PAIR}
  }}
  func.func @main(%p: {PAIR}, %c: tensor<i1>, %k: tensor<i32>) -> {PAIR} {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %l:2 = "stablehlo.while"(%p, %k) ({{
    ^bb0(%a: {PAIR}, %i: tensor<i32>):
      %go = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    }}, {{
    ^bb0(%a: {PAIR}, %i: tensor<i32>):
      %b = func.call @next(%a) : ({PAIR}) -> {PAIR}
      %j = stablehlo.subtract %i, %one : tensor<i32>
      stablehlo.return %b, %j : {PAIR}, tensor<i32>
    }}) : ({PAIR}, tensor<i32>) -> ({PAIR}, tensor<i32>)
    %0 = "stablehlo.if"(%c) ({{
      %b = func.call @next(%l#0) : ({PAIR}) -> {PAIR}
      stablehlo.return %b : {PAIR}
    }}, {{
      stablehlo.return %l#0 : {PAIR}
    }}) : (tensor<i1>) -> {PAIR}
    return %0 : {PAIR}
  }}
}}
"""
    (tmp_path / "a.mlir").write_text(text)
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(tmp_path / "a.mlir")), "CPU")
    operands = [np.array([1, -2], np.float32), np.array([3, 4], np.int32), np.array(True), np.array(3, np.int32)]
    actual = [*compiled(operands).values()]
    np.testing.assert_array_equal(actual[0], [16, -32])
    np.testing.assert_array_equal(actual[1], [0, 0])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "%0 = stablehlo.tuple %a : tuple<tensor<2xf32>>\n"
            "    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>>) -> tensor<2xf32>",
            "there is no element 1 of a tuple of 1",
        ),
        (
            "%1 = stablehlo.get_tuple_element %a[0] : (tensor<2xf32>) -> tensor<2xf32>",
            "its operand is not a tuple",
        ),
        (
            "%0 = stablehlo.tuple %a, %a : tuple<tensor<2xf32>, tensor<2xf32>>\n    %1 = stablehlo.negate %0 : tensor<2xf32>",
            "it has 2 operands instead of 1",
        ),
    ],
)
def test_what_is_no_tuple(body: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=reason):
        kinds_of(f"    {body}\n    return %1 : tensor<2xf32>", tmp_path)
