"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": ("AbsVal BNLL Clip ELU Exp Log PReLU Power ReLU ReLU6 Sigmoid Softmax Swish TanH Threshold"),
    "arithmetic": ("ArgMax Axpy Bias Eltwise Reduction Scale"),
    "convolution": ("Convolution ConvolutionBinary ConvolutionDepthwise Deconvolution DepthwiseConvolution DilatedConvolution"),
    "detection": (
        "CTCGreedyDecoder DetectionOutput PSROIPooling PriorBox PriorBoxClustered Proposal Python ROIPooling RegionYolo ReorgYolo"
    ),
    "flow": ("Accum Correlation DataAugmentation Filter FlowWarp"),
    "image": ("Interp Resample Upsample"),
    "matrix": ("Embed InnerProduct"),
    "movement": ("Concat Crop Dropout Flatten Permute Reshape ShuffleChannel Slice Split Tile"),
    "normalization": ("BN BatchNorm GRN LRN MVN Normalize"),
    "pooling": ("Pooling SPP"),
    "recurrent": ("LSTM RNN"),
}
