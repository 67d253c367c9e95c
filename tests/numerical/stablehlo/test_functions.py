"""Functions of elements that JAX writes as operations of CHLO, of real and complex numbers; numpy or TensorFlow says the
results.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.runtime import core
from tests.numerical.stablehlo.test_operations import computed, converted

GENERATOR = np.random.default_rng(12)

POINTS = np.concatenate(
    [
        GENERATOR.normal(size=40) + 1j * GENERATOR.normal(size=40),
        np.array([0.5, -0.5, 2 + 0.5j, -2 + 0.5j, -2 - 0.5j, 0.1j, -3j, 1e-3 + 1e-3j]),
    ]
).astype(np.complex64)

COMPLEX: dict[str, Callable[[Any], Any]] = {
    "chlo.acos": np.arccos,
    "chlo.acosh": np.arccosh,
    "chlo.asin": np.arcsin,
    "chlo.asinh": np.arcsinh,
    "chlo.atan": np.arctan,
    "chlo.atanh": np.arctanh,
    "chlo.cosh": np.cosh,
    "chlo.sinh": np.sinh,
    "chlo.tan": np.tan,
    "stablehlo.cbrt": lambda z: z.astype(np.complex128) ** (1 / 3),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_functions_of_complex_numbers(name: str, tmp_path: Path) -> None:
    body = f"""
    %0 = {name} %z : tensor<48xcomplex<f32>> -> tensor<48xcomplex<f32>>
    return %0 : tensor<48xcomplex<f32>>"""
    pairs = POINTS.view(np.float32).reshape(48, 2)
    actual = computed(body, tmp_path, [pairs], "%z: tensor<48xcomplex<f32>>", "tensor<48xcomplex<f32>>")
    expected = np.stack([(values := COMPLEX[name](POINTS)).real, values.imag], axis=-1)
    np.testing.assert_allclose(actual, expected, rtol=2e-4, atol=2e-4)


def test_angle_of_complex_numbers(tmp_path: Path) -> None:
    """arctan(y / x) where the real part of x is positive."""
    x, y = (POINTS[:40] * 0.4 + 2).astype(np.complex64), POINTS[:40]
    body = """
    %0 = stablehlo.atan2 %y, %x : tensor<40xcomplex<f32>>
    return %0 : tensor<40xcomplex<f32>>"""
    kind = "tensor<40xcomplex<f32>>"
    inputs = [each.view(np.float32).reshape(40, 2) for each in (y, x)]
    actual = computed(body, tmp_path, inputs, f"%y: {kind}, %x: {kind}", kind)
    expected = -1j * np.log((x + 1j * y) / np.sqrt(x**2 + y**2))
    np.testing.assert_allclose(actual[..., 0] + 1j * actual[..., 1], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("operation", ["maximum", "minimum", "compare LT,", "compare LE,", "compare GT,", "compare GE,", "compare NE,"])
def test_order_of_complex_numbers(operation: str, tmp_path: Path) -> None:
    """By the real parts, then by the imaginary ones, as Python's tuples."""
    values = np.array([complex(x, y) for x in (-1, 0, 2) for y in (-3, 0.5, 1)], np.complex64)
    x, y = np.repeat(values, 9), np.tile(values, 9)
    kind = "tensor<81xcomplex<f32>>"
    result = kind if operation[0] == "m" else "tensor<81xi1>"
    body = f"""
    %0 = stablehlo.{operation} %x, %y : ({kind}, {kind}) -> {result}
    return %0 : {result}"""
    actual = computed(body, tmp_path, [each.view(np.float32).reshape(81, 2) for each in (x, y)], f"%x: {kind}, %y: {kind}", result)
    pairs = [((a.real, a.imag), (b.real, b.imag)) for a, b in zip(x, y, strict=True)]
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "maximum": max,
        "minimum": min,
        "compare LT,": operator.lt,
        "compare LE,": operator.le,
        "compare GT,": operator.gt,
        "compare GE,": operator.ge,
        "compare NE,": operator.ne,
    }
    np.testing.assert_array_equal(actual, [functions[operation](a, b) for a, b in pairs])


