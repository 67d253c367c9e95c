"""Rules for faults of the plugin with sizes, ranks, places, and values without elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.fuzz.comparison import tolerances
from tests.fuzz.fault_rules_of_special_values import nan_constants
from tests.fuzz.wrong_result import Rule, Wrong
from tests.numerical.outcomes import mismatch


def matrices_of_one_batch(wrong: Wrong) -> bool:
    """Whether sizes are wrong of a product of one matrix, or a batch of one, with several matrices."""
    if not wrong.has("MatMul") or wrong.differs is not None or wrong.actual.ndim != wrong.wanted.ndim:
        return False
    batches = [array.shape[-3] if array.ndim > 2 else 1 for array in wrong.operands if array.ndim > 1]
    return 1 in batches and max(batches) > 1


def broadcast_to_nothing(wrong: Wrong) -> bool:
    """Whether a result that should have no element has some, of a graph with a NaN that replaces all elements."""
    return wrong.node is None and wrong.wanted.size == 0 and wrong.actual.size > 0 and wrong.has_nan() and wrong.has("Min", "Max")


def nothing_collected(wrong: Wrong) -> bool:
    """Whether a model with a loop that does not run has a result without elements, which should have some."""
    if not wrong.has("Loop") or wrong.wanted.size == 0 or wrong.actual.ndim != wrong.wanted.ndim:
        return False
    trips = [array for array in wrong.operands if array.dtype.kind == "i" and array.ndim == 0]
    return wrong.actual.size == 0 and any(not array for array in trips)


def resized_batch(wrong: Wrong) -> bool:
    """Whether a model of one operation resizes images in numbers or channels too."""
    if wrong.node is None or wrong.node[0] != "Resize" or wrong.wanted.ndim != 4:
        return False
    return wrong.actual.shape == wrong.wanted.shape and wrong.operands[0].shape[:2] != wrong.wanted.shape[:2]


def two_columns(wrong: Wrong) -> bool:
    """Whether a model has a product of two columns and at most two summands, and something after it, and all results are finite."""
    if not wrong.has("MatMul", "Gemm") or (wrong.node is not None and wrong.node[0] != "Gemm"):
        return False
    if wrong.node is None and len(wrong.contents.kinds) < 3:
        return False
    if wrong.differs is None or wrong.wanted.dtype.kind != "f" or wrong.wanted.shape[-1:] != (2,):
        return False
    matrices = [array for array in wrong.operands if array.ndim > 1 and {*array.shape[-2:]} <= {1, 2} and 2 in array.shape[-2:]]
    return bool(matrices) and bool(np.isfinite(wrong.elements()[0]).all())


def products_of_nothing(wrong: Wrong) -> bool:
    products = ("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
    return wrong.has(*products) and any(array.size == 0 for array in wrong.operands)


def nothing(*kinds: str) -> Rule:
    """Whether the shape of a result is wrong of a model with one of some operations, where data have no element."""
    return lambda wrong: wrong.has(*kinds) and wrong.differs is None and any(array.size == 0 for array in [*wrong.operands, wrong.wanted])


def nothing_in(*kinds: str) -> Rule:
    """Whether sizes of an empty result are wrong, which is empty all the same, of a model of one of some operations."""
    return lambda wrong: wrong.node is not None and wrong.node[0] in kinds and other_sizes_of_nothing(wrong)


def other_sizes_of_nothing(wrong: Wrong) -> bool:
    return wrong.actual.size == wrong.wanted.size == 0 and wrong.actual.ndim == wrong.wanted.ndim


def no_string(wrong: Wrong) -> bool:
    """Whether sizes of an empty result are wrong, which is empty all the same, of a model of one operation on strings.

    Where a text has no piece, the number of pieces may be wrong as well.
    """
    if wrong.has("StringSplit", "TextVectorization") and wrong.wanted.dtype == np.int64:
        return not wrong.wanted.any()
    has_strings = any(array.dtype.kind in "OUS" for array in [*wrong.operands, wrong.wanted])
    return wrong.node is not None and has_strings and other_sizes_of_nothing(wrong)


def padding_alone(*kinds: str) -> Rule:
    """Whether numbers are wrong of a model of one of some operations, whose images have no element."""

    def rule(wrong: Wrong) -> bool:
        return wrong.node is not None and wrong.node[0] in kinds and wrong.differs is not None and 0 in wrong.node[1][0].shape[2:]

    return rule


def constant_keys(wrong: Wrong) -> bool:
    """Whether an Attention of several heads in bf16 is wrong."""
    if wrong.node is None or wrong.node[0] != "Attention" or wrong.differs is None:
        return False
    keys = wrong.node[1][1]
    return keys.dtype.name == "bfloat16" and (keys.ndim < 4 or keys.shape[1] > 1)


def swapped_strides(wrong: Wrong) -> bool:
    """Whether a convolution of several images or volumes of one channel is one element wide."""
    if wrong.node is None or wrong.node[0] not in ("Conv", "QLinearConv", "ConvInteger") or wrong.differs is None:
        return False
    images = wrong.node[1][0].shape
    return len(images) in (4, 5) and images[0] > 1 and images[1] == 1 and wrong.wanted.shape[-1] == 1


def mean_of_nothing(wrong: Wrong) -> bool:
    if wrong.node is None or wrong.node[0] not in ("GlobalAveragePool", "Mean", "ReduceMean") or wrong.differs is None:
        return False
    return wrong.node[1][0].size == 0 and bool(np.isnan(wrong.wanted[wrong.differs].astype(np.float64)).all())


def other_axes(wrong: Wrong) -> bool:
    """Whether a graph divides by a standard deviation and has lists of different axes."""
    if not wrong.has("ReduceMean") or not wrong.has("Sqrt", "Pow") or wrong.differs is None:
        return False
    axes = {tuple(sorted(array.tolist())) for array in wrong.operands if array.dtype == np.int64 and array.ndim == 1}
    return len(axes) > 1


def has_one_instead_of_more(wrong: Wrong) -> bool:
    """Whether sizes are 1 where they should be those of a constant."""
    if wrong.differs is not None or wrong.actual.ndim > wrong.wanted.ndim:
        return False
    actual = (1,) * (wrong.wanted.ndim - wrong.actual.ndim) + wrong.actual.shape
    return all(size in (1, wanted) for size, wanted in zip(actual, wrong.wanted.shape, strict=True))


def loses_elements_of_slopes(wrong: Wrong) -> bool:
    """Whether a result lacks channels, or results of unknown sizes that come of it are empty."""
    return has_one_instead_of_more(wrong) or (wrong.differs is None and wrong.actual.size == 0 and wrong.actual.ndim == wrong.wanted.ndim)


def lost_dimensions(wrong: Wrong) -> bool:
    """Whether dimensions of 1 in front are lost, which constants add to values of unknown rank."""
    if wrong.contents.ranks_are_known or wrong.actual.ndim >= wrong.wanted.ndim:
        return False
    lead = wrong.wanted.shape[: wrong.wanted.ndim - wrong.actual.ndim]
    if set(lead) != {1}:
        return False
    actual = wrong.actual.reshape(wrong.wanted.shape)
    if not mismatch(actual, wrong.wanted, *tolerances(wrong.wanted)):
        return True
    # With a NaN among the constants all of it is wrong.
    return nan_constants(replace(wrong, actual=actual, differs=np.isnan(wrong.wanted))) and bool(np.isnan(wrong.wanted).all())
