"""Numbers that the CPU plugin computes wrongly: precision, range, wrap-around."""

from __future__ import annotations

from moir.targets.record import AVX_512, Fault

FAULTS = (
    Fault(
        "f64-infinity",
        "any, of f64",
        "is computed in f32, in which infinities and larger numbers become 3.4e38",
    ),
    Fault(
        "i64-width",
        "any, of i64 and u64",
        "is computed in 32 bits",
    ),
    Fault(
        "u32-constant",
        "a constant of u32",
        "numbers from 2³¹ on become 2³¹ - 1",
    ),
    Fault(
        "u32-operand",
        "Add, Subtract, Multiply, Equal, Select, Concat and bitwise operations with a constant of u32",
        "numbers from 2³¹ on become 2³¹ - 1",
        form="shift-words",
    ),
    Fault(
        "u32-sign",
        "Maximum, comparisons, Divide and others, of u32",
        "numbers from 2³¹ on count as negative",
    ),
    Fault(
        "u32-shift",
        "BitwiseRightShift of u32",
        "copies the highest bit of numbers from 2³¹ on",
        form="shift-words",
    ),
    Fault(
        "i32-power",
        "Power of integers",
        "is computed in f32, which is exact up to 2²⁴",
    ),
    Fault(
        "i32-sum",
        "ReduceSum and ReduceProd of integers",
        "is computed in f32",
    ),
    Fault(
        "i32-extremes",
        "ReduceMax and ReduceMin of integers",
        "is computed in f32",
    ),
    Fault(
        "i32-quotient",
        "Divide of integers",
        "is computed in f32",
    ),
    Fault(
        "i32-remainder",
        "Mod and FloorMod of integers",
        "is computed in f32",
    ),
    Fault(
        "i32-reverse",
        "ReverseSequence of integers",
        "numbers are rounded to f32",
    ),
    Fault(
        "i32-comparison",
        "Less, Greater and the like of integers",
        "are computed in f32; Equal of large integers is written with a difference",
    ),
    Fault(
        "i32-select",
        "Select of integers where a comparison of other integers holds",
        "is computed in f32",
    ),
    Fault(
        "selected-words",
        "Select of integers that bitwise operations compute, or beyond 2²⁴, where a comparison of other integers holds",
        "is computed in f32",
        form="mask-words",
    ),
    Fault(
        "truth-of-smallest",
        "Convert of integers of 32 or 64 bits to boolean",
        "is false for -2³¹, and for 2³¹ without a sign",
        form="compare-with-zero",
    ),
    Fault(
        "i16-width",
        "any, of i16 and u16",
        "wraps around at the output of the model only",
    ),
    Fault(
        "i32-product-of-matrices",
        "MatMul of integers",
        "is computed in f32",
    ),
    Fault(
        "mod-quotient",
        "Mod of floats",
        "is a - b · trunc(a / b) in f32: wrong by the rounding of a, and 0 where the quotient has more than 24 bits",
    ),
    Fault(
        "mod-infinity",
        "Mod of floats",
        "is NaN for a divisor that is infinite",
    ),
    Fault(
        "rounded-sign",
        "Convert to i32 of what Round in mode `half_away_from_zero` has rounded, after a MatMul of quantized values",
        "loses the sign; what MXNet quantizes to i32 is rounded in the other mode",
        feature=AVX_512,
    ),
    Fault(
        "soft-plus-overflow",
        "log(1 + exp(x))",
        "is x where exp(x) is infinite",
    ),
    Fault(
        "f32-quotient",
        "Divide of floats",
        "is the product with the reciprocal, of which the last bit may differ",
    ),
    Fault(
        "padded-levels",
        "Pad along one axis, with a value other than 0, of what a FakeQuantize rounds",
        "is padded with the value as an integer, or is not compiled",
        form="select-pad-values",
    ),
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
    Fault(
        "f8-rounding",
        "Convert to f8e4m3 and f8e5m2",
        "rounds to f16 before, which moves numbers to the middle between two others",
    ),
    Fault(
        "e8m0-rounding",
        "Convert to f8e8m0",
        "rounds to the nearest power of two, and takes no negative numbers, where ONNX rounds magnitudes up",
    ),
    Fault(
        "gelu-constants",
        "½ · x · (1 + tanh(c · (x + 0.044715 · x³))) with c within 1 % of √(2 / π)",
        "is computed with √(2 / π)",
    ),
    Fault(
        "zero-divisor",
        "Divide by a constant 0 of a sum of a Convolution and constants",
        "is NaN where it is infinite",
    ),
    Fault(
        "i8-arithmetic",
        "Add, Subtract, Multiply, Power, Abs, Negative, ReduceSum and MatMul of 8-bit integers",
        "saturates instead of wrapping around; quotients are rounded to the nearest integer if shapes are dynamic",
        form="widen-integers",
    ),
    Fault(
        "i32-relu",
        "Relu of integers",
        "is computed in f32",
        form="bound-integers",
    ),
    Fault(
        "i32-floor",
        "Floor and Ceiling of integers",
        "are computed in f32",
        form="bound-integers",
    ),
    Fault(
        "i32-equality",
        "Equal and NotEqual of integers",
        "are computed in f32, which is exact up to 2²⁴",
        form="compare-with-zero",
    ),
    Fault(
        "quantize-16-bits",
        "FakeQuantize to 65536 levels",
        "is removed, with the limits of its range, or is not compiled",
        form="round-to-levels",
    ),
    Fault(
        "weights-of-states",
        "MatMul by what is computed of states that begin as constants",
        "packs the matrix before the states have values",
        form="swap-weights-of-states",
    ),
    Fault(
        "constant-by-reduction",
        "a constant divided by a reduction of integers",
        "is the reduction divided by the constant",
        form="separate-reductions",
    ),
    Fault(
        "quotient-of-reduction",
        "a reduction of integers of several dimensions, divided by a constant",
        "is rounded to the nearest integer instead of toward zero",
        form="separate-reductions",
    ),
    Fault(
        "random-subtrahend",
        "random numbers that are subtracted",
        "are the same in every run, as the runtime replaces them by a constant",
        form="reverse-random-differences",
    ),
    Fault(
        "maximum-of-levels",
        "Convert to i8 of a FakeQuantize of a ReduceMax of what a FakeQuantize rounds",
        "is 128 less where it is above -1",
        form="round-to-levels",
    ),
    Fault(
        "state-unread",
        "an Assign to a state that no operation reads",
        "is not read with the model",
        form="erase-unread-states",
    ),
    Fault(
        "state-types",
        "a state of i64, u64, f64 or bf16",
        "is not compiled, or wrong",
        form="store-states",
    ),
    Fault(
        "real-transform-length",
        "RDFT and IRDFT of data of known sizes with a computed length",
        "is not compiled",
        form="split-transforms",
    ),
    Fault(
        "inverse-volume",
        "IRDFT of volumes that are cut",
        "has other numbers",
        form="split-transforms",
    ),
    Fault(
        "random-scalar",
        "RandomUniform of a scalar",
        "is not written",
        form="draw-lists",
    ),
    Fault(
        "multinomial-uses",
        "Multinomial with two uses",
        "is not compiled",
        form="draw-lists",
    ),
    Fault(
        "extension-choice",
        "Select of a result of i64 of an extension's operation",
        "is not compiled",
        form="convert-chosen-extensions",
    ),
)