@pytest.mark.parametrize(("element", "dtype", "tolerance"), [("f32", np.float32, 1e-5), ("f16", np.float16, 2e-3)])
def test_digamma_and_bessel(element: str, dtype: type, tolerance: float, tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    x = np.concatenate([GENERATOR.uniform(0.1, 9, size=30), GENERATOR.uniform(-4.9, -0.1, size=10).round(1) - 0.05]).astype(dtype)
    kind = f"tensor<40x{element}>"
    for name, function in (("digamma", tf.math.digamma), ("bessel_i1e", tf.math.bessel_i1e)):
        body = f"\n    %0 = chlo.{name} %x : {kind} -> {kind}\n    return %0 : {kind}"
        actual = computed(body, tmp_path, [x], f"%x: {kind}", kind)
        np.testing.assert_allclose(actual, function(x.astype(np.float64)).numpy(), rtol=tolerance * 10, atol=tolerance)


def test_zeta_and_polygamma(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    n, x = np.repeat(np.arange(3, dtype=np.float32), 8), np.tile(np.linspace(0.3, 6, 8, dtype=np.float32), 3)
    kind = "tensor<24xf32>"
    for name, function, first in (("polygamma", tf.math.polygamma, n), ("zeta", tf.math.zeta, n + 2)):
        body = f"\n    %0 = chlo.{name} %n, %x : {kind}, {kind} -> {kind}\n    return %0 : {kind}"
        actual = computed(body, tmp_path, [first, x], f"%n: {kind}, %x: {kind}", kind)
        np.testing.assert_allclose(actual, function(first, x).numpy(), rtol=1e-4)


def rounded(x: np.ndarray, exponent_bits: int, mantissa_bits: int) -> np.ndarray:
    """Numbers with fewer bits: ties to even, infinity above the largest one, 0 below the smallest normal one."""
    significand, exponent = np.frexp(x.astype(np.float64))
    values = np.ldexp(np.rint(np.ldexp(significand, mantissa_bits + 1)), exponent - mantissa_bits - 1)
    bias = 2 ** (exponent_bits - 1) - 1
    values = np.where(np.abs(values) > (2 - 2.0**-mantissa_bits) * 2.0**bias, np.sign(values) * np.inf, values)
    values = np.where(np.abs(values) < 2.0 ** (1 - bias), np.copysign(0.0, values), values)
    return np.where(np.isfinite(x), values, x)


@pytest.mark.parametrize(
    ("exponent_bits", "mantissa_bits"), [(8, 7), (5, 10), (5, 7), (4, 3), (5, 2), (3, 4), (8, 0), (8, 22), (11, 10), (2, 1)]
)
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_reduced_precision(element: str, exponent_bits: int, mantissa_bits: int, tmp_path: Path) -> None:
    dtype = {"f32": np.float32, "f16": np.float16}[element]
    special = [0, -0.0, np.inf, -np.inf, 1, 1.5, -1.5, 2.5, 3.5, 0.0625, 448, 480, 65504, 3e-5]
    large = [3.3e38, -3.4e38, 1.5e37, 1e-37, 2.0**101] if element == "f32" else []
    x = np.concatenate([GENERATOR.normal(size=60) * 10.0 ** GENERATOR.integers(-4, 4, 60), special, large]).astype(dtype)
    kind = f"tensor<{x.size}x{element}>"
    body = f"""
    %0 = stablehlo.reduce_precision %x, format = e{exponent_bits}m{mantissa_bits} : {kind}
    return %0 : {kind}"""
    model = moir.to_openvino(converted(body, tmp_path, f"%x: {kind}", kind))
    compiled = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    own = {"f32": (8, 23), "f16": (5, 10)}[element]
    expected = x
    if exponent_bits < own[0] or mantissa_bits < own[1]:
        with np.errstate(over="ignore"):
            expected = rounded(x, min(exponent_bits, 8), min(mantissa_bits, own[1])).astype(dtype)
    np.testing.assert_array_equal(compiled([x])[0], expected)


def test_precision_that_f32_does_not_have(tmp_path: Path) -> None:
    body = "    %0 = stablehlo.reduce_precision %x, format = e11m40 : tensor<2xf64>\n    return %0 : tensor<2xf64>"
    with pytest.raises(ConversionError, match="a precision of 11 and 40 bits of f64 is not supported"):
        converted(body, tmp_path, "%x: tensor<2xf64>", "tensor<2xf64>")


def test_transform_of_double_precision(tmp_path: Path) -> None:
    body = """
    %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<3x8xf64>) -> tensor<3x5xcomplex<f64>>
    return %0 : tensor<3x5xcomplex<f64>>"""
    x = GENERATOR.normal(size=(3, 8))
    actual = computed(body, tmp_path, [x], "%x: tensor<3x8xf64>", "tensor<3x5xcomplex<f64>>")
    assert actual.dtype == np.float64
    np.testing.assert_allclose(actual[..., 0] + 1j * actual[..., 1], np.fft.rfft(x), atol=1e-5)


TOP_K = """
    %values, %indices = chlo.top_k(%x, k = 2) : tensor<3x5xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
    return %values, %indices : tensor<3x2xf32>, tensor<3x2xi32>"""


def test_top_k_as_jax_prints_it(tmp_path: Path) -> None:
    x = GENERATOR.normal(size=(3, 5)).astype(np.float32)
    actual = computed(TOP_K, tmp_path, [x], "%x: tensor<3x5xf32>", "(tensor<3x2xf32>, tensor<3x2xi32>)")
    np.testing.assert_array_equal(actual, -np.sort(-x, axis=1)[:, :2])


def test_algorithm_of_a_product(tmp_path: Path) -> None:
    body = """
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT],
      algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1,
      rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>
      : (tensor<3x5xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>"""
    x, y = GENERATOR.normal(size=(3, 5)).astype(np.float32), GENERATOR.normal(size=(5, 2)).astype(np.float32)
    actual = computed(body, tmp_path, [x, y], "%x: tensor<3x5xf32>, %y: tensor<5x2xf32>", "tensor<3x2xf32>")
    np.testing.assert_allclose(actual, x @ y, rtol=1e-3, atol=1e-3)


def test_select_and_scatter_of_a_dynamic_batch(tmp_path: Path) -> None:
    """The gradient of a maximum over windows of two by two."""
    body = """
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<?x4x6xf32>, tensor<?x2x3xf32>, tensor<f32>) -> tensor<?x4x6xf32>
    return %0 : tensor<?x4x6xf32>"""
    for batch in (1, 3):
        x, s = GENERATOR.normal(size=(batch, 4, 6)).astype(np.float32), GENERATOR.normal(size=(batch, 2, 3)).astype(np.float32)
        windows = x.reshape(batch, 2, 2, 3, 2).transpose(0, 1, 3, 2, 4).reshape(batch, 2, 3, 4)
        expected = np.where(np.arange(4) == windows.argmax(axis=-1)[..., None], s[..., None], 0)
        expected = expected.reshape(batch, 2, 3, 2, 2).transpose(0, 1, 3, 2, 4).reshape(batch, 4, 6)
        actual = computed(body, tmp_path, [x, s], "%x: tensor<?x4x6xf32>, %s: tensor<?x2x3xf32>", "tensor<?x4x6xf32>")
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize(
    ("is_left", "is_lower", "is_unit"), [(True, True, False), (True, False, True), (False, True, True), (False, False, False)]
)
def test_triangular_systems_of_complex_numbers(is_left: bool, is_lower: bool, is_unit: bool, transpose: str, tmp_path: Path) -> None:
    """The other triangle is not read."""
    a = GENERATOR.normal(size=(3, 3)) + 1j * GENERATOR.normal(size=(3, 3)) + 3 * np.eye(3)
    b = GENERATOR.normal(size=(3, 3)) + 1j * GENERATOR.normal(size=(3, 3))
    kind = "tensor<3x3xcomplex<f32>>"
    types = f"({kind}, {kind}) -> {kind}"
    flags = (("left_side", is_left), ("lower", is_lower), ("unit_diagonal", is_unit))
    attributes = ", ".join(f"{name} = {str(flag).lower()}" for name, flag in flags)
    body = f"""
    %0 = "stablehlo.triangular_solve"(%a, %b) <{{{attributes}, transpose_a = #stablehlo<transpose {transpose}>}}> : {types}
    return %0 : {kind}"""
    triangle = np.tril(a) if is_lower else np.triu(a)
    if is_unit:
        np.fill_diagonal(triangle, 1)
    matrix = {"NO_TRANSPOSE": triangle, "TRANSPOSE": triangle.T, "ADJOINT": triangle.conj().T}[transpose]
    expected = np.linalg.solve(matrix, b) if is_left else np.linalg.solve(matrix.T, b.T).T
    inputs = [np.stack([each.real, each.imag], axis=-1).astype(np.float32) for each in (a, b)]
    actual = computed(body, tmp_path, inputs, f"%a: {kind}, %b: {kind}", kind)
    np.testing.assert_allclose(actual[..., 0] + 1j * actual[..., 1], expected, rtol=1e-4, atol=1e-5)


def test_shardings_of_complex_numbers(tmp_path: Path) -> None:
    kind = "tensor<4xcomplex<f32>>"
    body = f"""
    %0 = sdy.sharding_constraint %z <@mesh, [{{}}]> : {kind}
    %1 = stablehlo.multiply %0, %0 : {kind}
    return %1 : {kind}"""
    z = POINTS[:4]
    actual = computed(body, tmp_path, [z.view(np.float32).reshape(4, 2)], f"%z: {kind}", kind)
    np.testing.assert_allclose(actual[..., 0] + 1j * actual[..., 1], z * z, rtol=1e-5)
