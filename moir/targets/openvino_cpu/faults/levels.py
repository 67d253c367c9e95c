"""Quantization, and products in generated code, that the CPU plugin merges with their neighbours wrongly."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault(
        "levels-of-extremes",
        "FakeQuantize of a ReduceMax or ReduceMin, perhaps after elementwise operations, for integers of 8 bits",
        "is some levels off",
        "separate-levels",
    ),
    Fault(
        "levels-of-products",
        "FakeQuantize of a MatMul of three dimensions and more, with limits along another axis than the first",
        "is not compiled, or has other sizes or levels",
        "separate-levels",
    ),
    Fault(
        "limits-between-levels",
        "Clamp of a FakeQuantize, with limits that are no levels",
        "takes the next levels for the limits",
        "separate-levels",
    ),
    Fault(
        "truncated-levels",
        "Convert of floats to integers of 8 bits and back, then FakeQuantize",
        "numbers are not rounded to integers",
        "separate-levels",
    ),
    Fault(
        "levels-of-rows",
        "a reduction of the last of three dimensions of a FakeQuantize with limits for single rows",
        "reads the limits out of bounds",
        "separate-reductions",
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
)
