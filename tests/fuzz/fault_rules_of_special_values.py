"""Rules for faults of the plugin with infinities and NaN."""

from __future__ import annotations

import numpy as np

from tests.fuzz.wrong_result import LARGEST, Rule, Wrong


def infinities_of_convolutions(wrong: Wrong) -> bool:
    """Whether only infinities differ, of a graph with a convolution after something else, and are large numbers."""
    if wrong.node is not None or not wrong.has("Conv") or wrong.differs is None or not wrong.may_compute_nan():
        return False
    actual, wanted = wrong.elements()
    return bool((np.isinf(wanted) & (np.abs(actual) > LARGEST / 1e3)).all())


def quotients_of_zero(wrong: Wrong) -> bool:
    """Whether infinities are NaN, of a graph that divides what a convolution or product computes by a zero."""
    if wrong.node is not None or not wrong.has("Div") or not wrong.has("Conv", "ConvTranspose", "MatMul", "Gemm") or wrong.differs is None:
        return False
    actual, wanted = wrong.elements()
    zeros = any(array.dtype.kind == "f" and array.size and not array.all() for array in wrong.operands)
    return zeros and bool((np.isnan(actual) & np.isinf(wanted)).all())


def overflowing_norm(wrong: Wrong) -> bool:
    """Whether norms, or lengths of complex numbers, are infinite where they are numbers whose squares are."""
    if not wrong.has("ReduceL2", "abs.default", "linalg_vector_norm.default", "norm.Scalar") or wrong.differs is None:
        return False
    actual, wanted = wrong.elements()
    return bool((np.isinf(actual) & np.isfinite(wanted) & (np.abs(wanted) > np.sqrt(LARGEST) / 2)).all())


CONVERTED = ("Cast", "logical_and", "logical_not", "logical_or", "logical_xor")
"""Conversions to booleans, and functions of Keras whose operands are converted to them."""


def truth_of_nan(wrong: Wrong) -> bool:
    """Whether only NaNs differ, of a conversion to booleans."""
    if wrong.node is None or wrong.node[0] not in CONVERTED or wrong.differs is None or wrong.wanted.dtype != np.bool_:
        return False
    places = [np.isnan(np.broadcast_to(each.astype(np.float64), wrong.wanted.shape)[wrong.differs]) for each in wrong.node[1]]
    return bool(np.any(places, axis=0).all())


def nan_is_lost(*kinds: str) -> Rule:
    """Whether only NaNs differ, of a model with one of some operations."""

    def rule(wrong: Wrong) -> bool:
        if wrong.wanted.dtype.kind not in "fV" or not wrong.has(*kinds) or wrong.differs is None:
            return False
        _, wanted = wrong.elements()
        # Roots and powers of negative numbers are NaN as well.
        return (wrong.may_compute_nan() or wrong.has("Sqrt", "Pow")) and bool(np.isnan(wanted).all())

    return rule


def nan_in(*kinds: str) -> Rule:
    """Whether a model of one operation, which picks some elements of others, has a NaN among them."""
    return lambda wrong: wrong.node is not None and wrong.node[0] in kinds and wrong.has_nan()


def nan_in_a_window(wrong: Wrong) -> bool:
    """Whether only maxima that should be NaN, or minus infinity, differ, or of one operation places, or maxima of channels with a NaN.

    Of padded data few maxima may differ: ONNX Runtime has the largest of the elements after a NaN.
    """
    if not wrong.has("MaxPool", "GlobalMaxPool") or not wrong.has_nan() or wrong.differs is None:
        return False
    if wrong.contents.kinds == {"MaxPool", "Pad"} or (wrong.contents.kinds == {"MaxPool"} and wrong.wanted.dtype.kind != "i"):
        numbers = sum(np.count_nonzero(np.isnan(array)) for array in wrong.operands if array.dtype.kind == "f")
        elements = np.concatenate([array.ravel() for array in wrong.operands if array.dtype.kind == "f"])
        actual, _ = wrong.elements()
        # Where all that a window has besides a NaN is padding, the smallest number is found.
        return np.count_nonzero(wrong.differs) <= 8 * numbers and bool((np.isin(actual, elements) | (actual < -6e4)).all())
    if wrong.wanted.dtype.kind == "i":
        return wrong.node is not None and wrong.node[0] == "MaxPool"
    if wrong.node is not None and wrong.node[0] == "GlobalMaxPool":
        data = wrong.node[1][0].astype(np.float64)
        return bool(np.asarray(np.isnan(data).any(axis=tuple(range(2, data.ndim)), keepdims=True))[wrong.differs].all())
    actual, wanted = wrong.elements()
    return bool((np.isnan(wanted) | ((wanted == -np.inf) & (actual < -6e4))).all())


def extreme(kind: str, infinity: float) -> Rule:
    def rule(wrong: Wrong) -> bool:
        if not wrong.has(kind) or wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
            return False
        actual, wanted = wrong.elements()
        return bool(((wanted == infinity) & (np.sign(actual) == np.sign(infinity)) & (np.abs(actual) > 6e4)).all())

    return rule


def places_of_infinities(wrong: Wrong) -> bool:
    """Whether places of maxima differ, which may be those of the smallest numbers."""
    if not wrong.has("MaxPool") or wrong.wanted.dtype != np.int64:
        return False
    data = wrong.operands[0]
    lowest = -np.inf if data.dtype.kind not in "iu" else np.iinfo(data.dtype).min
    return bool((data.astype(np.float64) == lowest).any())


def nan_constants(wrong: Wrong) -> bool:
    """Whether only NaNs differ, of a model with a NaN among constants of one element."""
    if wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
        return False
    _, wanted = wrong.elements()
    constant = any(array.size == 1 and array.dtype.kind == "f" and np.isnan(array).all() for array in wrong.operands)
    return constant and bool(np.isnan(wanted).all())


def infinite_gelu(wrong: Wrong) -> bool:
    """Whether the only elements that differ are infinite results of a Gelu, or of what the runtime takes for one."""
    if not wrong.has("Gelu", "Erf", "Tanh") or wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
        return False
    actual, wanted = wrong.elements()
    return bool((np.isnan(actual) & (wanted == np.inf)).all())
