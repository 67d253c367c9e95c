"""Empty tensors that the CPU plugin handles wrongly."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault("loop-empty-state", "Loop", "a state without elements keeps its first shape"),
    Fault("unique-empty", "Unique of an empty tensor, along an axis with elements, all of which are equal", "has no entry"),
    Fault(
        "transpose-empty",
        "Transpose that moves dimensions of 1 only, of data of dynamic shape that have no element",
        "does not run; with one thread its result has other sizes",
    ),
    Fault(
        "concat-empty", "Concat of values of dynamic shape, one of which is known to have no element", "lacks that one, and has other sizes"
    ),
    Fault("pool-empty", "MaxPool and AvgPool of no image, of dynamic shape", "does not run; with one thread its result has other sizes"),
    Fault("average-pool-empty", "AvgPool of images without elements, whose padding has windows", "is garbage"),
    Fault(
        "strings-empty",
        "StringTensorUnpack and StringTensorPack of no string, of dynamic shape",
        "does not run; with one thread its results have other sizes",
    ),
    Fault(
        "elementwise-empty",
        "an elementwise operation on a value that is known to have no element and has dynamic dimensions, with constants that add elements",
        "the dynamic dimensions are 0",
    ),
    Fault(
        "unsqueeze-empty",
        "Unsqueeze of a Squeeze of a value that is known to have no element and has dynamic dimensions",
        "the dynamic dimensions are 0",
    ),
    Fault("broadcast-empty", "a number that is broadcast to no element, with a constant added", "has elements"),
    Fault(
        "loop-never",
        "a Loop without iterations, whose results have the dynamic dimensions of another value",
        "these sizes are 0, also where they are taken from the other value",
    ),
    Fault(
        "loop-not-begun",
        "a Loop of static shapes whose computed condition is false at first",
        "the states are 0 instead of their initial values",
        versions=("2026.0", "2026.1", "2026.2", "2026.3"),
    ),
    Fault("convolution-empty", "Convolution of images without elements, whose padding has windows", "is garbage"),
    Fault("mean-empty", "ReduceMean over no element", "is 0 instead of NaN"),
)
