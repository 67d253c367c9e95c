"""Wrong results that are faults of the CPU plugin, by their names in docs/plugin-faults.md.

A rule looks at the elements that differ and at the operations of the model, and recognises exactly one fault: if any
element differs in another way, the case is a defect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tests.fuzz.case import Contents, Source
from tests.fuzz.comparison import tolerances
from tests.fuzz.draw import Array
from tests.fuzz.fault_rules_of_numbers import (
    between_levels,
    compared_in_f32,
    in_f32,
    infinite_divisors,
    infinities_of_f64,
    limit_of_u32,
    nearly_gelu,
    overflowing_soft_plus,
    powers_of_two,
    products_between_levels,
    quotients,
    quotients_between_levels,
    raised_in_f32,
    remainders,
    rounded_twice,
    wide,
)
from tests.fuzz.fault_rules_of_shapes import (
    broadcast_to_nothing,
    constant_keys,
    has_one_instead_of_more,
    loses_elements_of_slopes,
    lost_dimensions,
    matrices_of_one_batch,
    mean_of_nothing,
    no_string,
    nothing,
    nothing_collected,
    nothing_in,
    other_axes,
    other_sizes_of_nothing,
    padding_alone,
    products_of_nothing,
    resized_batch,
    swapped_strides,
    two_columns,
)
from tests.fuzz.fault_rules_of_special_values import (
    extreme,
    infinite_gelu,
    infinities_of_convolutions,
    nan_constants,
    nan_in,
    nan_in_a_window,
    nan_is_lost,
    overflowing_norm,
    places_of_infinities,
    quotients_of_zero,
    truth_of_nan,
)
from tests.fuzz.wrong_result import Rule, Wrong
from tests.numerical.outcomes import mismatch

ADDING_ELEMENTS = frozenset(("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "OneHotEncoder"))
"""Operations that are elementwise, of operands that add elements to each other."""

REMAINDERS = ("remainder.Tensor", "remainder.Scalar", "fmod.Tensor", "fmod.Scalar", "floor_divide.default", "gcd", "lcm")
"""PyTorch's remainders of integers, and the quotients and divisors of Keras that are computed of them."""

RULES: Mapping[str, Rule] = {
    "f64-infinity": infinities_of_f64,
    "i64-width": wide,
    "u32-constant": limit_of_u32,
    "i32-power": raised_in_f32,
    "i32-sum": in_f32("ReduceSum", "ReduceProd", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "CumSum"),
    "i32-extremes": in_f32("ReduceMax", "ReduceMin"),
    "i32-quotient": in_f32("Div"),
    "i32-remainder": lambda wrong: remainders(wrong) or in_f32(*REMAINDERS)(wrong),
    "i32-product-of-matrices": in_f32("MatMul", "Gemm", "MatMulInteger", "ConvInteger", "Einsum"),
    "i32-reverse": in_f32("ReverseSequence"),
    "i32-comparison": compared_in_f32,
    "i32-select": in_f32("Trilu", "Where"),
    "relu-nan": nan_is_lost("Relu", "LeakyRelu"),
    "exp-nan": nan_is_lost("Exp", "Expm1", "Softmax", "LogSoftmax", "Celu", "Selu", "ReduceLogSumExp", "Activation"),
    "convert-nan": truth_of_nan,
    "clamp-nan": nan_is_lost("Clip", "Relu6"),
    "maximum-nan": nan_is_lost("Max"),
    "minimum-nan": nan_is_lost("Min"),
    "hard-sigmoid-nan": nan_is_lost("HardSigmoid"),
    "normalize-nan": nan_is_lost("LpNormalization"),
    "norm-overflow": overflowing_norm,
    "scatter-nan": nan_in("ScatterND", "ScatterElements"),
    "max-pool-infinity": lambda wrong: extreme("MaxPool", -np.inf)(wrong) or places_of_infinities(wrong),
    "max-pool-nan": nan_in_a_window,
    "gelu-infinity": infinite_gelu,
    "topk-nan": nan_in("TopK", "ArgMax", "ArgMin", "Hardmax"),
    "reduce-nan": nan_in("ReduceMax", "ReduceMin"),
    "reduce-max-infinity": extreme("ReduceMax", -np.inf),
    "reduce-min-infinity": extreme("ReduceMin", np.inf),
    "mod-infinity": infinite_divisors,
    "mod-quotient": quotients,
    "loop-empty-state": nothing("Loop", "Scan"),
    "soft-plus-overflow": overflowing_soft_plus,
    "two-columns": two_columns,
    "matmul-empty": products_of_nothing,
    "fused-nan": nan_constants,
    "f32-quotient": lambda wrong: quotients_between_levels(wrong) or products_between_levels(wrong),
    "quantize-middle": between_levels,
    "f8-rounding": rounded_twice,
    "e8m0-rounding": powers_of_two,
    "unique-empty": lambda wrong: wrong.has("Unique") and wrong.operands[0].size == 0,
    "gelu-constants": nearly_gelu,
    "normalization-axes": other_axes,
    "normalization-shape": lambda wrong: wrong.has("ReduceMean") and wrong.has("Sqrt", "Pow") and has_one_instead_of_more(wrong),
    "prelu-shape": lambda wrong: wrong.has("Relu") and wrong.has("Neg", "Min") and loses_elements_of_slopes(wrong),
    # TensorFlow's patches are transposed before and after, and so are the windows of filters of unknown sizes.
    "transpose-empty": nothing_in("Transpose", "ExtractImagePatches", "Conv"),
    "elementwise-empty": lambda wrong: wrong.node is not None and wrong.node[0] in ADDING_ELEMENTS and other_sizes_of_nothing(wrong),
    "unsqueeze-empty": lambda wrong: wrong.has("Unsqueeze") and other_sizes_of_nothing(wrong),
    "concat-empty": lambda wrong: wrong.has("Complex", "Concat", "ConcatFromSequence") and other_sizes_of_nothing(wrong),
    "pool-empty": nothing_in("MaxPool", "AveragePool", "LpPool"),
    "attention-keys": constant_keys,
    "average-pool-empty": padding_alone("AveragePool", "LpPool"),
    "top-k-empty": nothing_in("TopK"),
    "strings-empty": no_string,
    "convolution-of-one-channel": swapped_strides,
    "convolution-infinity": infinities_of_convolutions,
    "matmul-batch": matrices_of_one_batch,
    "resize-batch": resized_batch,
    "zero-divisor": quotients_of_zero,
    "broadcast-empty": broadcast_to_nothing,
    "loop-never": nothing_collected,
    "convolution-empty": padding_alone("Conv", "QLinearConv", "ConvInteger"),
    "mean-empty": mean_of_nothing,
    "gelu-rank": lost_dimensions,
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
    for actual, wanted in zip(results, expected, strict=True):
        if not mismatch(actual, wanted, *tolerances(wanted)):
            continue
        differs = None
        if actual.shape == wanted.shape and actual.dtype == wanted.dtype and wanted.dtype.kind in "fViub":
            relative, absolute = tolerances(wanted)
            left, right = (each.astype(np.float64) for each in (actual, wanted))
            differs = ~np.isclose(left, right, rtol=relative, atol=absolute, equal_nan=True)
        yield Wrong(contents, actual, wanted, differs)
