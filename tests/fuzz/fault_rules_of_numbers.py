"""Rules for faults of the plugin that make numbers imprecise, or compute them in another type."""

from __future__ import annotations

import math

import numpy as np

from tests.fuzz.draw import NARROW_INTEGERS
from tests.fuzz.wrong_result import INEXACT, LARGEST, Rule, Wrong


def infinities_of_f64(wrong: Wrong) -> bool:
    if not any(array.dtype == np.float64 for array in [*wrong.operands, wrong.wanted]) or wrong.differs is None:
        return False
    if wrong.wanted.dtype == np.bool_:
        wanted = wrong.wanted[wrong.differs]
        return (wrong.has("IsInf") and bool(wanted.all())) or (wrong.has("IsFinite", "is_finite") and not wanted.any())
    actual, wanted = wrong.elements()
    largest = np.isclose(np.abs(actual), LARGEST) & (np.abs(wanted) >= LARGEST) & (np.sign(actual) == np.sign(wanted))
    # What is computed of an infinity may be a number if it is computed of the largest one.
    return bool((largest | ((~np.isfinite(wanted) | np.isnan(actual)) & wrong.may_compute_nan())).all())


def limit_of_u32(wrong: Wrong) -> bool:
    if wrong.wanted.dtype != np.uint32 or wrong.differs is None:
        return False
    actual, wanted = wrong.elements()
    return bool(((wanted >= 2**31) & (actual == 2**31 - 1)).all())


def wide(wrong: Wrong) -> bool:
    """Whether only integers of more than 32 bits differ, or the bounds of a Slice are such."""
    if wrong.node is not None and wrong.node[0] == "Slice":
        return any(array.dtype == np.int64 and (np.abs(array.astype(np.float64)) > 2**31).any() for array in wrong.node[1][1:])
    if wrong.wanted.dtype not in (np.int64, np.uint64) or wrong.differs is None:
        return False
    return bool((np.abs(wrong.elements()[1]) >= 2**31 - 1).all())


def in_f32(*kinds: str) -> Rule:
    """Whether integers differ as much as f32 does from them."""

    def rule(wrong: Wrong) -> bool:
        if wrong.wanted.dtype.kind not in "iu" or not wrong.has(*kinds) or wrong.differs is None:
            return False
        actual, wanted = wrong.elements()
        large = any(np.abs(array.astype(np.float64)).max(initial=0) >= INEXACT for array in wrong.operands if array.dtype.kind in "iu")
        # Numbers that f32 rounds to 2³¹ overflow, as the quotient of the smallest number and -1 does.
        near = (np.abs(actual - wanted) <= np.maximum(np.abs(wanted), INEXACT) / INEXACT * 4) | (np.abs(wanted) >= 2**31 - 64)
        return large and bool(near.all())

    return rule


def raised_in_f32(wrong: Wrong) -> bool:
    """Whether powers of integers are wrong that f32 does not represent, perhaps because they are cut to fewer bits."""
    if wrong.node is None or wrong.node[0] != "Pow" or wrong.differs is None or len(wrong.node[1]) != 2:
        return in_f32("Pow")(wrong)
    if any(array.dtype.kind not in "iu" for array in wrong.node[1]):
        return False
    base, exponent = (np.broadcast_to(array, wrong.wanted.shape)[wrong.differs].astype(np.float64) for array in wrong.node[1])
    return bool((np.abs(base) ** exponent >= INEXACT).all()) or in_f32("Pow")(wrong)


def compared_in_f32(wrong: Wrong) -> bool:
    """Whether a comparison of integers is wrong that are equal in f32, though they are not."""
    kinds = ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "LessEqual", "GreaterEqual")
    if wrong.node is None or wrong.node[0] not in kinds or wrong.differs is None or len(wrong.node[1]) < 2:
        return False
    if any(array.dtype.kind not in "iu" for array in wrong.node[1]):
        return False
    first, second = (np.broadcast_to(array, wrong.wanted.shape)[wrong.differs] for array in wrong.node[1])
    return bool(((first != second) & (first.astype(np.float32) == second.astype(np.float32))).all())


def remainders(wrong: Wrong) -> bool:
    """Integer remainders of numbers that f32 does not have."""
    if (
        wrong.wanted.dtype.kind not in "iu"
        or wrong.differs is None
        or wrong.node is None
        or wrong.node[0] != "Mod"
        or len(wrong.node[1]) < 2
    ):
        return False
    a, b = (np.broadcast_to(operand.astype(np.float64), wrong.wanted.shape)[wrong.differs] for operand in wrong.node[1])
    return bool((np.maximum(np.abs(a), np.abs(b)) >= INEXACT).all())


def quotients(wrong: Wrong) -> bool:
    """Remainders of floats that differ by no more than a - b * trunc(a / b) in f32 does."""
    if (
        wrong.wanted.dtype.kind not in "fV"
        or wrong.differs is None
        or wrong.node is None
        or wrong.node[0] != "Mod"
        or len(wrong.node[1]) < 2
    ):
        return False
    a, b = (np.broadcast_to(operand.astype(np.float64), wrong.wanted.shape)[wrong.differs] for operand in wrong.node[1])
    actual, wanted = wrong.elements()
    with np.errstate(all="ignore"):
        near = np.abs(actual - wanted) <= np.abs(a) * 4 / INEXACT
        # The remainder of a number that is nearly a multiple is nearly b, or 0.
        turned = np.abs(np.abs(actual - wanted) - np.abs(b)) <= np.abs(a) * 4 / INEXACT
        return bool((near | turned | (np.abs(a / b) >= INEXACT / 2) | np.isinf(b)).all())


