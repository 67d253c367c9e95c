"""Quantization, and products in generated code, that the CPU plugin merges with their neighbours wrongly."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault(
        "levels-of-extremes",
        "FakeQuantize of a ReduceMax or ReduceMin, perhaps after elementwise operations, for integers of 8 bits",
        "is some levels off",
        "round-apart",
    ),
    Fault(
        "levels-of-products",
        "FakeQuantize of a MatMul of three dimensions and more, with limits along another axis than the first",
        "is not compiled, or has other sizes or levels",
        "round-apart",
    ),
    Fault(
        "truncated-levels",
        "Convert of floats to integers of 8 bits and back, then FakeQuantize",
        "numbers are not rounded to integers",
        "round-apart",
    ),
    Fault(
        "queries-in-place",
        "attention whose queries or whose result are transposed, of as many steps as heads, with values as wide as the queries",
        "is written over queries that are read after that",
        "separate-queries",
    ),
    Fault(
        "mish-after-products",
        "Mish of an attention, or between MatMuls of few rows by constants of up to 256 rows and columns",
        "is not compiled",
        "compute-mish",
    ),
    Fault(
        "normalized-levels",
        "MVN and GroupNormalization of a FakeQuantize",
        "add ε to the variance of the integers that stand for the levels",
        "fit-levels",
    ),
    Fault(
        "levels-without-zero",
        "Convolution with quantized filters of a FakeQuantize with levels on both sides of 0, but none for 0",
        "all levels are some part of one off",
        "fit-levels",
    ),
    Fault(
        "equal-limits",
        "MatMul with quantized weights of a FakeQuantize whose limits along an axis are the same",
        "is not compiled",
        "fit-levels",
    ),
    Fault(
        "limits-of-two-shapes",
        "FakeQuantize with one number for a limit and several for the other one",
        "has other levels",
        "fit-levels",
    ),
    Fault(
        "levels-of-means",
        "FakeQuantize with several limits of a reduction that does not keep its dimensions, or of the first of them",
        "takes limits along another axis",
        "separate-reductions",
    ),
    Fault(
        "entries-of-levels",
        "Gather of one entry of a FakeQuantize with several limits",
        "has a dimension more, or is not compiled",
        "fit-levels",
    ),
    Fault(
        "convolved-parts",
        "Concat of convolutions of parts of a value, in another order, along another axis, or with other values",
        "is that of the convolutions of all parts in order, or is not compiled",
        "separate-parts",
    ),
    Fault(
        "levels-of-unknown-sizes",
        "FakeQuantize of unknown sizes with several limits, after a Transpose or before another FakeQuantize",
        "is not compiled, or the first of the limits is taken everywhere",
        "fit-levels",
    ),
    Fault(
        "added-axes",
        "a reduction of unknown sizes after an Unsqueeze along axes counted from the end",
        "is not compiled",
        "count-axes-from-first",
    ),
)
