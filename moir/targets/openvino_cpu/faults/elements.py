"""Element types for which the CPU plugin computes some operations wrongly."""

from __future__ import annotations

from moir.targets.record import AVX_512, Fault

FAULTS = (
    Fault("f8-examination", "IsNaN, IsInf and IsFinite of floats of 8 bits", "are not compiled", "widen-elements"),
    Fault("bf16-normalization", "GroupNormalization of bf16", "is not compiled", "widen-elements", feature=AVX_512),
    Fault("bf16-pooling", "MaxPool of bf16, of which the places are used", "is not compiled", "widen-elements", feature=AVX_512),
    Fault("bf16-sums", "ReduceSum and others of bf16 along computed axes", "are not compiled", "widen-elements", feature=AVX_512),
    Fault(
        "unique-bytes",
        "Unique of elements of a byte",
        "finds places and counts that are other numbers, or beyond its results",
        "widen-elements",
    ),
    Fault(
        "packed-padding",
        "Pad, Transpose and ScatterElementsUpdate of elements of less than 8 bits",
        "move whole bytes, or are not compiled",
        "widen-elements",
    ),
    Fault(
        "narrow-extremes",
        "ReduceMax and ReduceMin of no integer of 8 or 16 bits",
        "are the lower bits of the limits of i32",
        "widen-elements",
    ),
    Fault("u2-boolean", "Convert of u2 to boolean, and of some floats of 8 bits to others", "is not compiled", "convert-in-steps"),
    Fault(
        "saturated-bytes",
        "Convert of f64, and of floats of unknown sizes, to integers of 8 bits",
        "saturates instead of wrapping around, as other conversions do",
        "convert-in-steps",
    ),
    Fault("converted-levels", "FakeQuantize of a Convert from i16, u16, u32, u64 or f64", "is not compiled", "round-to-levels"),
)
