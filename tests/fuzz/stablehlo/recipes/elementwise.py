"""Functions of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import EVERY, INTEGERS, NUMERIC, REAL, array, jnp, lax, like, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


@recipe(
    "abs acos acosh asin asinh atan atanh cbrt ceil cos cosh exp exp2 expm1 floor is_finite log log1p logistic rsqrt sin sinh sqrt "
    "square tan tanh erf erfc erf_inv lgamma digamma"
)
def real(draw: Draw, name: str) -> Drawn:
    """A function of a real number."""
    return getattr(lax, name), [array(draw, REAL)]


@recipe("neg sign integer_pow round population_count clz bitwise_not reduce_precision bitcast_convert_type convert_element_type")
def numeric(draw: Draw, name: str) -> Drawn:
    """A function of a number of any element type, or with a constant."""
    match name:
        case "neg" | "sign":
            return getattr(lax, name), [array(draw, NUMERIC)]
        case "integer_pow":
            exponent = draw.integer(-2, 4)
            return lambda x: lax.integer_pow(x, exponent), [array(draw, REAL if exponent < 0 else NUMERIC)]
        case "round":
            way = draw.one_of((lax.RoundingMethod.AWAY_FROM_ZERO, lax.RoundingMethod.TO_NEAREST_EVEN))
            return lambda x: lax.round(x, way), [array(draw, REAL)]
        case "reduce_precision":
            bits = draw.one_of(((5, 10), (8, 7), (4, 3), (5, 2), (8, 23)))
            return lambda x: lax.reduce_precision(x, *bits), [array(draw, (np.float32,), special=0.0)]
        case "bitcast_convert_type":
            pairs: Any = (
                (np.float32, np.int32),
                (np.int32, np.float32),
                (np.float32, np.uint32),
                (np.uint32, np.int32),
                (np.int8, np.uint8),
            )
            source, target = draw.one_of(pairs)
            return lambda x: lax.bitcast_convert_type(x, target), [array(draw, (source,), special=0.0)]
        case "convert_element_type":
            target = draw.one_of(EVERY)
            data = array(draw, EVERY, special=0.0)
            if data.dtype.kind in "fV" and np.dtype(target).kind == "u":
                data = np.abs(data)
            return lambda x: lax.convert_element_type(x, target), [data]
        case "bitwise_not":
            return lax.bitwise_not, [array(draw, (*INTEGERS, np.bool_))]
        case _:
            return getattr(lax, name), [array(draw, INTEGERS)]


@recipe("add sub mul div max min pow rem atan2 nextafter eq ne lt le gt ge complex")
def pairs(draw: Draw, name: str) -> Drawn:
    """A function of two numbers."""
    types = (np.float32,) if name in ("complex", "nextafter") else REAL if name in ("pow", "atan2") else NUMERIC
    first = array(draw, types)
    second = like(draw, first)
    if name in ("div", "rem") and first.dtype.kind in "iu":
        second = np.where(second == 0, 1, second).astype(first.dtype)
    function = getattr(lax, name)
    if draw.chance(0.15):
        number = draw.one_of((2, 3, 1))
        return (lambda x: function(x, jnp.full_like(x, number))), [first]
    return function, [first, second]


@recipe("bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic shift_right_logical")
def bits(draw: Draw, name: str) -> Drawn:
    """A function of the bits of two integers."""
    if name.startswith("shift"):
        first = array(draw, [each for each in INTEGERS if np.dtype(each).itemsize <= 4])
        return getattr(lax, name), [first, draw.between(first.dtype, first.shape, 0, first.dtype.itemsize * 8 - 1)]
    first = array(draw, (*INTEGERS, np.bool_))
    return getattr(lax, name), [first, like(draw, first)]


@recipe("select clamp")
def choice(draw: Draw, name: str) -> Drawn:
    """A choice, or a number between two limits."""
    data = array(draw, EVERY if name == "select" else NUMERIC)
    if name == "select":
        return lax.select, [np.asarray(draw.random.random(data.shape if draw.chance(0.8) else ()) < 0.5), data, like(draw, data)]
    low, high = (draw.array(data.dtype, () if draw.chance(0.6) else data.shape, 0.0) for _ in range(2))
    return lax.clamp, [np.minimum(low, high), data, np.maximum(low, high)]


@recipe("complex_functions")
def of_complex(draw: Draw, _: str) -> Drawn:
    """A function of complex numbers."""
    chosen = draw.one_of(
        ("abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "neg", "conj", "real", "imag", "mul", "div", "add", "log1p", "rsqrt")
    )
    data = array(draw, (np.complex64,))
    function = getattr(lax, chosen)
    return function, [data, like(draw, data)] if chosen in ("mul", "div", "add") else [data]


@recipe("fft")
def fft(draw: Draw, _: str) -> Drawn:
    """A Fourier transform."""
    kind = draw.one_of(("FFT", "IFFT", "RFFT", "IRFFT"))
    axes = draw.integer(1, 2)
    shape = [*draw.filled(0, 1), *draw.integers(axes, 1, 6)]
    lengths = tuple(shape[-axes:])
    if kind == "IRFFT":
        lengths = (*lengths[:-1], max(1, 2 * (shape[-1] - 1)))
    data = array(draw, (np.float32,) if kind == "RFFT" else (np.complex64,), shape, 0.0)
    return lambda x: lax.fft(x, getattr(jax.lax.FftType, kind), lengths), [data]
