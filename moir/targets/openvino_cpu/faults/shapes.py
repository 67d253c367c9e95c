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
        "Reshape to products of unknown sizes that ScatterNDUpdate or ScatterElementsUpdate computes",
        "takes the products for 1, and does not run",
    ),
    Fault(
        "normalization-axes",
        "(x - mean) / (√variance + ε) made of simple operations, whose means are along other axes than the variance",
        "all of it is along the axes of the variance",
        "separate-normalizations",
    ),
    Fault("grouped-columns", "GroupNormalization of two dimensions of unknown sizes", "is not compiled", "normalize-columns"),
    Fault("normalization-keeps", "the same without the axes of a mean in its result", "the mean keeps the axes", "separate-normalizations"),
    Fault("normalization-shape", "the same with an ε that adds elements to x", "has the shape of x", "separate-normalizations"),
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
        "Convolution of several images or volumes of one channel and unknown width, with results one element wide and "
        "a stride of columns above that of rows",
        "takes the stride of columns for that of rows",
        feature=AVX_512,
    ),
    Fault(
        "convolution-sum",
        "Convolution of unknown sizes, to which a value of unknown sizes with more images or channels is added",
        "does not run; with one thread its result has other sizes",
    ),
    Fault(
        "convolution-of-the-whole",
        "Convolution of signals of unknown sizes with a kernel and a stride of their whole length, to which something is added",
        "is lost",
        feature=AVX_512,
    ),
    Fault(
        "matmul-batch",
        "MatMul of matrices of an unknown number, which is 1, with several constant ones",
        "does not run; with one thread its result has other sizes",
        "repeat-matrices",
    ),
    Fault(
        "scalar-product",
        "MatMul of a row and a column, perhaps with elementwise operations after it, then a Reshape to a scalar",
        "ends the process",
        "squeeze-products",
    ),
    Fault(
        "resize-batch",
        "Interpolate of images of unknown number or channels, whose constant sizes say others",
        "an error in the runtime, or garbage if it has one thread",
    ),
    Fault(
        "joined-branches",
        "Concat of results of several Ifs of unknown sizes, a part of which is taken",
        "is garbage in the first inference",
    ),
    Fault("pooling-by-position", "PSROIPooling of unknown sizes", "is not compiled"),
    Fault(
        "gelu-rank",
        "activations and normalizations made of simple operations, as ½ · x · (1 + erf(x / √2)), with constants of a "
        "higher rank than x, if the rank of x is not known while converting (`equalize-ranks`)",
        "loses the dimensions of size 1 that these add",
    ),
    Fault(
        "activation-rank",
        "activations and normalizations made of simple operations, with constants of a higher rank than the operand",
        "lose the dimensions of size 1 that these add",
        "equalize-ranks",
    ),
    Fault(
        "gather-of-one-batch",
        "Gather with batch dimensions of size 1, of few elements for each index",
        "reads out of bounds",
        "unbatch-gather",
    ),
    Fault(
        "square-weights",
        "MatMul by a square constant, and another one by the same constant transposed",
        "one of them multiplies by the matrix of the other",
        "separate-weights",
    ),
    Fault(
        "unknown-columns",
        "MatMul with an unknown number of columns, then constants for the columns",
        "is not compiled, or the constants are others",
        "separate-products",
    ),
    Fault(
        "unit-kernels",
        "Convolution with padding, strides and a kernel of one element after an elementwise operation",
        "moves the strides before that operation, without regard to the padding",
        "widen-kernels",
    ),
    Fault(
        "single-channel-loop",
        "Convolution of an unknown number of images of one channel in a loop, whose result is added to a state",
        "is zero",
        "pair-channels",
        feature=AVX_512,
    ),
    Fault(
        "one-column",
        "Convolution of images of one channel to one column, with a stride of columns above that of rows",
        "takes the stride of columns for that of rows",
        "align-strides",
        feature=AVX_512,
    ),
    Fault("unknown-filters", "convolutions with filters of unknown sizes", "are not compiled", "unfold-convolutions"),
    Fault(
        "changed-scales",
        "Interpolate by scales that change from one inference to the next, while the sizes stay as they are",
        "goes on with the scales of the inference before",
    ),
    Fault(
        "moved-strings",
        "operations that move strings, but for Gather, Concat and Reshape",
        "are refused, give other strings, or end the process",
        "number-strings",
    ),
    Fault(
        "rows-of-constants",
        "a reduction of the last of three dimensions, then constants for single rows",
        "reads the constants out of bounds",
        "separate-reductions",
    ),
    Fault(
        "rows-without-batches",
        "a reduction of the first of three dimensions, then constants for single rows",
        "reads the constants out of bounds",
        "separate-reductions",
    ),
    Fault(
        "rows-of-broadcasts",
        "a reduction of the last of three dimensions, then a Broadcast in both directions to a constant shape with the same rows",
        "multiplies by ones, which it reads out of bounds",
        "separate-reductions",
    ),
    Fault("prior-boxes-of-unknown-sizes", "PriorBox of operation set 8 of unknown sizes", "is not compiled", "order-prior-boxes"),
    Fault(
        "batches-of-reductions",
        "a reduction of integers or f64 of three dimensions from the second one on, or of integers along a last "
        "dimension of size 1, then a constant, or as a subtrahend",
        "is that of the first batch, and 0 for all others",
        "separate-reductions",
    ),
    Fault(
        "remainder-of-sizes",
        "FloorMod of a dimension with bounds, as a size",
        "is the remainder of the bounds if both have the same one",
        "compute-remainders",
    ),
    Fault(
        "many-repeated-axes",
        "Tile of four dimensions or more by computed numbers that repeats three axes",
        "moves blocks to wrong places",
        "repeat-in-pairs",
    ),
    Fault("computed-pad-value", "Pad of data of known sizes with a computed value", "pads with zeros", "select-pad-values"),
    Fault(
        "large-pad-value",
        "Pad of integers with a value that f32 does not hold",
        "pads with another number, -2³¹ for 2³¹ - 1",
        "select-pad-values",
    ),
    Fault("unused-slices", "a TensorIterator whose body uses no slice", "is repeated once, or not at all", "count-unsliced-iterations"),
    Fault(
        "nested-iterators", "a TensorIterator in the body of a TensorIterator", 'is refused: "No nested TensorIterator"', "unnest-iterators"
    ),
    Fault(
        "iterators-of-changing-size",
        "a TensorIterator with a state of another size after an iteration than before it",
        "takes the state to have its first size",
        "read-changing-states",
    ),
    Fault(
        "states-of-changing-size",
        "a loop with a state of another size after an iteration than before the loop, whose last value is not used",
        "takes the state to have its first size: is garbage, or does not run",
        "read-changing-states",
    ),
    Fault(
        "slices-of-states",
        "a loop whose next state is computed from a slice in place",
        "reads the next slice in place of the state",
        "copy-loop-slices",
    ),
    Fault(
        "absolute-concat",
        "Abs of a Concat that another Concat reads, too, or of a Concat of 1-D tensors with any other user",
        "writes the absolute values into the memory that the other one reads",
        "separate-absolute-values",
    ),
    Fault("single-group", "GroupConvolutionBackpropData of one group with computed filters", "is not compiled", "unfold-convolutions"),
    Fault("computed-sizes", "ConvolutionBackpropData of data of known sizes to computed ones", "is not compiled", "unfold-convolutions"),
    Fault(
        "less-than-a-window",
        "ConvolutionBackpropData of data of unknown sizes to less than a window",
        "does not run",
        "unfold-convolutions",
    ),
    Fault(
        "quantize-sum",
        "FakeQuantize of a sum, difference, product or quotient with constants along the second axis, of unknown sizes or in a loop",
        "the first of the constants is taken everywhere",
        "round-to-levels",
    ),
    Fault(
        "views-of-moved-data",
        "two operations of Reshape, Squeeze and Unsqueeze, or one that is a result, of a value of known sizes that is "
        "transposed for a Convolution, or resized along its second and third axis, as well",
        "what is computed of the transposed or resized value is garbage",
        "complete-shapes",
    ),
    Fault(
        "third-axis-levels", "FakeQuantize of data of unknown sizes with limits along the third axis", "is not compiled", "round-to-levels"
    ),
    Fault("vector-product", "MatMul with a constant vector, and a factor after it", "is not compiled", "simplify-matmul"),
    Fault(
        "dequantized-batch",
        "MatMul with dequantized weights that have more than one leading dimension",
        "is not compiled",
        "simplify-matmul",
    ),
    Fault(
        "einsum-empty", "Einsum of operands that are known to have no element, of unknown sizes", "is not compiled", "sum-empty-products"
    ),
    Fault(
        "sequence-lengths",
        "LSTMSequence, GRUSequence and RNNSequence of an unknown number of sequences or of steps, with lengths below that of the steps",
        "has all steps of each sequence",
        "step-through-sequences",
    ),
)
