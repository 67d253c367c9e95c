"""Operations that no exported program of the fixtures has, as texts; numpy says what they compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ModelFileError
from tests.numerical.runtime import core

X = np.random.default_rng(3).normal(size=(2, 5)).astype(np.float32)


def converted(body: str, folder: Path, arguments: str, result: str) -> Any:
    """The module of a function whose operations are given."""
    path = folder / "model.mlir"
    path.write_text(f"module {{\n  func.func @main({arguments}) -> {result} {{\n{body}\n  }}\n}}\n")
    return moir.convert_model(path)


def computed(body: str, folder: Path, inputs: list[Any], arguments: str, result: str) -> Any:
    """What the runtime computes."""
    compiled = core().compile_model(moir.to_openvino(converted(body, folder, arguments, result)), "CPU")
    return compiled(inputs)[0]


def test_reduction_by_any_function(tmp_path: Path) -> None:
    """An exclusive or of the elements of each row."""
    body = """
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.reduce(%a init: %c) applies stablehlo.xor across dimensions = [1] : (tensor<2x5xi32>, tensor<i32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>"""
    data = np.arange(10, dtype=np.int32).reshape(2, 5)
    found = computed(body, tmp_path, [data], "%a: tensor<2x5xi32>", "tensor<2xi32>")
    np.testing.assert_array_equal(found, np.bitwise_xor.reduce(data, axis=1) ^ 3)


def test_select_and_scatter(tmp_path: Path) -> None:
    """The gradient of a pooling: each number goes to the place of the largest one of its window."""
    body = """
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x5xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
    return %0 : tensor<2x5xf32>"""
    source = np.array([[1, 2], [3, 4]], np.float32)
    wanted = np.zeros_like(X)
    for row in range(2):
        for window in range(2):
            wanted[row, 2 * window + int(np.argmax(X[row, 2 * window : 2 * window + 2]))] += source[row, window]
    found = computed(body, tmp_path, [X, source], "%x: tensor<2x5xf32>, %s: tensor<2x2xf32>", "tensor<2x5xf32>")
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("exponent", "mantissa", "wanted"), [(4, 3, [1.0, np.inf, 0.0]), (8, 7, [1.0078125, 998244352.0, 9.968062e-10])])
def test_reduced_precision(exponent: int, mantissa: int, wanted: list[float], tmp_path: Path) -> None:
    """Numbers beyond the exponents of a format are infinite or 0."""
    body = f"""
    %0 = stablehlo.reduce_precision %x, format = e{exponent}m{mantissa} : tensor<3xf32>
    return %0 : tensor<3xf32>"""
    found = computed(body, tmp_path, [np.array([1.01, 1e9, 1e-9], np.float32)], "%x: tensor<3xf32>", "tensor<3xf32>")
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_mean_and_a_variance_of_sums_are_a_normalization(tmp_path: Path) -> None:
    """The layer normalization of Flax: the mean of the squares less the square of the mean, all of sums."""
    line, row, full = "tensor<2xf32>", "tensor<2x1xf32>", "tensor<2x5xf32>"
    body = f"""
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %five = stablehlo.constant dense<5.0> : tensor<f32>
    %n = stablehlo.broadcast_in_dim %five, dims = [] : (tensor<f32>) -> {line}
    %small = stablehlo.constant dense<1.0e-3> : tensor<f32>
    %e = stablehlo.broadcast_in_dim %small, dims = [] : (tensor<f32>) -> {row}
    %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : ({full}, tensor<f32>) -> {line}
    %m = stablehlo.divide %s, %n : {line}
    %q = stablehlo.multiply %x, %x : {full}
    %t = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [1] : ({full}, tensor<f32>) -> {line}
    %u = stablehlo.divide %t, %n : {line}
    %p = stablehlo.multiply %m, %m : {line}
    %v = stablehlo.subtract %u, %p : {line}
    %w = stablehlo.broadcast_in_dim %v, dims = [0] : ({line}) -> {row}
    %a = stablehlo.add %w, %e : {row}
    %r = stablehlo.rsqrt %a : {row}
    %k = stablehlo.broadcast_in_dim %r, dims = [0, 1] : ({row}) -> {full}
    %b = stablehlo.broadcast_in_dim %m, dims = [0] : ({line}) -> {full}
    %c = stablehlo.subtract %x, %b : {full}
    %y = stablehlo.multiply %c, %k : {full}
    return %y : {full}"""
    text = str(converted(body, tmp_path, f"%x: {full}", full))
    assert "opset6.MVN" in text
    assert "Reduce" not in text
    found = computed(body, tmp_path, [X], f"%x: {full}", full)
    wanted = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


WRONG = {
    "broadcast_dimensions": "%0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2x5xf32>) -> tensor<2x5xf32>",
    "permutation": "%0 = stablehlo.transpose %x, dims = [1] : (tensor<2x5xf32>) -> tensor<2x5xf32>",
    "dimensions": "%0 = stablehlo.reverse %x, dims = [0, 3] : tensor<2x5xf32>",
}


@pytest.mark.parametrize("name", WRONG)
def test_lists_that_are_not_of_their_operand(name: str, tmp_path: Path) -> None:
    """A list with another number of entries than the operand has axes is refused where the file is read."""
    with pytest.raises(ModelFileError, match=name):
        converted(f"    {WRONG[name]}\n    return %0 : tensor<2x5xf32>", tmp_path, "%x: tensor<2x5xf32>", "tensor<2x5xf32>")