def infinite_divisors(wrong: Wrong) -> bool:
    if wrong.wanted.dtype.kind != "f" or wrong.differs is None or wrong.node is None or wrong.node[0] != "Mod":
        return False
    # Of a number and a tensor, the tensor is the only operand.
    return bool(np.isinf(np.broadcast_to(wrong.node[1][-1], wrong.wanted.shape)[wrong.differs]).all())


def overflowing_soft_plus(wrong: Wrong) -> bool:
    """Whether the only elements that differ are large numbers instead of the logarithm of an infinite sum."""
    if not ({"Exp", "Log"} <= wrong.contents.kinds) or wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
        return False
    actual, wanted = wrong.elements()
    return bool(((wanted == np.inf) & np.isfinite(actual) & (actual > np.log(LARGEST))).all())


def powers_of_two(wrong: Wrong) -> bool:
    return wrong.wanted.dtype.name == "float8_e8m0fnu" and wrong.differs is not None


def between_levels(wrong: Wrong) -> bool:
    """Whether levels differ by one of numbers that are nearly in the middle between two of them."""
    if wrong.node is not None and wrong.node[0].startswith("FakeQuant") and wrong.differs is not None:
        actual, wanted = wrong.elements()
        x = wrong.node[1][0][wrong.differs].astype(np.float64)
        return bool(np.allclose(np.abs(actual - x), np.abs(wanted - x), rtol=2.0**-6))
    is_integer = wrong.wanted.dtype.kind in "iu" or wrong.wanted.dtype.name in NARROW_INTEGERS
    if not is_integer or wrong.differs is None or wrong.node is None or wrong.node[0] != "QuantizeLinear":
        return False
    x, scales = (array.astype(np.float64) for array in wrong.node[1][:2])
    quotients = x[wrong.differs][:, None] / scales.reshape(1, -1)
    in_the_middle = np.abs(quotients - np.floor(quotients) - 0.5) < 2.0**-6
    actual, wanted = wrong.elements()
    return bool((np.abs(actual - wanted) == 1).all() and in_the_middle.any(axis=1).all())


def quotients_between_levels(wrong: Wrong) -> bool:
    """Whether the results of a DynamicQuantizeLinear differ by one, because the zero point or a level is nearly in the middle."""
    if wrong.wanted.dtype != np.uint8 or wrong.differs is None or wrong.node is None or wrong.node[0] != "DynamicQuantizeLinear":
        return False
    x = wrong.node[1][0].astype(np.float32)
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = float(np.float32((high - low) / 255))
    places = np.abs(np.append(x[wrong.differs] if wrong.wanted.shape == x.shape else [], low).astype(np.float64) / scale)
    near = np.abs(places - np.floor(places) - 0.5) < 1e-4
    actual, wanted = wrong.elements()
    return bool((np.abs(actual - wanted) == 1).all() and (near[-1] or near[:-1].all()))


def products_between_levels(wrong: Wrong) -> bool:
    """Whether the results of a QLinearMatMul differ by one, because products are nearly in the middle between two levels."""
    if wrong.wanted.dtype.kind not in "iu" or wrong.differs is None or wrong.node is None or wrong.node[0] != "QLinearMatMul":
        return False
    a, a_scale, a_zero, b, b_scale, b_zero, scale = (array.astype(np.float64) for array in wrong.node[1][:7])
    if any(array.size > 1 for array in (a_scale, a_zero, b_scale, b_zero, scale)):
        return False
    products = np.matmul(a - a_zero, b - b_zero) * a_scale * b_scale / scale
    places = np.broadcast_to(products.reshape(wrong.wanted.shape), wrong.wanted.shape)[wrong.differs]
    # Scales of f16 are multiplied in f16 by the reference.
    near = 2.0**-9 if any(wrong.node[1][index].dtype == np.float16 for index in (1, 4, 6)) else 1e-4
    actual, wanted = wrong.elements()
    in_the_middle = np.abs(places - np.floor(places) - 0.5) < near * np.maximum(np.abs(places), 1)
    return bool((np.abs(actual - wanted) == 1).all() and in_the_middle.all())


def rounded_twice(wrong: Wrong) -> bool:
    """Whether numbers in f8 are those next to the right ones, as their f16 is in the middle between both."""
    if wrong.wanted.dtype.name not in ("float8_e4m3fn", "float8_e5m2") or wrong.differs is None or wrong.node is None:
        return False
    if wrong.node[0] not in ("Cast", "CastLike", "QuantizeLinear"):
        return False
    actual, wanted = wrong.elements()
    scales = wrong.node[1][1].astype(np.float32).reshape(-1) if wrong.node[0] == "QuantizeLinear" else np.ones(1, np.float32)
    numbers = wrong.node[1][0][wrong.differs].astype(np.float32)[:, None] / scales
    middles = ((actual + wanted) / 2)[:, None]
    return bool(np.isclose(numbers.astype(np.float16).astype(np.float64), middles, rtol=2.0**-11, atol=0).any(axis=1).all())


def nearly_gelu(wrong: Wrong) -> bool:
    """Whether a factor is nearly that of the approximation of GELU, and the result differs as little."""
    if not wrong.has("Tanh") or wrong.differs is None or wrong.wanted.dtype.kind != "f":
        return False
    factors = [float(array.reshape(-1)[0]) for array in wrong.operands if array.size == 1 and array.dtype.kind == "f"]
    actual, wanted = wrong.elements()
    nearly = any(0 < abs(factor / math.sqrt(2 / math.pi) - 1) < 0.015 for factor in factors)
    return nearly and bool((np.abs(actual - wanted) <= 0.02 * np.abs(wanted) + 1e-3).all())
