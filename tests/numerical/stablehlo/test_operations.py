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
    actual = computed(body, tmp_path, [data], "%a: tensor<2x5xi32>", "tensor<2xi32>")
    np.testing.assert_array_equal(actual, np.bitwise_xor.reduce(data, axis=1) ^ 3)


@pytest.mark.parametrize("direction", ["LT", "GT", "LE", "GE", "EQ", "NE"])
def test_comparison_in_total_order(direction: str, tmp_path: Path) -> None:
    """-0 is less than 0, and NaN is the largest number."""
    body = f"""
    %0 = stablehlo.compare {direction}, %a, %b, TOTALORDER : (tensor<49xf32>, tensor<49xf32>) -> tensor<49xi1>
    return %0 : tensor<49xi1>"""
    numbers = np.array([-np.inf, -2, -0.0, 0.0, 3e-38, np.inf, np.nan], np.float32)
    places = np.arange(7)
    a, b, i, j = np.repeat(numbers, 7), np.tile(numbers, 7), np.repeat(places, 7), np.tile(places, 7)
    actual = computed(body, tmp_path, [a, b], "%a: tensor<49xf32>, %b: tensor<49xf32>", "tensor<49xi1>")
    name = {"LT": "less", "GT": "greater", "LE": "less_equal", "GE": "greater_equal", "EQ": "equal", "NE": "not_equal"}[direction]
    np.testing.assert_array_equal(actual, getattr(np, name)(i, j))


NEIGHBOURS = """
    %0 = chlo.next_after %a, %b : tensor<9xf32>, tensor<9xf32> -> tensor<9xf32>
    return %0 : tensor<9xf32>"""
"""The neighbour as an operation."""

NEIGHBOURS_OF_BITS = """
    %m = stablehlo.constant dense<-1> : tensor<9xi32>
    %p = stablehlo.constant dense<1> : tensor<9xi32>
    %s = stablehlo.constant dense<2147483647> : tensor<9xi32>
    %i = stablehlo.bitcast_convert %a : (tensor<9xf32>) -> tensor<9xi32>
    %j = stablehlo.bitcast_convert %b : (tensor<9xf32>) -> tensor<9xi32>
    %k = stablehlo.and %i, %s : tensor<9xi32>
    %l = stablehlo.and %j, %s : tensor<9xi32>
    %c = stablehlo.compare GT, %k, %l : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %n = stablehlo.add %i, %m : tensor<9xi32>
    %o = stablehlo.add %i, %p : tensor<9xi32>
    %q = stablehlo.select %c, %n, %o : tensor<9xi1>, tensor<9xi32>
    %e = stablehlo.compare EQ, %k, %l : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %r = stablehlo.select %e, %j, %q : tensor<9xi1>, tensor<9xi32>
    %0 = stablehlo.bitcast_convert %r : (tensor<9xi32>) -> tensor<9xf32>
    return %0 : tensor<9xf32>"""
"""The neighbour as JAX computes it from bits, for numbers of one sign."""


@pytest.mark.parametrize("body", [NEIGHBOURS, NEIGHBOURS_OF_BITS])
def test_neighbours(body: str, tmp_path: Path) -> None:
    """The neighbour of infinity is the largest number; each one is exact."""
    largest = np.finfo(np.float32).max
    a = np.array([np.inf, -np.inf, np.inf, 1, 1, 3e38, -7e-20, largest, -2], np.float32)
    b = np.array([0, -0.0, np.inf, 2, 0, np.inf, -1, np.inf, -2], np.float32)
    actual = computed(body, tmp_path, [a, b], "%a: tensor<9xf32>, %b: tensor<9xf32>", "tensor<9xf32>")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(actual, np.nextafter(a, b))


def test_operation_with_types_of_operands_and_results(tmp_path: Path) -> None:
    """chlo writes an arrow between the types, without brackets."""
    body = """
    %0 = chlo.square %a : tensor<2x5xf32> -> tensor<2x5xf32>
    return %0 : tensor<2x5xf32>"""
    actual = computed(body, tmp_path, [X], "%a: tensor<2x5xf32>", "tensor<2x5xf32>")
    np.testing.assert_allclose(actual, X * X, rtol=1e-6)


