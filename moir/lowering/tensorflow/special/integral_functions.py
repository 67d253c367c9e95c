"""Functions that are integrals of elementary ones: Dawson's, exponential and Fresnel integrals, and the dilogarithm.

    %y = tf.Expint(%x)
->  %y = opset1.Select(%x < 12, γ + ln(%x) + Σ %xᵏ / (k k!), exp(%x) / %x Σ k! / %xᵏ)
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.special.gamma import polynomial
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

# Dawson's integral

SAMPLE = 0.4
"""The sampling distance h of the function exp(-t²)."""

SAMPLES = np.arange(-13, 14, 2)
"""The odd multiples of the distance h at which exp(-t²) is sampled."""

DAWSON_NEAR = (1.0, -2 / 3, 4 / 15, -8 / 105, 16 / 945)
"""Coefficients of the power series of D(x) / x in x²."""

DAWSON_FAR = (0.5, 0.25, 0.375, 0.9375)
"""Coefficients of the asymptotic series of D(x) x in 1 / x²."""


@tf.lowers("Dawsn")
def dawson(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Dawsn(x) -> 1 / √π Σ exp(-(x' - n h)²) / (m + n) over odd n, where x = m h + x' and m is even

    Source: G. Rybicki, "Dawson's Integral and the Sampling Theorem" (1989).
    """
    distance = op.Abs(x)
    bounded = op.Minimum(distance, 12.0)
    odd = op.Multiply(op.Round(op.Multiply(bounded, 0.5 / SAMPLE)), 2.0)
    rest = op.Unsqueeze(op.Subtract(bounded, op.Multiply(odd, SAMPLE)), [-1])
    difference = op.Subtract(rest, op.constant_like(SAMPLES * SAMPLE, x))
    weights = op.Exp(op.Negative(op.Multiply(difference, difference)))
    terms = op.Divide(weights, op.Add(op.Unsqueeze(odd, [-1]), op.constant_like(SAMPLES, x)))
    sampled = op.Multiply(op.ReduceSum(terms, [-1], keep_dims=False), 1 / math.sqrt(math.pi))
    near = op.Multiply(distance, polynomial(op, op.Multiply(distance, distance), DAWSON_NEAR))
    reciprocal = op.Divide(1.0, op.Maximum(distance, 1.0))
    far = op.Multiply(reciprocal, polynomial(op, op.Multiply(reciprocal, reciprocal), DAWSON_FAR))
    value = op.Select(op.Less(distance, 0.2), near, op.Select(op.Greater(distance, 10.0), far, sampled))
    # A comparison with NaN is false, so that NaN would select a sample.
    return op.Select(op.Equal(x, x), op.Multiply(op.Sign(x), value), x)


# The exponential integral

EXPINT_LIMIT = 12.0
"""The argument up to which the power series of the exponential integral is used."""


