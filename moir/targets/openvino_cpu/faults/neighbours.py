"""Operations that the CPU plugin merges with their neighbours, or moves, although that changes results."""

from __future__ import annotations

from moir.targets.record import Fault

FAULTS = (
    Fault(
        "maximum-of-activations",
        "MaxPool of a Convolution or GroupConvolution, then an activation that does not rise everywhere, perhaps after others that do",
        "is the MaxPool of the activation",
        "clamp-before-pooling",
    ),
    Fault(
        "factors-of-averages",
        "constant factors of several signs, then AvgPool, then FakeQuantize",
        "the limits of the FakeQuantize are divided by the factors",
        "separate-levels",
    ),
    Fault(
        "average-of-levels",
        "AvgPool of what a FakeQuantize rounds, then another operation than a FakeQuantize",
        "the averages are rounded to the levels",
        "separate-levels",
    ),
    Fault(
        "limits-of-levels",
        "Clamp of what is computed of numbers that a FakeQuantize rounds",
        "the limits are rounded to levels",
        "separate-levels",
    ),
    Fault(
        "normalized-residual",
        "GroupNormalization of what is computed of the result of an elementwise operation, to which this result is added",
        "ends the process",
        "separate-normalizations",
    ),
    Fault(
        "strides-of-parts",
        "Convolution by kernels of one element with strides, after an elementwise operation on the second result of a Split",
        "is that of the first result; of a VariadicSplit or TopK is not compiled",
        "keep-strides",
    ),
    Fault(
        "windows-of-padding",
        "Convolution whose padding at an end is at least a window, then a bias or an activation, in several threads",
        "reads out of bounds",
        "pad-before-convolutions",
    ),
    Fault(
        "multiplied-kernels",
        "Convolution with padding of an image that is multiplied by a constant map, whose sizes are 1 or those of the kernel",
        "the kernel is multiplied by the map, not the image",
        "separate-maps",
    ),
    Fault(
        "biases-of-cells",
        "products with joined data and states of known sizes that make a GRU, plus biases that are not rows",
        "are not compiled",
        "give-rows-to-biases",
    ),
    Fault(
        "negative-axes",
        "a reduction along axes counted from the end, after a Reshape or Unsqueeze that adds a dimension of size 1",
        "is not compiled",
        "count-axes-from-first",
    ),
    Fault(
        "zero-parameters",
        "HardSigmoid and Selu with a parameter of 0",
        "are computed with another parameter",
        "write-zero-parameters",
    ),
    Fault(
        "root-without-axis",
        "x divided by the root of its mean of squares along the last axis, which is not kept, or of more dimensions",
        "is normalized along the last axis",
        "separate-normalizations",
    ),
    Fault(
        "transposed-compressed-convolution",
        "Convolution of images by kernels of one element, which are integers by a factor, before or after a Transpose",
        "has its channels at another axis, or is not compiled",
        "separate-transposes",
    ),
    Fault(
        "shuffled-unknown-groups",
        "Transpose of two dimensions between Reshapes, where only the first of the two is unknown",
        "is not compiled",
        "separate-transposes",
    ),
    Fault(
        "reshaped-reductions",
        "Reshape of a reduction without its dimensions, which keeps the rank and has a size of 1 at a reduced axis",
        "keeps the sizes",
        "keep-reduced-dimensions",
    ),
    Fault(
        "reduced-transposes",
        "a reduction of a Transpose that would move dimensions of size 1 alone after it",
        "has its sizes in another order",
        "keep-reduced-dimensions",
    ),
)