def test_derivative_of_the_logarithm_of_gamma(tmp_path: Path) -> None:
    """The differences of neighbours are 1 / x."""
    body = """
    %0 = chlo.digamma %a : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>"""
    x = np.array([0.3, 1, 2.5, 30], np.float32)
    first, second = (computed(body, tmp_path, [each], "%a: tensor<4xf32>", "tensor<4xf32>") for each in (x, x + 1))
    np.testing.assert_allclose(second - first, 1 / x, rtol=1e-4)
    np.testing.assert_allclose(first[1], -np.euler_gamma, rtol=1e-6)


def test_name_of_a_result_whose_shape_is_its_own(tmp_path: Path) -> None:
    """The shape of a Broadcast without elements is found when the model is converted."""
    body = """
    %t = stablehlo.constant dense<[2, 0, 1]> : tensor<3xi32>
    %n = stablehlo.get_dimension_size %a, dim = 2 : (tensor<2x0x?xf32>) -> tensor<i32>
    %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %s = stablehlo.concatenate %t, %m, dim = 0 : (tensor<3xi32>, tensor<1xi32>) -> tensor<4xi32>
    %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0, 1, 3] : (tensor<2x0x?xf32>, tensor<4xi32>) -> tensor<2x0x1x?xf32>
    return %0 : tensor<2x0x1x?xf32>"""
    module = converted(body, tmp_path, "%a: tensor<2x0x?xf32>", "tensor<2x0x1x?xf32>")
    assert all(each.names for each in moir.to_openvino(module).outputs)


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
    actual = computed(body, tmp_path, [X, source], "%x: tensor<2x5xf32>, %s: tensor<2x2xf32>", "tensor<2x5xf32>")
    np.testing.assert_array_equal(actual, wanted)


@pytest.mark.parametrize(("exponent", "mantissa", "wanted"), [(4, 3, [1.0, np.inf, 0.0]), (8, 7, [1.0078125, 998244352.0, 9.968062e-10])])
def test_reduced_precision(exponent: int, mantissa: int, wanted: list[float], tmp_path: Path) -> None:
    """Numbers beyond the exponents of a format are infinite or 0."""
    body = f"""
    %0 = stablehlo.reduce_precision %x, format = e{exponent}m{mantissa} : tensor<3xf32>
    return %0 : tensor<3xf32>"""
    actual = computed(body, tmp_path, [np.array([1.01, 1e9, 1e-9], np.float32)], "%x: tensor<3xf32>", "tensor<3xf32>")
    np.testing.assert_allclose(actual, wanted, rtol=1e-6)


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
    actual = computed(body, tmp_path, [X], f"%x: {full}", full)
    wanted = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-5)


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


def test_batch_normalization_by_its_own_statistics(tmp_path: Path) -> None:
    """The normalized numbers; the second test has the gradients."""
    body = """
    %0, %1, %2 = "stablehlo.batch_norm_training"(%x, %a, %b) <{epsilon = 0.5 : f32, feature_index = 1 : i64}>
      : (tensor<2x5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<2x5xf32>, tensor<5xf32>, tensor<5xf32>)
    %3 = stablehlo.reshape %1 : (tensor<5xf32>) -> tensor<1x5xf32>
    %4 = stablehlo.reshape %2 : (tensor<5xf32>) -> tensor<1x5xf32>
    %5 = stablehlo.concatenate %0, %3, %4, dim = 0 : (tensor<2x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<4x5xf32>
    return %5 : tensor<4x5xf32>"""
    scale, offset = np.arange(1, 6, dtype=np.float32), np.arange(5, dtype=np.float32)
    arguments = "%x: tensor<2x5xf32>, %a: tensor<5xf32>, %b: tensor<5xf32>"
    actual = computed(body, tmp_path, [X, scale, offset], arguments, "tensor<4x5xf32>")
    mean, variance = X.mean(0), X.var(0)
    wanted = np.concatenate([(X - mean) / np.sqrt(variance + 0.5) * scale + offset, mean[None], variance[None]])
    np.testing.assert_allclose(actual, wanted, atol=1e-5)


