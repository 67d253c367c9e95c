"""Special functions of TensorFlow: incomplete gamma and beta functions, integrals, neighbours of floats."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check

RANDOM = np.random.default_rng(53)
raw = tf.raw_ops


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


AROUND_ZERO = np.concatenate([-np.logspace(-4, 4, 60), f32(0), np.logspace(-4, 4, 60)]).astype(np.float32)
POSITIVE = np.concatenate([np.logspace(-4, 4, 80), RANDOM.uniform(0.3, 3, 60)]).astype(np.float32)

FUNCTIONS = {
    "Dawsn": np.concatenate([AROUND_ZERO, RANDOM.uniform(-12, 12, 100), f32(np.inf, -np.inf, np.nan)]),
    "Expint": np.concatenate([np.logspace(-4, 1.93, 90), RANDOM.uniform(0.1, 20, 60), f32(0, -1, np.nan)]),
    "FresnelCos": np.concatenate([AROUND_ZERO, RANDOM.uniform(-6, 6, 100), f32(np.inf, -np.inf, np.nan, 1e10)]),
    "FresnelSin": np.concatenate([AROUND_ZERO, RANDOM.uniform(-6, 6, 100), f32(np.inf, -np.inf, np.nan, 1e10)]),
    "Spence": np.concatenate([POSITIVE, f32(0, 1, 2, 0.5, -1, np.nan)]),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_function(kind: str, dtype: type) -> None:
    x = FUNCTIONS[kind].astype(dtype)
    if dtype is np.float64:
        # The runtime computes with 32 bits, in which squares of large numbers have no fraction, and has no infinite f64.
        x = x[~(np.abs(x) > 30) & (x != 0)]
    check(lambda x: getattr(raw, kind)(x=x), {"x": x}, atol=1e-6)


@pytest.mark.parametrize("kind", ["Igamma", "Igammac"])
def test_incomplete_gamma(kind: str) -> None:
    a = RANDOM.choice([0.1, 0.5, 1, 2.5, 7, 20], (40, 1)).astype(np.float32)
    x = (a * RANDOM.uniform(0, 2.5, (40, 12)) + RANDOM.uniform(0, 2, (40, 12))).astype(np.float32)
    check(lambda a, x: getattr(raw, kind)(a=a, x=x), {"a": a, "x": x}, atol=1e-7)
    a, x = f32(-1, 0, 1, 2, 0, 1, np.inf, 1, 1), f32(1, 1, -1, 0, 0, np.inf, 1, np.nan, 80)
    check(lambda a, x: getattr(raw, kind)(a=a, x=x), {"a": a, "x": x}, atol=1e-7, forms=("static",))


def test_incomplete_gamma_of_many() -> None:
    """Around a the series and the fraction need the most terms."""
    a = np.repeat(f32(1, 10, 60, 150), 5).reshape(4, 5)
    x = (a * f32(0.5, 0.95, 1, 1.05, 1.5)).astype(np.float32)
    check(lambda a, x: raw.Igamma(a=a, x=x), {"a": a, "x": x}, rtol=3e-4, forms=("static",))


def test_incomplete_beta() -> None:
    a, b = (RANDOM.choice([0.2, 0.5, 1, 3, 9], (50, 1)).astype(np.float32) for _ in range(2))
    x = RANDOM.uniform(0, 1, (50, 8)).astype(np.float32)
    a, b = np.broadcast_to(a, x.shape).copy(), np.broadcast_to(b, x.shape).copy()
    check(lambda a, b, x: raw.Betainc(a=a, b=b, x=x), {"a": a, "b": b, "x": x}, atol=1e-7)
    a, b, x = f32(-1, 0, 1, 2, 2, 2, 1, 1), f32(1, 1, -1, 0, 2, 2, 1, 1), f32(0.5, 0.5, 0.5, 0.5, 0, 1, -1, 2)
    check(lambda a, b, x: raw.Betainc(a=a, b=b, x=x), {"a": a, "b": b, "x": x}, forms=("static",))


def test_one_number_of_the_incomplete_beta_function() -> None:
    check(lambda x: raw.Betainc(a=2.0, b=np.float32(3), x=x), {"x": f32(0.1, 0.6, 0.9)}, expected=[f32(0.0523, 0.8208, 0.9963)])


def test_neighbours() -> None:
    x = np.concatenate([RANDOM.normal(size=60) * 10.0 ** RANDOM.integers(-30, 30, 60), 2.0 ** np.arange(-60, 60)]).astype(np.float32)
    special = f32(1, 1, -1, -1, np.inf, np.inf, np.nan, 1, np.finfo(np.float32).max, -np.inf, 1)
    towards = f32(2, 0, 0, -2, 0, np.inf, 1, 1, np.inf, 0, np.nan)
    x1 = np.concatenate([x, x, special])
    x2 = np.concatenate([np.full_like(x, np.inf), np.full_like(x, -np.inf), towards])
    check(lambda a, b: raw.NextAfter(x1=a, x2=b), {"a": x1, "b": x2}, rtol=1e-9, atol=0)


def test_neighbours_of_64_bits_are_refused() -> None:
    with pytest.raises(ConversionError, match="other numbers than f32"):
        check(lambda x: raw.NextAfter(x1=x, x2=x * 2), {"x": np.ones(3)}, forms=("static",))
