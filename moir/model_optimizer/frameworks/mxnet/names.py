"""The names that Model Optimizer's extractors gave the nodes of MXNet: `op`, and further names by which they are
found.

Source: the tables of Model Optimizer 2019 to 2024.
"""

from __future__ import annotations

NAMES: dict[str, str] = {
    "Activation": "Activation ReLU Sigmoid Tanh SoftPlus",
    "BatchNorm": "batchNormInference",
    "Convolution": "Convolution",
    "Deconvolution": "Deconvolution",
    "Dropout": "Identity",
    "Pad": "AttributedPad",
    "SliceChannel": "AttributedSplit",
    "concat": "Concat",
    "softmax": "SoftMax",
    "transpose": "Transpose",
}
"""Kind -> names, separated by spaces."""
