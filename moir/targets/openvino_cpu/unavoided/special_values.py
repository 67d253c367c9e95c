"""NaN and infinities that the CPU plugin handles wrongly."""

from __future__ import annotations

from moir.targets.record import AVX_512, Fault

FAULTS = (
    Fault("relu-nan", "Relu", "is 0 for NaN"),
    Fault("exp-nan", "Exp", "is infinite for NaN"),
    Fault("convert-nan", "Convert to boolean", "is false for NaN"),
    Fault("clamp-nan", "Clamp", "is the lower limit for NaN"),
    Fault("maximum-nan", "Maximum", "is the second operand if the first is NaN"),
    Fault("minimum-nan", "Minimum", "is the second operand if the first is NaN"),
    Fault("hard-sigmoid-nan", "HardSigmoid", "is 1 for NaN"),
    Fault("normalize-nan", "NormalizeL2 along the first axis, with a lower limit of the norm", "a norm that is NaN is the limit"),
    Fault("norm-overflow", "ReduceL2 of numbers beyond 1.8e19", "is infinite, as the sum of their squares is"),
    Fault("scatter-nan", "ScatterNDUpdate and ScatterElementsUpdate with minima or maxima", "a NaN among the updates is passed over"),
    Fault("max-pool-infinity", "MaxPool", "is -3.4e38 if all elements are minus infinity; the index of the smallest number of a type is 0"),
    Fault("max-pool-nan", "MaxPool", "passes over NaN"),
    Fault("gelu-infinity", "Gelu of infinity", "is NaN", feature=AVX_512),
    Fault("topk-nan", "TopK", "NaN is not the largest element"),
    Fault("reduce-nan", "ReduceMax and ReduceMin", "a NaN hides elements, or is hidden by them"),
    Fault("reduce-max-infinity", "ReduceMax", "is -3.4e38 if all elements are minus infinity"),
    Fault("reduce-min-infinity", "ReduceMin", "is 3.4e38 if all elements are infinite"),
    Fault("fused-nan", "activations made of simple operations with NaN as a constant", "are computed with the constant"),
    Fault("convolution-infinity", "Convolution after a simple operation", "infinities are ±3.4e38"),
)