def test_gradients_of_batch_normalization(tmp_path: Path) -> None:
    """Those of x, of the scale and of the offset, by their definitions in the specification of StableHLO."""
    body = """
    %0, %1, %2 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 0.5 : f32, feature_index = 1 : i64}>
      : (tensor<2x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2x5xf32>)
      -> (tensor<2x5xf32>, tensor<5xf32>, tensor<5xf32>)
    %3 = stablehlo.reshape %1 : (tensor<5xf32>) -> tensor<1x5xf32>
    %4 = stablehlo.reshape %2 : (tensor<5xf32>) -> tensor<1x5xf32>
    %5 = stablehlo.concatenate %0, %3, %4, dim = 0 : (tensor<2x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<4x5xf32>
    return %5 : tensor<4x5xf32>"""
    scale, gradient = np.arange(1, 6, dtype=np.float32), X[::-1] + 1
    mean, variance = X.mean(0), X.var(0)
    arguments = "%x: tensor<2x5xf32>, %s: tensor<5xf32>, %m: tensor<5xf32>, %v: tensor<5xf32>, %g: tensor<2x5xf32>"
    actual = computed(body, tmp_path, [X, scale, mean, variance, np.ascontiguousarray(gradient)], arguments, "tensor<4x5xf32>")
    spread, centered, count = variance + 0.5, X - mean, len(X)
    first = count * gradient - gradient.sum(0)
    second = (gradient * centered).sum(0) * centered / spread
    of_x = scale / np.sqrt(spread) / count * (first - second)
    of_scale = (gradient * centered / np.sqrt(spread)).sum(0)
    wanted = np.concatenate([of_x, of_scale[None], gradient.sum(0)[None]])
    np.testing.assert_allclose(actual, wanted, atol=1e-4)


def test_sums_of_products_by_an_equation(tmp_path: Path) -> None:
    """`einsum` of two operands, and `unary_einsum` of its result."""
    body = """
    %0 = "stablehlo.einsum"(%x, %y) <{einsum_config = "ij,kj->ik"}> : (tensor<2x5xf32>, tensor<3x5xf32>) -> tensor<2x3xf32>
    %1 = "stablehlo.unary_einsum"(%0) <{einsum_config = "ik->k"}> : (tensor<2x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>"""
    y = np.arange(15, dtype=np.float32).reshape(3, 5)
    actual = computed(body, tmp_path, [X, y], "%x: tensor<2x5xf32>, %y: tensor<3x5xf32>", "tensor<3xf32>")
    np.testing.assert_allclose(actual, (X @ y.T).sum(0), rtol=1e-5)


def test_selected_indices(tmp_path: Path) -> None:
    """`torch_index_select` with the rows as batches."""
    body = """
    %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}>
      : (tensor<2x5xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>"""
    index = np.array([[0, 4, 4], [2, 1, 0]], np.int32)
    actual = computed(body, tmp_path, [X, index], "%x: tensor<2x5xf32>, %i: tensor<2x3xi32>", "tensor<2x3xf32>")
    np.testing.assert_array_equal(actual, np.take_along_axis(X, index, 1))


def test_convolution_with_computed_padding(tmp_path: Path) -> None:
    """`dynamic_conv`: one zero at the beginning, two at the end."""
    body = """
    %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{
      batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 1>,
      dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>
    }> : (tensor<1x2x5xf32>, tensor<1x2x3xf32>, tensor<1x2xi32>) -> tensor<1x1x?xf32>
    return %0 : tensor<1x1x?xf32>"""
    weights = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    padding = np.array([[1, 2]], np.int32)
    arguments = "%x: tensor<1x2x5xf32>, %w: tensor<1x2x3xf32>, %p: tensor<1x2xi32>"
    actual = computed(body, tmp_path, [X[None], weights, padding], arguments, "tensor<1x1x?xf32>")
    padded = np.pad(X, [(0, 0), (1, 2)])
    wanted = [(padded[:, at : at + 3] * weights[0]).sum() for at in range(6)]
    np.testing.assert_allclose(actual, np.array(wanted)[None, None], rtol=1e-5)


