"""The kinds that each family module lowers, so that a conversion imports only the families that it needs."""

FAMILIES: dict[str, str] = {
    "activation": ("AbsVal BNLL Clip ELU Exp Log Power PReLU ReLU ReLU6 Sigmoid Softmax Swish TanH Threshold"),
    "arithmetic": "ArgMax Axpy Bias Eltwise Reduction Scale",
    "convolution": "Convolution ConvolutionBinary ConvolutionDepthwise Deconvolution DepthwiseConvolution DilatedConvolution",
    "detection": "CTCGreedyDecoder DetectionOutput PSROIPooling PriorBox PriorBoxClustered Proposal Python ROIPooling RegionYolo ReorgYolo",
    "flow": "Accum Correlation DataAugmentation Filter FlowWarp",
    "image": "Interp Resample Upsample",
    "matrix": "Embed InnerProduct",
    "movement": "Concat Crop Dropout Flatten Permute Reshape ShuffleChannel Slice Split Tile",
    "normalization": "BN BatchNorm GRN LRN MVN Normalize",
    "pooling": "Pooling SPP",
    "recurrent": "LSTM RNN",
}
