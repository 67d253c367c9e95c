"""Empty tensors that the CPU plugin handles wrongly."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault("loop-empty-state", "Loop", "a state without elements keeps its first shape"),
    Fault(
        "matmul-empty", "MatMul of matrices without elements, with a factor after it", "is garbage, or has no element", "sum-empty-products"
    ),
    Fault("unique-empty", "Unique of an empty tensor, along an axis with elements, all of which are equal", "has no entry"),
    Fault(
        "transpose-empty",
        "Transpose that moves dimensions of 1 only, of data of unknown sizes that have no element",
        "does not run; with one thread its result has other sizes",
    ),
    Fault(
        "concat-empty", "Concat of values of unknown sizes, one of which is known to have no element", "lacks that one, and has other sizes"
    ),
    Fault("pool-empty", "MaxPool and AvgPool of no image, of unknown sizes", "does not run; with one thread its result has other sizes"),
    Fault("average-pool-empty", "AvgPool of images without elements, whose padding has windows", "is garbage"),
    Fault(
        "top-k-empty",
        "TopK of no element, of data that have some",
        "does not run; with one thread its result has other sizes",
        "search-along-axes",
    ),
    Fault(
        "search-empty",
        "SearchSorted in a row without elements",
        "is garbage",
        form="search-filled-rows",
    ),
    Fault(
        "strings-empty",
        "StringTensorUnpack and StringTensorPack of no string, of unknown sizes",
        "does not run; with one thread its results have other sizes",
    ),
    Fault(
        "elementwise-empty",
        "an elementwise operation on a value that is known to have no element and has unknown sizes, with constants that add elements",
        "the unknown sizes are 0",
    ),
    Fault(
        "unsqueeze-empty",
        "Unsqueeze of a Squeeze of a value that is known to have no element and has unknown sizes",
        "the unknown sizes are 0",
    ),
    Fault("broadcast-empty", "a number that is broadcast to no element, with a constant added", "has elements"),
    Fault(
        "loop-never",
        "a Loop without iterations, whose results have the unknown sizes of another value",
        "these sizes are 0, also where they are taken from the other value",
    ),
    Fault("convolution-empty", "Convolution of images without elements, whose padding has windows", "is garbage"),
    Fault("mean-empty", "ReduceMean over no element", "is 0 instead of NaN"),
    Fault(
        "empty-constant",
        "Concat of a value of unknown sizes with a constant that has no element, but entries along the axis",
        "leaves the constant out",
        "join-empty-parts",
    ),
)
