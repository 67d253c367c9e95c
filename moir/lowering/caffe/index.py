"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": "BNLL Clip ELU PReLU ReLU ReLU6 Sigmoid Softmax Swish Threshold",
    "arithmetic": "Axpy Bias Eltwise Power Scale",
    "convolution": "Convolution ConvolutionBinary ConvolutionDepthwise Deconvolution DepthwiseConvolution DilatedConvolution",
    "decoding": "CTCGreedyDecoder",
    "detection": "DetectionOutput PSROIPooling PriorBox PriorBoxClustered Proposal Python ROIPooling RegionYolo ReorgYolo",
    "elementwise": "AbsVal Exp Log TanH",
    "flow": "Accum Correlation DataAugmentation Filter FlowWarp",
    "image": "Interp Resample Upsample",
    "indexing": "Embed",
    "matrix": "InnerProduct",
    "movement": "Concat Dropout Permute ShuffleChannel Slice Split",
    "normalization": "BN BatchNorm GRN LRN MVN Normalize",
    "pooling": "Pooling SPP",
    "recurrent": "LSTM RNN",
    "reduction": "ArgMax Reduction",
    "repetition": "Tile",
    "shape": "Flatten Reshape",
    "slicing": "Crop",
}
