"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "arithmetic": (
        "Activation Add AddN AttributedPower BiasAdd Clamp Div Eltwise EltwiseN Equal FloorMod Greater GreaterEqual HardSigmoid "
        "LeakyReLU Less LessEqual Log1p LogSoftmaxONNX LogicalAnd LogicalOr LogicalXor Maximum Minimum Minus Mod Mul Neg Negative "
        "NotEqual Pow Power ReLU ReLU6 Reciprocal Rsqrt ScaleShift SoftMax SoftMaxONNX Softmax Square SquaredDifference Sub"
    ),
    "data_types": "Cast Const Constant ConstantLike Dropout Identity OpOutput Parameter Placeholder Result StopGradient",
    "matrix": "FullyConnected Gemm InnerProduct",
    "movement": (
        "AttributedGather AttributedPad AttributedRoll AttributedSlice AttributedSplit AttributedTile AttributedVariadicSplit "
        "CaffeSlice Concat Crop Fill Gather MXSlice ONNXPad Pack Pad Permute Select ShuffleChannel Slice Split TFPad TFSlice Tile "
        "Transpose Unpack VariadicSplit"
    ),
    "normalization": (
        "AttributedLRN BatchNorm BatchNormInference FusedBatchNorm InstanceNormalization LRN MVN MVNCaffe MVNOnnx Norm Normalize "
        "batchNormInference"
    ),
    "prior_boxes": "PriorBox PriorBoxClustered",
    "proposals": "Proposal",
    "reduction": (
        "Reduce ReduceAnd ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceOr ReduceProd ReduceSum"
    ),
    "region": "RegionYolo ReorgYolo",
    "sampling": "Interp Interpolate ROIPooling Resample Upsample",
    "shape": ("ArgMax ArgMin ConstantOfShape ExpandDims Flatten FlattenONNX MXReshape Rank Reshape Shape Size Squeeze TopK Unsqueeze"),
    "sliding_window": ("AdaptiveAvgPooling AveragePool AvgPool Conv Conv2D Conv3D Convolution Deconv2D Deconvolution MaxPool Pooling"),
}
