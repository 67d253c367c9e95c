"""The names that Model Optimizer's extractors gave the nodes of Caffe: `op`, and further names by which they are
found.

Source: the tables of Model Optimizer 2019 to 2024.
"""

from __future__ import annotations

NAMES: dict[str, str] = {
    "BatchNorm": "batchNormInference",
    "Convolution": "Conv2D Convolution",
    "Deconvolution": "Deconv2D Deconvolution",
    "Dropout": "Identity",
    "ELU": "Elu",
    "Eltwise": "EltwiseN Eltwise",
    "InnerProduct": "FullyConnected",
    "Interp": "Interpolate",
    "Normalize": "Normalize NormalizeL2",
    "Permute": "Transpose Permute",
    "Power": "AttributedPower Power",
    "ReLU": "ReLU LeakyReLU",
    "Scale": "ScaleShift",
    "Slice": "CaffeSlice",
    "Tile": "AttributedTile",
}
"""Kind -> names, separated by spaces."""