@pytest.mark.parametrize("kind", ["i8", "i32", "ui32"])
def test_upper_halves_of_products(kind: str, tmp_path: Path) -> None:
    """JAX writes the composite with a decomposition in integers of twice the bits."""
    dtype = np.dtype(kind.replace("i", "int"))
    limits, bits = np.iinfo(dtype), dtype.itemsize * 8
    a, b = (np.random.default_rng(seed).integers(limits.min, limits.max, 50, dtype, endpoint=True) for seed in (1, 2))
    body = f"""
    %0 = stablehlo.composite "chlo.mulhi" %a, %b {{decomposition = @upper, version = 1 : i32}}
      : (tensor<50x{kind}>, tensor<50x{kind}>) -> tensor<50x{kind}>
    return %0 : tensor<50x{kind}>
  }}
  func.func private @upper(%a: tensor<50x{kind}>, %b: tensor<50x{kind}>) -> tensor<50x{kind}> {{
    return %a : tensor<50x{kind}>"""
    actual = computed(body, tmp_path, [a, b], f"%a: tensor<50x{kind}>, %b: tensor<50x{kind}>", f"tensor<50x{kind}>")
    wanted = [int(x) * int(y) >> bits for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(actual, np.array(wanted, dtype))


def test_the_status_of_a_factorization(tmp_path: Path) -> None:
    """A matrix that is not positive definite has no Cholesky factor; JAX replaces what LAPACK wrote by NaN."""
    body = """
    %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>, tensor<3xi32>)
    return %0#1 : tensor<3xi32>"""
    matrices = np.array([[[2, 1], [1, 2]], [[-1, 0], [0, 1]], [[1, 2], [2, 1]]], np.float32)
    actual = computed(body, tmp_path, [matrices], "%a: tensor<3x2x2xf32>", "tensor<3xi32>")
    np.testing.assert_array_equal(actual != 0, [False, True, True])


def test_complex_indices(tmp_path: Path) -> None:
    body = """
    %0 = stablehlo.iota dim = 0 : tensor<5xcomplex<f32>>
    %1 = stablehlo.multiply %0, %a : tensor<5xcomplex<f32>>
    return %1 : tensor<5xcomplex<f32>>"""
    data = X.T.copy()
    actual = computed(body, tmp_path, [data], "%a: tensor<5xcomplex<f32>>", "tensor<5xcomplex<f32>>")
    np.testing.assert_allclose(actual, data * np.arange(5)[:, None], rtol=1e-6)


def test_running_products_of_complex_numbers(tmp_path: Path) -> None:
    """Both parts of a window are combined at once."""
    body = """
    %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
    %0 = "stablehlo.reduce_window"(%a, %one) <{window_dimensions = array<i64: 5>, padding = dense<[[4, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
      %p = stablehlo.multiply %x, %y : tensor<complex<f32>>
      stablehlo.return %p : tensor<complex<f32>>
    }) : (tensor<5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
    return %0 : tensor<5xcomplex<f32>>"""
    data = X.T.copy()
    actual = computed(body, tmp_path, [data], "%a: tensor<5xcomplex<f32>>", "tensor<5xcomplex<f32>>")
    np.testing.assert_allclose(actual[:, 0] + 1j * actual[:, 1], np.cumprod(data[:, 0] + 1j * data[:, 1]), rtol=1e-5)


def test_largest_elements_of_windows_with_their_indices(tmp_path: Path) -> None:
    body = """
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = "stablehlo.reduce_window"(%a, %i, %low, %none) <{window_dimensions = array<i64: 1, 3>}> ({
    ^bb0(%x: tensor<f32>, %m: tensor<i32>, %y: tensor<f32>, %n: tensor<i32>):
      %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %p = stablehlo.select %c, %x, %y : tensor<i1>, tensor<f32>
      %q = stablehlo.select %c, %m, %n : tensor<i1>, tensor<i32>
      stablehlo.return %p, %q : tensor<f32>, tensor<i32>
    }) : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    return %0#1 : tensor<2x3xi32>"""
    numbers = np.arange(10, dtype=np.int32).reshape(2, 5)
    actual = computed(body, tmp_path, [X, numbers], "%a: tensor<2x5xf32>, %i: tensor<2x5xi32>", "tensor<2x3xi32>")
    windows = np.lib.stride_tricks.sliding_window_view(X, 3, axis=1)
    np.testing.assert_array_equal(actual, np.argmax(windows, -1) + np.arange(3) + [[0], [5]])
