"""Indices, slices and selections of elements that the CPU plugin computes wrongly."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault("gather-empty", "Gather without indices", "ends the process", "complete-indices"),
    Fault("gather-computed-axis", "Gather along a computed axis of data of known sizes", "is not compiled", "complete-indices"),
    Fault(
        "gather-short-list",
        "Gather of up to 64 numbers from a constant list of up to 64 integers, at indices out of range",
        "reads out of bounds",
        "complete-indices",
    ),
    Fault("non-zero-scalar", "NonZero of a scalar", "has the coordinate of a list", "complete-indices"),
    Fault("one-hot-scalar", "OneHot of a scalar with a computed depth", "is not compiled", "complete-indices"),
    Fault("slice-computed-axes", "Slice along computed axes", "ends the process", "complete-slices"),
    Fault(
        "slice-from-end",
        "backward Slice between places counted from the end, of an unknown size that is less",
        "does not run",
        "complete-slices",
    ),
    Fault(
        "slice-of-gathered",
        "Slice of the first elements of the data of a GatherElements",
        "is removed, and the model refused as its shapes contradict each other",
        "complete-slices",
    ),
    Fault("broadcast-scalar", "Broadcast to a scalar, by a target that the runtime folds", "ends the process", "complete-shapes"),
    Fault("blocks-of-padding", "SpaceToBatch with places in a block that are padding throughout", "has other elements there", "pad-blocks"),
    Fault(
        "blocks-of-levels",
        "SpaceToBatch with padding of integers with a zero point, or what a FakeQuantize rounds to levels below 0",
        "has the lowest one in place of 0",
        "pad-blocks",
    ),
    Fault("unique-axis", "Unique along another axis than the first", "finds other slices", "search-along-axes"),
    Fault(
        "unique-unsorted",
        "Unique without an axis and without sorting, of which the places of the values are not used",
        "has other elements",
        "search-along-axes",
    ),
    Fault("unique-no-constant", "Unique of a constant without elements", "ends the process", "search-along-axes"),
    Fault("top-k-none", "TopK of the largest 0 elements, of data of known sizes", "is not compiled", "search-along-axes"),
    Fault("top-k-truth", "Convert of what TopK returns to boolean", "is not compiled", "search-along-axes"),
    Fault(
        "empty-rows",
        "logical operations and Select by the rows that SparseFillEmptyRows says were empty",
        "are not compiled",
        "convert-empty-rows",
    ),
    Fault("select-constants", "Select of booleans by a constant, which is also what is chosen", "is not compiled", "select-by-logic"),
    Fault(
        "loop-condition",
        "a Loop of a constant number of iterations that does not run, of which something is joined",
        "is garbage",
        "count-unsliced-iterations",
    ),
)
