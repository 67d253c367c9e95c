"""Factors and slopes that the CPU plugin applies twice, to other elements, or behind operations they do not pass."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault(
        "negative-factors-of-levels",
        "FakeQuantize of unknown sizes of what is multiplied by constants of several signs",
        "takes the larger limit for the lower one",
        "round-apart",
    ),
    Fault(
        "factors-of-shared-sums",
        "quantized convolutions, and MatMuls of two FakeQuantizes, of unknown sizes, that several operations use",
        "are multiplied by the sizes of the levels twice for some of the operations",
        "keep-factors",
    ),
    Fault(
        "windows-of-products",
        "MaxPool, AvgPool and Interpolate of quantized MatMuls whose columns have levels of their own",
        "multiply by the sizes of the levels after that, or are not compiled",
        "keep-factors",
    ),
    Fault(
        "levels-of-rows",
        "a reduction of three dimensions of a FakeQuantize with limits for single rows",
        "reads the limits out of bounds",
        "keep-factors",
    ),
    Fault(
        "products-of-rows",
        "MatMul of unknown sizes with quantized weights, of a FakeQuantize with several limits",
        "takes limits along another axis",
        "keep-factors",
    ),
    Fault(
        "slopes-of-products",
        "PRelu of a MatMul of four and more dimensions by a constant, with several slopes",
        "takes slopes along the last axis, or is not compiled",
        "separate-slopes",
    ),
    Fault(
        "slopes-of-reductions",
        "PRelu of a reduction of three dimensions, with several slopes",
        "reads the slopes out of bounds",
        "separate-slopes",
    ),
)
