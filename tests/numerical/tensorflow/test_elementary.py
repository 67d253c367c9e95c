"""Functions of single elements of TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.forms import Form
from tests.numerical.processors import NEEDS_WIDE_REGISTERS
from tests.numerical.tensorflow.conversion import check

GENERATOR = np.random.default_rng(2)
REALS = GENERATOR.normal(0, 2, (2, 3, 4)).astype(np.float32)
POSITIVE = np.abs(REALS) + np.float32(0.1)
UNIT = GENERATOR.uniform(-0.95, 0.95, (2, 3, 4)).astype(np.float32)
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.2], np.float32)

DOMAINS = {
    "Acos Asin Atanh": UNIT,
    "Acosh": POSITIVE + 1,
    "Log Sqrt": POSITIVE,
    "Abs Asinh Atan Ceil Cos Cosh Erf Exp Floor Neg Sign Sin Sinh Tan Tanh": REALS,
    "Round": HALVES,
}

SEVERAL_OPERATIONS = {
    "Expm1": (REALS, 2),
    "Erfc": (REALS, 2),
    "Inv": (POSITIVE, 1),
    "Log1p": (POSITIVE, 2),
    "Reciprocal": (POSITIVE, 1),
    "Rint": (HALVES, 1),
    "Rsqrt": (POSITIVE, 1),
    "Square": (REALS, 1),
}


@pytest.mark.parametrize("kinds", DOMAINS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_renamed(kinds: str, dtype: type) -> None:
    tolerance = 5e-3 if dtype is np.float16 else 1e-4
    check(
        lambda x: [getattr(tf.raw_ops, kind)(x=x) for kind in kinds.split()],
        {"x": DOMAINS[kinds].astype(dtype)},
        rtol=tolerance,
        atol=tolerance,
        forms=("static", "dynamic", "rank") if dtype is np.float32 else ("static",),
        operations=len(kinds.split()),
    )


@pytest.mark.parametrize("kind", SEVERAL_OPERATIONS)
def test_composed(kind: str) -> None:
    x, operations = SEVERAL_OPERATIONS[kind]
    check(lambda x: getattr(tf.raw_ops, kind)(x=x), {"x": x}, operations=operations, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_integers(dtype: type) -> None:
    x = np.array([[-3, -1, 0, 2, 9]], dtype)
    check(lambda x: [getattr(tf.raw_ops, kind)(x=x) for kind in ("Abs", "Invert", "Neg", "Sign", "Square")], {"x": x})


def test_rounding_of_integers_is_left_out() -> None:
    # TensorFlow's own kernel makes 0 of them, which tf.round hides by not using it.
    x = np.array([1, -2], np.int32)
    check(lambda x: tf.raw_ops.Round(x=x), {"x": x}, expected=[x], forms=("static",), operations=0)


def test_inverted_bits_of_unsigned_integers() -> None:
    check(lambda x: tf.raw_ops.Invert(x=x), {"x": np.array([0, 7, 255], np.uint8)}, forms=("static",))


def test_quantiles() -> None:
    x = np.array([-1, -0.99999994, -0.999, -0.9, -0.5, -1e-3, 0, 0.3, 0.8, 0.99999, 1, 1.5, np.nan], np.float32)
    check(lambda x: tf.raw_ops.Erfinv(x=x), {"x": x}, rtol=2e-5, atol=0)
    p = np.array([0, 1e-37, 1e-30, 1e-12, 1e-11, 1e-3, 0.07, 0.08, 0.5, 0.924, 0.926, 0.99999, 1, -1, 2], np.float32)
    check(lambda x: tf.raw_ops.Ndtri(x=x), {"x": p}, rtol=1e-5, atol=0)


def test_logarithm_of_gamma() -> None:
    x = np.array([-np.inf, -3e38, -1e12, -3.5, -2.2, -1.0, -0.7, -1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 3.7, 50.0, 1e4, np.inf], np.float32)
    check(lambda x: tf.raw_ops.Lgamma(x=x), {"x": x}, rtol=1e-4, atol=1e-4)


@NEEDS_WIDE_REGISTERS
def test_derivatives_of_the_logarithm_of_gamma() -> None:
    x = np.array([-30.25, -3.5, -2.2, -1.0, -0.7, -1e-3, 0, 1e-3, 0.1, 0.5, 1.0, 1.5, 2.0, 3.7, 50.0, 1e4, np.inf], np.float32)
    check(lambda x: tf.raw_ops.Digamma(x=x), {"x": x})
    orders = np.arange(5, dtype=np.float32)[:, None]
    check(lambda a, x: tf.raw_ops.Polygamma(a=a, x=x), {"a": orders, "x": np.array([-2.3, 0.2, 1, 2.5, 30], np.float32)})
    check(lambda x: tf.raw_ops.Polygamma(a=np.float32(1), x=x), {"x": np.array([-2.3, 0.2, 1, 2.5, 30], np.float32)}, forms=("static",))


@NEEDS_WIDE_REGISTERS
def test_zeta() -> None:
    x = np.array([0.5, 1.0, 1.25, 2.0, 3.5, 9.0, 40.0], np.float32)[:, None]
    q = np.array([-3.3, -2.0, 0.3, 1.0, 6.0, 100.0], np.float32)
    check(lambda x, q: tf.raw_ops.Zeta(x=x, q=q), {"x": x, "q": q})


def test_incomplete_gamma_functions() -> None:
    """Small and large operands, on both sides of x = a + 1, and where the functions end."""
    a = np.array([0.01, 0.5, 1.0, 2.5, 9.9, 10.0, 60.0, 200.0], np.float32)[:, None]
    x = np.array([0.0, 0.01, 0.6, 1.0, 1.4, 3.0, 9.0, 12.0, 55.0, 70.0, 190.0, np.inf], np.float32)
    check(lambda a, x: [tf.raw_ops.Igamma(a=a, x=x), tf.raw_ops.Igammac(a=a, x=x)], {"a": a, "x": x}, rtol=2e-4, atol=2e-6)


BESSEL = {
    "I0 I1 I0e I1e J0 J1": np.array([-40, -5.5, -3, -0.1, 0, 0.01, 0.3, 1, 2.5, 3.0, 3.75, 5, 10, 25, 80], np.float32),
    "K0 K1 K0e K1e": np.array([-1, 0, 0.01, 0.3, 1, 2, 2.5, 3, 5, 10, 25, 80], np.float32),
    "Y0 Y1": np.array([-1, 0.01, 0.3, 1, 2, 2.5, 3, 5, 10, 25, 80], np.float32),
}


@pytest.mark.parametrize("kinds", BESSEL)
@pytest.mark.parametrize("form", ["static", "dynamic"])
def test_bessel_functions(kinds: str, form: Form) -> None:
    check(
        lambda x: [getattr(tf.raw_ops, f"Bessel{kind}")(x=x) for kind in kinds.split()],
        {"x": BESSEL[kinds]},
        rtol=3e-6,
        atol=1e-6,
        forms=(form,),
    )


def test_functions_of_halves() -> None:
    x = np.array([-5.5, -0.0077, 0.3, 2, 50, 3000], np.float16)
    check(lambda x: [tf.raw_ops.Digamma(x=x), tf.raw_ops.Lgamma(x=x), tf.raw_ops.BesselI0e(x=x)], {"x": x}, rtol=3e-3, atol=3e-3)


@pytest.mark.parametrize("shape", [[None, 0], None], ids=str)
@pytest.mark.parametrize("kind", ["Digamma", "Lgamma"])
def test_gamma_of_nothing(kind: str, shape: list[int | None] | None) -> None:
    """The runtime loses the other sizes of larger expressions without elements."""
    check(lambda x: getattr(tf.raw_ops, kind)(x=x), {"x": np.zeros((2, 0), np.float32)}, said={"x": shape})


@pytest.mark.parametrize("kind", ["Zeta", "Polygamma"])
def test_functions_of_two_operands_of_nothing(kind: str) -> None:
    """The runtime crashes if one rank is unknown."""
    names = {"Zeta": ("x", "q"), "Polygamma": ("a", "x")}[kind]
    inputs = dict.fromkeys(names, np.zeros((3, 1, 0), np.float32))
    for unknown in names:
        check(getattr(tf.raw_ops, kind), inputs, said={unknown: None})


@NEEDS_WIDE_REGISTERS
def test_zeta_far_out() -> None:
    x, q = np.array([2, 3.5, 9, 1], np.float32), np.array([np.inf, 1e30, np.inf, np.inf], np.float32)
    check(lambda x, q: tf.raw_ops.Zeta(x=x, q=q), {"x": x, "q": q})
