"""Numbers that the CPU plugin computes wrongly: precision, range, wrap-around."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault("f64-infinity", "any, of f64", "is computed in f32, in which infinities and larger numbers become 3.4e38"),
    Fault("i64-width", "any, of i64 and u64", "is computed in 32 bits"),
    Fault("u32-sign", "Clamp, ReduceMax, ReduceMin and others, of u32", "numbers from 2³¹ on count as negative"),
    Fault("i32-power", "Power of integers", "is computed in f32, which is exact up to 2²⁴"),
    Fault("i32-sum", "ReduceSum and ReduceProd of integers", "is computed in f32"),
    Fault("i32-extremes", "ReduceMax and ReduceMin of integers", "is computed in f32"),
    Fault("i32-quotient", "Divide of integers", "is computed in f32"),
    Fault("i32-remainder", "Mod and FloorMod of integers", "is computed in f32"),
    Fault("i32-reverse", "ReverseSequence of integers", "numbers are rounded to f32"),
    Fault(
        "i32-comparison",
        "Less, Greater and the like of integers",
        "are computed in f32; Equal of large integers is written with a difference",
    ),
    Fault("i32-select", "Select of integers where a comparison of other integers holds", "is computed in f32"),
    Fault("i16-width", "any, of i16 and u16", "wraps around at the output of the model only"),
    Fault("i32-product-of-matrices", "MatMul of integers", "is computed in f32"),
    Fault(
        "mod-quotient",
        "Mod of floats",
        "is a - b · trunc(a / b) in f32: wrong by the rounding of a, and 0 where the quotient has more than 24 bits",
    ),
    Fault("mod-infinity", "Mod of floats", "is NaN for a divisor that is infinite"),
    Fault("soft-plus-overflow", "log(1 + exp(x))", "is x where exp(x) is infinite"),
    Fault("f32-quotient", "Divide of floats", "is the product with the reciprocal, of which the last bit may differ"),
    Fault(
        "levels-of-sums",
        "FakeQuantize of a constant added to what another FakeQuantize rounds, in integers of 8 bits",
        "is another level for all numbers, where the zero point of the second one, as a number in f32, is just below an integer",
    ),
    Fault(
        "quantize-middle",
        "FakeQuantize of a number in the middle between two levels",
        "is the level whose distance from the lower limit is even, and for 16 bits also beside the middle",
    ),
    Fault("f8-rounding", "Convert to f8e4m3 and f8e5m2", "rounds to f16 before, which moves numbers to the middle between two others"),
    Fault(
        "e8m0-rounding",
        "Convert to f8e8m0",
        "rounds to the nearest power of two, and takes no negative numbers, where ONNX rounds magnitudes up",
    ),
    Fault("gelu-constants", "½ · x · (1 + tanh(c · (x + 0.044715 · x³))) with c within 1 % of √(2 / π)", "is computed with √(2 / π)"),
    Fault("zero-divisor", "Divide by a constant 0 of a sum of a Convolution and constants", "is NaN where it is infinite"),
)
