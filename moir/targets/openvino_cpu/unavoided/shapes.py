"""Operations that the CPU plugin computes wrongly for some shapes, axes or neighbouring operations."""

from __future__ import annotations

from moir.targets.record import AVX_512, BF16, Fault

FAULTS = (
    Fault(
        "two-columns",
        "MatMul of two computed matrices of two columns and at most two summands, then constants for the columns, "
        "perhaps after an activation",
        "the constants are others",
    ),
    Fault(
        "scattered-sizes",
        "Reshape to products of dynamic dimensions that ScatterNDUpdate or ScatterElementsUpdate computes",
        "takes the products for 1, and does not run",
    ),
    Fault(
        "prelu-shape",
        "relu(x) - slope · relu(-x) made of simple operations, with slopes that add elements to x",
        "has the shape of x, or does not run",
    ),
    Fault(
        "attention-keys", "MatMul of bf16 with constant matrices of several heads, then Softmax, then MatMul", "is garbage", feature=BF16
    ),
    Fault(
        "convolution-of-one-channel",
        "Convolution of several images or volumes of one channel and dynamic width, with results one element wide and "
        "a stride of columns above that of rows",
        "takes the stride of columns for that of rows",
        feature=AVX_512,
    ),
    Fault(
        "resize-batch",
        "Interpolate of images of dynamic number or channels, whose constant sizes say others",
        "an error in the runtime, or garbage if it has one thread",
    ),
    Fault(
        "joined-branches",
        "Concat of results of several Ifs of dynamic shape, a part of which is taken",
        "is garbage in the first inference",
    ),
    Fault("pooling-by-position", "PSROIPooling of dynamic shape", "is not compiled"),
    Fault(
        "gelu-rank",
        "activations and normalizations made of simple operations, as ½ · x · (1 + erf(x / √2)), with constants of a "
        "higher rank than x, if the rank of x is not known while converting (`equalize-ranks`)",
        "loses the dimensions of size 1 that these add",
    ),
    Fault(
        "changed-scales",
        "Interpolate by scales that change from one inference to the next, while the sizes stay as they are",
        "goes on with the scales of the inference before",
    ),
)
