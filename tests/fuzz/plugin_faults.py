"""Wrong results that are faults of the CPU plugin, by their names in docs/plugin-faults.md.

A rule looks at the elements that differ and at the operations of the model, and recognises exactly one fault: if any
element differs in another way, the case is a defect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.fuzz.case import Contents, Source
from tests.fuzz.comparison import tolerances
from tests.fuzz.draw import NARROW_INTEGERS, Array
from tests.numerical.outcomes import mismatch

LARGEST = float(np.finfo(np.float32).max)
INEXACT = 2**24
"""From this integer on, f32 does not have all integers."""


@dataclass(frozen=True)
class Wrong:
    """One result that differs.

    Args:
        contents: what the model is made of.
        found, wanted: the whole result.
        differs: which elements differ; None if the shapes do.
    """

    contents: Contents
    found: Array
    wanted: Array
    differs: Array | None

    @property
    def operands(self) -> Sequence[Array]:
        """The values of inputs and constants."""
        return self.contents.operands

    @property
    def node(self) -> tuple[str, Sequence[Array]] | None:
        """The kind and the operands of a model of one operation."""
        return self.contents.node

    def elements(self) -> tuple[Array, Array]:
        """The elements that differ, as found and as wanted, in f64."""
        assert self.differs is not None
        return self.found[self.differs].astype(np.float64), self.wanted[self.differs].astype(np.float64)

    def has(self, *kinds: str) -> bool:
        """Whether the model has one of several operations."""
        return not self.contents.kinds.isdisjoint(kinds)

    def has_nan(self) -> bool:
        """Whether an operand has a NaN."""
        return any(array.dtype.kind in "fV" and np.isnan(array.astype(np.float64)).any() for array in self.operands)

    def may_compute_nan(self) -> bool:
        """Whether an operand has a NaN, or an infinity, of which NaNs are computed."""
        return any(array.dtype.kind in "fV" and not np.isfinite(array.astype(np.float64)).all() for array in self.operands)


Rule = Callable[[Wrong], bool]


def _infinities_of_f64(wrong: Wrong) -> bool:
    if not any(array.dtype == np.float64 for array in [*wrong.operands, wrong.wanted]) or wrong.differs is None:
        return False
    if wrong.wanted.dtype == np.bool_:
        return wrong.has("IsInf") and bool(wrong.wanted[wrong.differs].all())
    found, wanted = wrong.elements()
    largest = np.isclose(np.abs(found), LARGEST) & (np.abs(wanted) >= LARGEST) & (np.sign(found) == np.sign(wanted))
    # What is computed of an infinity may be a number if it is computed of the largest one.
    return bool((largest | ((~np.isfinite(wanted) | np.isnan(found)) & wrong.may_compute_nan())).all())


def _limit_of_u32(wrong: Wrong) -> bool:
    if wrong.wanted.dtype != np.uint32 or wrong.differs is None:
        return False
    found, wanted = wrong.elements()
    return bool(((wanted >= 2**31) & (found == 2**31 - 1)).all())


def _wide(wrong: Wrong) -> bool:
    """Whether only integers of more than 32 bits differ, or the bounds of a Slice are such."""
    if wrong.node is not None and wrong.node[0] == "Slice":
        return any(array.dtype == np.int64 and (np.abs(array.astype(np.float64)) > 2**31).any() for array in wrong.node[1][1:])
    if wrong.wanted.dtype not in (np.int64, np.uint64) or wrong.differs is None:
        return False
    return bool((np.abs(wrong.elements()[1]) >= 2**31 - 1).all())


def _in_f32(*kinds: str) -> Rule:
    """Whether integers differ as much as f32 does from them."""

    def rule(wrong: Wrong) -> bool:
        if wrong.wanted.dtype.kind not in "iu" or not wrong.has(*kinds) or wrong.differs is None:
            return False
        found, wanted = wrong.elements()
        large = any(np.abs(array.astype(np.float64)).max(initial=0) >= INEXACT for array in wrong.operands if array.dtype.kind in "iu")
        # Numbers that f32 rounds to 2³¹ overflow, as the quotient of the smallest number and -1 does.
        near = (np.abs(found - wanted) <= np.maximum(np.abs(wanted), INEXACT) / INEXACT * 4) | (np.abs(wanted) >= 2**31 - 64)
        return large and bool(near.all())

    return rule


def _compared_in_f32(wrong: Wrong) -> bool:
    """Whether a comparison of integers is wrong that are equal in f32, though they are not."""
    kinds = ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "LessEqual", "GreaterEqual")
    if wrong.node is None or wrong.node[0] not in kinds or wrong.differs is None:
        return False
    if any(array.dtype.kind not in "iu" for array in wrong.node[1]):
        return False
    first, second = (np.broadcast_to(array, wrong.wanted.shape)[wrong.differs] for array in wrong.node[1])
    return bool(((first != second) & (first.astype(np.float32) == second.astype(np.float32))).all())


def _infinities_of_convolutions(wrong: Wrong) -> bool:
    """Whether only infinities differ, of a graph with a convolution behind something else, and are large numbers."""
    if wrong.node is not None or not wrong.has("Conv") or wrong.differs is None or not wrong.may_compute_nan():
        return False
    found, wanted = wrong.elements()
    return bool((np.isinf(wanted) & (np.abs(found) > LARGEST / 1e3)).all())


def _lost_convolutions(wrong: Wrong) -> bool:
    """Whether numbers are wrong of a graph that adds something to convolutions of signals to one element."""
    if wrong.node is not None or not wrong.has("Conv") or not wrong.has("Add", "Sub") or wrong.differs is None:
        return False
    return wrong.wanted.ndim == 3 and wrong.wanted.shape[-1] == 1


def _quotients_of_zero(wrong: Wrong) -> bool:
    """Whether infinities are NaN, of a graph that divides what a convolution or product computes by a zero."""
    if wrong.node is not None or not wrong.has("Div") or not wrong.has("Conv", "ConvTranspose", "MatMul", "Gemm") or wrong.differs is None:
        return False
    found, wanted = wrong.elements()
    zeros = any(array.dtype.kind == "f" and array.size and not array.all() for array in wrong.operands)
    return zeros and bool((np.isnan(found) & np.isinf(wanted)).all())


def _matrices_of_one_batch(wrong: Wrong) -> bool:
    """Whether sizes are wrong of a product of one matrix, or a batch of one, with several matrices."""
    if not wrong.has("MatMul") or wrong.differs is not None or wrong.found.ndim != wrong.wanted.ndim:
        return False
    batches = [array.shape[-3] if array.ndim > 2 else 1 for array in wrong.operands if array.ndim > 1]
    return 1 in batches and max(batches) > 1


def _truth_of_nan(wrong: Wrong) -> bool:
    """Whether only NaNs differ, of a conversion to booleans."""
    if wrong.node is None or wrong.node[0] != "Cast" or wrong.differs is None or wrong.wanted.dtype != np.bool_:
        return False
    return bool(np.isnan(wrong.node[1][0].astype(np.float64)[wrong.differs]).all())


def _broadcast_to_nothing(wrong: Wrong) -> bool:
    """Whether a result that should have no element has some, of a graph with a NaN that replaces all elements."""
    return wrong.node is None and wrong.wanted.size == 0 and wrong.found.size > 0 and wrong.has_nan() and wrong.has("Min", "Max")


def _nothing_collected(wrong: Wrong) -> bool:
    """Whether a model with a loop that does not run has a result without elements, which should have some."""
    if not wrong.has("Loop") or wrong.wanted.size == 0 or wrong.found.ndim != wrong.wanted.ndim:
        return False
    trips = [array for array in wrong.operands if array.dtype.kind == "i" and array.ndim == 0]
    return wrong.found.size == 0 and any(not array for array in trips)


def _remainders(wrong: Wrong) -> bool:
    """Integer remainders of numbers that f32 does not have."""
    if wrong.wanted.dtype.kind not in "iu" or wrong.differs is None or wrong.node is None or wrong.node[0] != "Mod":
        return False
    a, b = (np.broadcast_to(operand.astype(np.float64), wrong.wanted.shape)[wrong.differs] for operand in wrong.node[1])
    return bool((np.maximum(np.abs(a), np.abs(b)) >= INEXACT).all())


def _quotients(wrong: Wrong) -> bool:
    """Remainders of floats that differ by no more than a - b * trunc(a / b) in f32 does."""
    if wrong.wanted.dtype.kind not in "fV" or wrong.differs is None or wrong.node is None or wrong.node[0] != "Mod":
        return False
    a, b = (np.broadcast_to(operand.astype(np.float64), wrong.wanted.shape)[wrong.differs] for operand in wrong.node[1])
    found, wanted = wrong.elements()
    with np.errstate(all="ignore"):
        near = np.abs(found - wanted) <= np.abs(a) * 4 / INEXACT
        # The remainder of a number that is nearly a multiple is nearly b, or 0.
        turned = np.abs(np.abs(found - wanted) - np.abs(b)) <= np.abs(a) * 4 / INEXACT
        return bool((near | turned | (np.abs(a / b) >= INEXACT / 2) | np.isinf(b)).all())


def _infinite_divisors(wrong: Wrong) -> bool:
    if wrong.wanted.dtype.kind != "f" or wrong.differs is None or wrong.node is None or wrong.node[0] != "Mod":
        return False
    return bool(np.isinf(np.broadcast_to(wrong.node[1][1], wrong.wanted.shape)[wrong.differs]).all())


def _resized_batch(wrong: Wrong) -> bool:
    """Whether a model of one operation resizes images in numbers or channels too."""
    if wrong.node is None or wrong.node[0] != "Resize" or wrong.wanted.ndim != 4:
        return False
    return wrong.found.shape == wrong.wanted.shape and wrong.operands[0].shape[:2] != wrong.wanted.shape[:2]


def _nan_is_lost(*kinds: str) -> Rule:
    """Whether only NaNs differ, of a model with one of some operations."""

    def rule(wrong: Wrong) -> bool:
        if wrong.wanted.dtype.kind not in "fV" or not wrong.has(*kinds) or wrong.differs is None:
            return False
        _, wanted = wrong.elements()
        # Roots and powers of negative numbers are NaN as well.
        return (wrong.may_compute_nan() or wrong.has("Sqrt", "Pow")) and bool(np.isnan(wanted).all())

    return rule


def _nan_in(*kinds: str) -> Rule:
    """Whether a model of one operation, which picks some elements of others, has a NaN among them."""
    return lambda wrong: wrong.node is not None and wrong.node[0] in kinds and wrong.has_nan()


def _nan_in_a_window(wrong: Wrong) -> bool:
    """Whether only maxima that should be NaN, or minus infinity, differ, or of one operation places, or maxima of channels with a NaN.

    Of padded data few maxima may differ: ONNX Runtime has the largest of the elements behind a NaN.
    """
    if not wrong.has("MaxPool", "GlobalMaxPool") or not wrong.has_nan() or wrong.differs is None:
        return False
    if wrong.contents.kinds == {"MaxPool", "Pad"} or (wrong.contents.kinds == {"MaxPool"} and wrong.wanted.dtype.kind != "i"):
        numbers = sum(np.count_nonzero(np.isnan(array)) for array in wrong.operands if array.dtype.kind == "f")
        elements = np.concatenate([array.ravel() for array in wrong.operands if array.dtype.kind == "f"])
        found, _ = wrong.elements()
        # Where all that a window has besides a NaN is padding, the smallest number is found.
        return np.count_nonzero(wrong.differs) <= 8 * numbers and bool((np.isin(found, elements) | (found < -6e4)).all())
    if wrong.wanted.dtype.kind == "i":
        return wrong.node is not None and wrong.node[0] == "MaxPool"
    if wrong.node is not None and wrong.node[0] == "GlobalMaxPool":
        data = wrong.node[1][0].astype(np.float64)
        return bool(np.asarray(np.isnan(data).any(axis=tuple(range(2, data.ndim)), keepdims=True))[wrong.differs].all())
    found, wanted = wrong.elements()
    return bool((np.isnan(wanted) | ((wanted == -np.inf) & (found < -6e4))).all())


def _extreme(kind: str, infinity: float) -> Rule:
    def rule(wrong: Wrong) -> bool:
        if not wrong.has(kind) or wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
            return False
        found, wanted = wrong.elements()
        return bool(((wanted == infinity) & (np.sign(found) == np.sign(infinity)) & (np.abs(found) > 6e4)).all())

    return rule


def _places_of_infinities(wrong: Wrong) -> bool:
    """Whether places of maxima differ, which may be those of the smallest numbers."""
    if not wrong.has("MaxPool") or wrong.wanted.dtype != np.int64:
        return False
    data = wrong.operands[0]
    lowest = -np.inf if data.dtype.kind not in "iu" else np.iinfo(data.dtype).min
    return bool((data.astype(np.float64) == lowest).any())


def _overflowing_soft_plus(wrong: Wrong) -> bool:
    """Whether the only elements that differ are large numbers instead of the logarithm of an infinite sum."""
    if not ({"Exp", "Log"} <= wrong.contents.kinds) or wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
        return False
    found, wanted = wrong.elements()
    return bool(((wanted == np.inf) & np.isfinite(found) & (found > np.log(LARGEST))).all())


def _two_columns(wrong: Wrong) -> bool:
    """Whether a model has a product of two columns and at most two summands, and something behind it, and all results are finite."""
    if not wrong.has("MatMul", "Gemm") or (wrong.node is not None and wrong.node[0] != "Gemm"):
        return False
    if wrong.node is None and len(wrong.contents.kinds) < 3:
        return False
    if wrong.differs is None or wrong.wanted.dtype.kind != "f" or wrong.wanted.shape[-1:] != (2,):
        return False
    matrices = [array for array in wrong.operands if array.ndim > 1 and {*array.shape[-2:]} <= {1, 2} and 2 in array.shape[-2:]]
    return bool(matrices) and bool(np.isfinite(wrong.elements()[0]).all())


def _products_of_nothing(wrong: Wrong) -> bool:
    products = ("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
    return wrong.has(*products) and any(array.size == 0 for array in wrong.operands)


def _nan_constants(wrong: Wrong) -> bool:
    """Whether only NaNs differ, of a model with a NaN among constants of one element."""
    if wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
        return False
    _, wanted = wrong.elements()
    constant = any(array.size == 1 and array.dtype.kind == "f" and np.isnan(array).all() for array in wrong.operands)
    return constant and bool(np.isnan(wanted).all())


def _powers_of_two(wrong: Wrong) -> bool:
    return wrong.wanted.dtype.name == "float8_e8m0fnu" and wrong.differs is not None


def _nothing(*kinds: str) -> Rule:
    """Whether the shape of a result is wrong of a model with one of some operations, where data have no element."""
    return lambda wrong: wrong.has(*kinds) and wrong.differs is None and any(array.size == 0 for array in [*wrong.operands, wrong.wanted])


def _nothing_in(*kinds: str) -> Rule:
    """Whether sizes of an empty result are wrong, which is empty all the same, of a model of one of some operations."""
    return lambda wrong: wrong.node is not None and wrong.node[0] in kinds and _other_sizes_of_nothing(wrong)


def _other_sizes_of_nothing(wrong: Wrong) -> bool:
    return wrong.found.size == wrong.wanted.size == 0 and wrong.found.ndim == wrong.wanted.ndim


def _infinite_gelu(wrong: Wrong) -> bool:
    """Whether the only elements that differ are infinite results of a Gelu, or of what the runtime takes for one."""
    if not wrong.has("Gelu", "Erf", "Tanh") or wrong.wanted.dtype.kind not in "fV" or wrong.differs is None:
        return False
    found, wanted = wrong.elements()
    return bool((np.isnan(found) & (wanted == np.inf)).all())


def _no_string(wrong: Wrong) -> bool:
    """Whether sizes of an empty result are wrong, which is empty all the same, of a model of one operation on strings.

    Where a text has no piece, the number of pieces may be wrong as well.
    """
    if wrong.has("StringSplit") and wrong.wanted.dtype == np.int64:
        return not wrong.wanted.any()
    has_strings = any(array.dtype.kind in "OUS" for array in [*wrong.operands, wrong.wanted])
    return wrong.node is not None and has_strings and _other_sizes_of_nothing(wrong)


def _more_images_added(wrong: Wrong) -> bool:
    """Whether sizes are wrong, of a graph that adds something to a convolution, and the result is larger than one input."""
    if not wrong.has("Conv") or not wrong.has("Add", "Sub") or wrong.differs is not None or wrong.found.ndim != wrong.wanted.ndim:
        return False
    images = [array.shape for array in wrong.operands if array.ndim == wrong.wanted.ndim]
    return len(images) < len(wrong.operands) or any(np.less(shape, wrong.wanted.shape).any() for shape in images)


def _padding_alone(*kinds: str) -> Rule:
    """Whether numbers are wrong of a model of one of some operations, whose images have no element."""

    def rule(wrong: Wrong) -> bool:
        return wrong.node is not None and wrong.node[0] in kinds and wrong.differs is not None and 0 in wrong.node[1][0].shape[2:]

    return rule


def _between_levels(wrong: Wrong) -> bool:
    """Whether levels differ by one of numbers that are nearly in the middle between two of them."""
    if wrong.node is not None and wrong.node[0].startswith("FakeQuant") and wrong.differs is not None:
        found, wanted = wrong.elements()
        x = wrong.node[1][0][wrong.differs].astype(np.float64)
        return bool(np.allclose(np.abs(found - x), np.abs(wanted - x), rtol=2.0**-6))
    is_integer = wrong.wanted.dtype.kind in "iu" or wrong.wanted.dtype.name in NARROW_INTEGERS
    if not is_integer or wrong.differs is None or wrong.node is None or wrong.node[0] != "QuantizeLinear":
        return False
    x, scales = (array.astype(np.float64) for array in wrong.node[1][:2])
    quotients = x[wrong.differs][:, None] / scales.reshape(1, -1)
    in_the_middle = np.abs(quotients - np.floor(quotients) - 0.5) < 2.0**-6
    found, wanted = wrong.elements()
    return bool((np.abs(found - wanted) == 1).all() and in_the_middle.any(axis=1).all())


def _quotients_between_levels(wrong: Wrong) -> bool:
    """Whether the results of a DynamicQuantizeLinear differ by one, because the zero point or a level is nearly in the middle."""
    if wrong.wanted.dtype != np.uint8 or wrong.differs is None or wrong.node is None or wrong.node[0] != "DynamicQuantizeLinear":
        return False
    x = wrong.node[1][0].astype(np.float32)
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = float(np.float32((high - low) / 255))
    places = np.abs(np.append(x[wrong.differs] if wrong.wanted.shape == x.shape else [], low).astype(np.float64) / scale)
    near = np.abs(places - np.floor(places) - 0.5) < 1e-4
    found, wanted = wrong.elements()
    return bool((np.abs(found - wanted) == 1).all() and (near[-1] or near[:-1].all()))


def _products_between_levels(wrong: Wrong) -> bool:
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
    found, wanted = wrong.elements()
    in_the_middle = np.abs(places - np.floor(places) - 0.5) < near * np.maximum(np.abs(places), 1)
    return bool((np.abs(found - wanted) == 1).all() and in_the_middle.all())


def _constant_keys(wrong: Wrong) -> bool:
    """Whether an Attention of several heads in bf16 is wrong."""
    if wrong.node is None or wrong.node[0] != "Attention" or wrong.differs is None:
        return False
    keys = wrong.node[1][1]
    return keys.dtype.name == "bfloat16" and (keys.ndim < 4 or keys.shape[1] > 1)


def _one_bias(wrong: Wrong) -> bool:
    """Whether only channels behind the first differ, of a quantized convolution with a bias."""
    if wrong.node is None or wrong.node[0] != "QLinearConv" or wrong.differs is None:
        return False
    return wrong.node[1][-1].dtype == np.int32 and wrong.differs.ndim > 1 and not wrong.differs[:, 0].any()


def _rounded_twice(wrong: Wrong) -> bool:
    """Whether numbers in f8 are those next to the right ones, as their f16 is in the middle between both."""
    if wrong.wanted.dtype.name not in ("float8_e4m3fn", "float8_e5m2") or wrong.differs is None or wrong.node is None:
        return False
    if wrong.node[0] not in ("Cast", "CastLike", "QuantizeLinear"):
        return False
    found, wanted = wrong.elements()
    scales = wrong.node[1][1].astype(np.float32).reshape(-1) if wrong.node[0] == "QuantizeLinear" else np.ones(1, np.float32)
    numbers = wrong.node[1][0][wrong.differs].astype(np.float32)[:, None] / scales
    middles = ((found + wanted) / 2)[:, None]
    return bool(np.isclose(numbers.astype(np.float16).astype(np.float64), middles, rtol=2.0**-11, atol=0).any(axis=1).all())


def _swapped_strides(wrong: Wrong) -> bool:
    """Whether a convolution of several images or volumes of one channel is one element wide."""
    if wrong.node is None or wrong.node[0] not in ("Conv", "QLinearConv", "ConvInteger") or wrong.differs is None:
        return False
    images = wrong.node[1][0].shape
    return len(images) in (4, 5) and images[0] > 1 and images[1] == 1 and wrong.wanted.shape[-1] == 1


def _mean_of_nothing(wrong: Wrong) -> bool:
    if wrong.node is None or wrong.node[0] not in ("GlobalAveragePool", "Mean", "ReduceMean") or wrong.differs is None:
        return False
    return wrong.node[1][0].size == 0 and bool(np.isnan(wrong.wanted[wrong.differs].astype(np.float64)).all())


def _nearly_gelu(wrong: Wrong) -> bool:
    """Whether a factor is nearly that of the approximation of GELU, and the result differs as little."""
    if not wrong.has("Tanh") or wrong.differs is None or wrong.wanted.dtype.kind != "f":
        return False
    factors = [float(array.reshape(-1)[0]) for array in wrong.operands if array.size == 1 and array.dtype.kind == "f"]
    found, wanted = wrong.elements()
    nearly = any(0 < abs(factor / math.sqrt(2 / math.pi) - 1) < 0.015 for factor in factors)
    return nearly and bool((np.abs(found - wanted) <= 0.02 * np.abs(wanted) + 1e-3).all())


def _other_axes(wrong: Wrong) -> bool:
    """Whether a graph divides by a standard deviation and has lists of different axes."""
    if not wrong.has("ReduceMean") or not wrong.has("Sqrt", "Pow") or wrong.differs is None:
        return False
    axes = {tuple(sorted(array.tolist())) for array in wrong.operands if array.dtype == np.int64 and array.ndim == 1}
    return len(axes) > 1


def _has_one_instead_of_more(wrong: Wrong) -> bool:
    """Whether sizes are 1 where they should be those of a constant."""
    if wrong.differs is not None or wrong.found.ndim > wrong.wanted.ndim:
        return False
    found = (1,) * (wrong.wanted.ndim - wrong.found.ndim) + wrong.found.shape
    return all(size in (1, wanted) for size, wanted in zip(found, wrong.wanted.shape, strict=True))


def _loses_elements_of_slopes(wrong: Wrong) -> bool:
    """Whether a result lacks channels, or results of unknown sizes that come of it are empty."""
    return _has_one_instead_of_more(wrong) or (wrong.differs is None and wrong.found.size == 0 and wrong.found.ndim == wrong.wanted.ndim)


def _lost_dimensions(wrong: Wrong) -> bool:
    """Whether dimensions of 1 in front are lost, which constants add to values of unknown rank."""
    if wrong.contents.ranks_are_known or wrong.found.ndim >= wrong.wanted.ndim:
        return False
    lead = wrong.wanted.shape[: wrong.wanted.ndim - wrong.found.ndim]
    if set(lead) != {1}:
        return False
    found = wrong.found.reshape(wrong.wanted.shape)
    if not mismatch(found, wrong.wanted, *tolerances(wrong.wanted)):
        return True
    # With a NaN among the constants all of it is wrong.
    return _nan_constants(replace(wrong, found=found, differs=np.isnan(wrong.wanted))) and bool(np.isnan(wrong.wanted).all())


ADDING_ELEMENTS = frozenset(("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "OneHotEncoder"))
"""Operations that are elementwise, of operands that add elements to each other."""

RULES: Mapping[str, Rule] = {
    "f64-infinity": _infinities_of_f64,
    "i64-width": _wide,
    "u32-constant": _limit_of_u32,
    "i32-power": _in_f32("Pow"),
    "i32-sum": _in_f32("ReduceSum", "ReduceProd", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "CumSum"),
    "i32-extremes": _in_f32("ReduceMax", "ReduceMin"),
    "i32-quotient": _in_f32("Div"),
    "i32-remainder": _remainders,
    "i32-product-of-matrices": _in_f32("MatMul", "Gemm", "MatMulInteger", "ConvInteger", "Einsum"),
    "i32-reverse": _in_f32("ReverseSequence"),
    "i32-comparison": _compared_in_f32,
    "i32-select": _in_f32("Trilu", "Where"),
    "relu-nan": _nan_is_lost("Relu", "LeakyRelu"),
    "exp-nan": _nan_is_lost("Exp", "Expm1", "Softmax", "LogSoftmax", "Celu", "ReduceLogSumExp"),
    "convert-nan": _truth_of_nan,
    "clamp-nan": _nan_is_lost("Clip", "Relu6"),
    "maximum-nan": _nan_is_lost("Max"),
    "minimum-nan": _nan_is_lost("Min"),
    "hard-sigmoid-nan": _nan_is_lost("HardSigmoid"),
    "normalize-nan": _nan_is_lost("LpNormalization"),
    "scatter-nan": _nan_in("ScatterND", "ScatterElements"),
    "max-pool-infinity": lambda wrong: _extreme("MaxPool", -np.inf)(wrong) or _places_of_infinities(wrong),
    "max-pool-nan": _nan_in_a_window,
    "gelu-infinity": _infinite_gelu,
    "topk-nan": _nan_in("TopK", "ArgMax", "ArgMin", "Hardmax"),
    "reduce-nan": _nan_in("ReduceMax", "ReduceMin"),
    "reduce-max-infinity": _extreme("ReduceMax", -np.inf),
    "reduce-min-infinity": _extreme("ReduceMin", np.inf),
    "mod-infinity": _infinite_divisors,
    "mod-quotient": _quotients,
    "loop-empty-state": _nothing("Loop", "Scan"),
    "soft-plus-overflow": _overflowing_soft_plus,
    "two-columns": _two_columns,
    "matmul-empty": _products_of_nothing,
    "fused-nan": _nan_constants,
    "f32-quotient": lambda wrong: _quotients_between_levels(wrong) or _products_between_levels(wrong),
    "quantize-middle": _between_levels,
    "quantize-sum": _one_bias,
    "f8-rounding": _rounded_twice,
    "e8m0-rounding": _powers_of_two,
    "unique-empty": lambda wrong: wrong.has("Unique") and wrong.operands[0].size == 0,
    "gelu-constants": _nearly_gelu,
    "normalization-axes": _other_axes,
    "normalization-shape": lambda wrong: wrong.has("ReduceMean") and wrong.has("Sqrt", "Pow") and _has_one_instead_of_more(wrong),
    "prelu-shape": lambda wrong: wrong.has("Relu") and wrong.has("Neg", "Min") and _loses_elements_of_slopes(wrong),
    # TensorFlow's patches are transposed before and behind.
    "transpose-empty": _nothing_in("Transpose", "ExtractImagePatches"),
    "elementwise-empty": lambda wrong: wrong.node is not None and wrong.node[0] in ADDING_ELEMENTS and _other_sizes_of_nothing(wrong),
    "unsqueeze-empty": lambda wrong: wrong.has("Unsqueeze") and _other_sizes_of_nothing(wrong),
    "concat-empty": lambda wrong: wrong.has("Complex", "Concat", "ConcatFromSequence") and _other_sizes_of_nothing(wrong),
    "pool-empty": _nothing_in("MaxPool", "AveragePool", "LpPool"),
    "attention-keys": _constant_keys,
    "average-pool-empty": _padding_alone("AveragePool", "LpPool"),
    "top-k-empty": _nothing_in("TopK"),
    "strings-empty": _no_string,
    "convolution-of-one-channel": _swapped_strides,
    "convolution-sum": _more_images_added,
    "convolution-infinity": _infinities_of_convolutions,
    "convolution-of-the-whole": _lost_convolutions,
    "matmul-batch": _matrices_of_one_batch,
    "resize-batch": _resized_batch,
    "zero-divisor": _quotients_of_zero,
    "broadcast-empty": _broadcast_to_nothing,
    "loop-never": _nothing_collected,
    "convolution-empty": _padding_alone("Conv", "QLinearConv", "ConvInteger"),
    "mean-empty": _mean_of_nothing,
    "gelu-rank": _lost_dimensions,
}
"""What recognises each fault, by its name in the document."""


def fault_of(source: Source, inputs: Mapping[str, Array], results: Sequence[Array], expected: Sequence[Array]) -> str:
    """The fault that explains all differences of results, several joined by commas; empty if any is not explained."""
    if len(results) != len(expected):
        return ""
    names: list[str] = []
    for wrong in _wrong(source.contents(inputs), results, expected):
        name = next((name for name, rule in RULES.items() if rule(wrong)), "")
        if not name:
            return ""
        names.append(name)
    return ", ".join(dict.fromkeys(names))


def _wrong(contents: Contents, results: Sequence[Array], expected: Sequence[Array]) -> Iterator[Wrong]:
    """The results that differ."""
    for found, wanted in zip(results, expected, strict=True):
        if not mismatch(found, wanted, *tolerances(wanted)):
            continue
        differs = None
        if found.shape == wanted.shape and found.dtype == wanted.dtype and wanted.dtype.kind in "fViub":
            relative, absolute = tolerances(wanted)
            left, right = (each.astype(np.float64) for each in (found, wanted))
            differs = ~np.isclose(left, right, rtol=relative, atol=absolute, equal_nan=True)
        yield Wrong(contents, found, wanted, differs)
