"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": "Elu Gelu HSigmoid HSwish HardSigmoid LogSoftmax Mish PRelu Relu Selu Sigmoid SoftPlus SoftSign Softmax Swish",
    "control_flow": "If Loop TensorIterator",
    "convolution": (
        "AdaptiveAvgPool AdaptiveMaxPool AvgPool Convolution ConvolutionBackpropData DeformableConvolution GroupConvolution "
        "GroupConvolutionBackpropData MaxPool"
    ),
    "decoding": "CTCGreedyDecoder CTCGreedyDecoderSeqLen",
    "detection": ("NonMaxSuppression ROIAlign ROIPooling opset1.NonMaxSuppression opset3.NonMaxSuppression opset4.NonMaxSuppression"),
    "detection_output": "DetectionOutput",
    "elementwise": (
        "Abs Acos Acosh Add Asin Asinh Atan Atanh BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor "
        "Ceiling Clamp Convert ConvertLike ConvertPromoteTypes Cos Cosh Divide Equal Erf Exp Floor FloorMod Greater GreaterEqual "
        "Identity IsFinite IsInf IsNaN Less LessEqual Log LogicalAnd LogicalNot LogicalOr LogicalXor Maximum Minimum Mod Multiply "
        "Negative NotEqual Power Round Select Sign Sin Sinh Sqrt SquaredDifference Subtract Tan Tanh Xor"
    ),
    "embedding": "EmbeddingBagPacked EmbeddingBagPackedSum",
    "generation": "Eye RandomUniform Range opset1.Range",
    "image": "BatchToSpace Col2Im ExtractImagePatches GridSample Interpolate SpaceToBatch opset1.Interpolate opset4.Interpolate",
    "indexing": (
        "Bucketize Gather GatherElements GatherND NonZero OneHot ScatterElementsUpdate ScatterNDUpdate ScatterUpdate SearchSorted "
        "TopK Unique opset5.GatherND"
    ),
    "matrix": "Einsum MatMul ScaledDotProductAttention",
    "normalization": "BatchNormInference GRN GroupNormalization LRN MVN NormalizeL2 opset1.BatchNormInference opset2.MVN",
    "priors": "PriorBox PriorBoxClustered",
    "quantization": "FakeQuantize",
    "recurrent": "GRUCell GRUSequence LSTMCell LSTMSequence RNNCell RNNSequence opset1.LSTMCell",
    "reduction": "CumSum ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum",
    "shape": (
        "Broadcast Concat DepthToSpace Reshape Reverse ReverseSequence Roll ShapeOf ShuffleChannels SpaceToDepth Split Squeeze "
        "Tile Transpose Unsqueeze VariadicSplit"
    ),
    "signal": "DFT IDFT IRDFT RDFT STFT",
    "slicing": "Pad Slice SliceScatter StridedSlice",
    "yolo": "RegionYolo ReorgYolo",
}