@tf.lowers("Expint")
def exponential_integral(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Expint(x) -> γ + ln(x) + Σ xᵏ / (k k!) below 12, exp(x) / x Σ k! / xᵏ above; NaN below 0

    Source: M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 5.1.10 and 5.1.51.
    """
    orders = np.arange(1, 46)
    weights = [EXPINT_LIMIT**k / (k * math.factorial(k)) for k in range(1, 46)]
    ratio = op.Unsqueeze(op.Multiply(op.Minimum(op.Maximum(x, 0.0), EXPINT_LIMIT), 1 / EXPINT_LIMIT), [-1])
    terms = op.Multiply(op.Power(ratio, op.constant_like(orders, x)), op.constant_like(weights, x))
    near = op.Add(op.Add(op.Log(x), float(np.euler_gamma)), op.ReduceSum(terms, [-1], keep_dims=False))
    reciprocal = op.Divide(1.0, op.Maximum(x, EXPINT_LIMIT))
    series = polynomial(op, reciprocal, [float(math.factorial(k)) for k in range(12)])
    far = op.Multiply(op.Multiply(op.Exp(x), reciprocal), series)
    # NaN is not above the limit.
    return op.Select(op.GreaterEqual(x, EXPINT_LIMIT), far, near)


# The dilogarithm

DILOGARITHM = (1.0, 1 / 36, -1 / 3600, 1 / 211680, -1 / 10886400)
"""The coefficients B₂ₖ / (2 k + 1)! of the series of the dilogarithm in u, u³, u⁵, …"""


@tf.lowers("Spence")
def spence(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Spence(x) -> u - u² / 4 + Σ B₂ₖ u²ᵏ⁺¹ / (2 k + 1)! with u = -ln(x), for x from 1/2 to 1

    Above 1: -ln²(x) / 2 - spence(1 / x). Below 1/2: π² / 6 - ln(x) ln(1 - x) - spence(1 - x).
    Source: L. Lewin, "Polylogarithms and Associated Functions" (1981), chapter 1.
    """
    is_large = op.Greater(x, 1.0)
    part = op.Select(is_large, op.Divide(1.0, op.Maximum(x, 1.0)), x)
    is_small = op.Less(part, 0.5)
    u = op.Negative(op.Log(op.Select(is_small, op.Subtract(1.0, part), part)))
    square = op.Multiply(u, u)
    series = op.Subtract(op.Multiply(u, polynomial(op, square, DILOGARITHM)), op.Multiply(square, 0.25))
    # The product of both logarithms is 0 for x = 0, by its limit.
    logarithm = op.Log(op.Select(op.Equal(part, 0.0), 1.0, part))
    reflected = op.Subtract(op.Add(op.Multiply(logarithm, u), math.pi**2 / 6), series)
    value = op.Select(is_small, reflected, series)
    logarithm = op.Log(x)
    return op.Select(is_large, op.Subtract(op.Multiply(op.Multiply(logarithm, logarithm), -0.5), value), value)


# Fresnel's integrals

FRESNEL_LIMIT = 2.5625
"""The square of the argument up to which the power series of the Fresnel integrals are used."""

FRESNEL_FAR = 36974.0
"""The argument from which on the integrals are 1/2 in f32."""

NEAR_SINE = (
    5.235987735681432e-1, -9.228055941124598e-2, 7.244727626597022e-3, -3.120693124703272e-4, 8.424748808502400e-6,
    -1.522754752581096e-7, 1.647629463788700e-9,
)  # fmt: skip
NEAR_COSINE = (
    9.999999760004487e-1, -2.467398198317899e-1, 2.818489036795073e-2, -1.604381798862293e-3, 5.387223446683264e-5,
    -1.157231412229871e-6, 1.416802502367354e-8,
)  # fmt: skip
FAR_FIRST = (
    2.999401847870011, -1.032877601091159e2, 8.560515466275470e3, -8.732356681548485e5, 7.343848463587323e7, -4.158143148511033e9,
    1.355942388050252e11, -1.903009855649792e12,
)  # fmt: skip
FAR_SECOND = (
    9.999841934744914e-1, -1.493439396592284e1, 8.602931494734327e2, -7.787789623358162e4, 6.492611570598858e6, -3.779387713202229e8,
    1.278350673393208e10, -1.860843997624650e11,
)  # fmt: skip
"""Coefficients of powers of x⁴ near 0, and of the auxiliary functions f and g in powers of 1 / (π x²)².

Source: S. Moshier, "Methods and Programs for Mathematical Functions" (1989), single precision.
"""


def fresnel(op: OpBuilder, x: SSAValue, *, is_sine: bool) -> SSAValue:
    """The integral of sin(π t² / 2), or without `is_sine` of cos(π t² / 2), from 0 to x."""
    distance = op.Minimum(op.Abs(x), FRESNEL_FAR)
    square = op.Multiply(distance, distance)
    fourth = op.Multiply(square, square)
    near = op.Multiply(distance, polynomial(op, fourth, NEAR_SINE if is_sine else NEAR_COSINE))
    if is_sine:
        near = op.Multiply(near, square)
    reciprocal = op.Divide(1 / math.pi, op.Maximum(square, FRESNEL_LIMIT))
    u = op.Multiply(reciprocal, reciprocal)
    first = op.Subtract(1.0, op.Multiply(u, polynomial(op, u, FAR_FIRST)))
    second = op.Multiply(reciprocal, polynomial(op, u, FAR_SECOND))
    angle = op.Multiply(square, math.pi / 2)
    sine, cosine = op.Sin(angle), op.Cos(angle)
    if is_sine:
        wave = op.Negative(op.Add(op.Multiply(first, cosine), op.Multiply(second, sine)))
    else:
        wave = op.Subtract(op.Multiply(first, sine), op.Multiply(second, cosine))
    far = op.Add(op.Divide(wave, op.Multiply(op.Maximum(distance, 1.0), math.pi)), 0.5)
    value = op.Select(op.Less(square, FRESNEL_LIMIT), near, op.Select(op.Less(distance, FRESNEL_FAR), far, 0.5))
    return op.Select(op.Equal(x, x), op.Multiply(op.Sign(x), value), x)


@tf.lowers("FresnelCos")
def fresnel_cosine(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.FresnelCos(x) -> polynomials in x⁴ up to 1.6; above 1/2 + (f(x) sin(π x² / 2) - g(x) cos(π x² / 2)) / (π x)"""
    return fresnel(op, x, is_sine=False)


@tf.lowers("FresnelSin")
def fresnel_sine(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.FresnelSin(x) -> polynomials in x⁴ up to 1.6; above 1/2 - (f(x) cos(π x² / 2) + g(x) sin(π x² / 2)) / (π x)"""
    return fresnel(op, x, is_sine=True)
