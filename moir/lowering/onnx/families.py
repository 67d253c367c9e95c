"""The kinds that each family module lowers, so that a conversion imports only the families that it needs."""

FAMILIES: dict[str, str] = {
    "activation": (
        "Affine Celu Clip Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu ParametricSoftplus Relu "
        "ScaledTanh Selu Shrink Sigmoid Softmax Softplus Softsign Swish ThresholdedRelu"
    ),
    "arithmetic": (
        "Abs Acos Acosh Add Asin Asinh Atan Atanh BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Cos "
        "Cosh Div Erf Exp Floor Log Max Mean Min Mod Mul Neg Pow Reciprocal Round Sign Sin Sinh Sqrt Sub Sum Tan Tanh"
    ),
    "attention": "Attention RotaryEmbedding",
    "bits": "BitCast BitShift",
    "blocks_of_images": "Col2Im",
    "causal_convolution": "CausalConvWithState",
    "control_flow": "If Loop Scan",
    "convolution": "Conv ConvTranspose DeformConv",
    "detection": "MaxRoiPool NonMaxSuppression RoiAlign",
    "distances": "com.microsoft.CDist",
    "dropout": "Dropout",
    "einsum": "Einsum",
    "generation": (
        "Bernoulli BlackmanWindow ConstantOfShape EyeLike HammingWindow HannWindow Multinomial RandomNormal RandomNormalLike "
        "RandomUniform RandomUniformLike Range"
    ),
    "flex_attention": "ai.onnx.preview.FlexAttention",
    "image": "AffineGrid GridSample ImageDecoder",
    "resizing": "Resize Upsample",
    "indexing": "Gather GatherElements GatherND Scatter ScatterElements ScatterND TensorScatter Where",
    "logical": "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor",
    "determinant": "Det",
    "matrix": "Gemm MatMul MatMulInteger Trilu",
    "microsoft": (
        "SimplifiedLayerNormalization com.microsoft.BiasGelu com.microsoft.EmbedLayerNormalization com.microsoft.FastGelu "
        "com.microsoft.FusedConv com.microsoft.FusedGemm com.microsoft.FusedMatMul com.microsoft.Gelu "
        "com.microsoft.NhwcConv com.microsoft.QuickGelu "
        "com.microsoft.SimplifiedLayerNormalization com.microsoft.SkipLayerNormalization "
        "com.microsoft.SkipSimplifiedLayerNormalization com.microsoft.TransposeMatMul"
    ),
    "microsoft_attention": "com.microsoft.Attention com.microsoft.MultiHeadAttention com.microsoft.RotaryEmbedding",
    "microsoft_packed_attention": ("com.microsoft.PackedAttention com.microsoft.PackedMultiHeadAttention com.microsoft.QAttention"),
    "grouped_attention": "com.microsoft.GroupQueryAttention",
    "microsoft_quantization": (
        "com.microsoft.DynamicQuantizeMatMul com.microsoft.MatMulIntegerToFloat com.microsoft.MatMulNBits "
        "com.microsoft.QGemm com.microsoft.QLinearAdd com.microsoft.QLinearAveragePool "
        "com.microsoft.QLinearConcat com.microsoft.QLinearGlobalAveragePool com.microsoft.QLinearLeakyRelu "
        "com.microsoft.QLinearMul com.microsoft.QLinearSigmoid com.microsoft.QLinearSoftmax"
    ),
    "ml_categories": "ai.onnx.ml.CategoryMapper ai.onnx.ml.LabelEncoder ai.onnx.ml.OneHotEncoder",
    "ml_features": (
        "ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.FeatureVectorizer ai.onnx.ml.Imputer "
        "ai.onnx.ml.Normalizer ai.onnx.ml.Scaler"
    ),
    "ml_linear": "ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor",
    "ml_maps": "ai.onnx.ml.CastMap ai.onnx.ml.DictVectorizer ai.onnx.ml.ZipMap",
    "ml_support_vectors": "ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor",
    "ml_tree_ensembles": "ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor",
    "movement": "CenterCropPad Compress Concat DepthToSpace Expand Pad ReverseSequence SpaceToDepth Split Tile Transpose",
    "normalization": (
        "BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization "
        "MeanVarianceNormalization RMSNormalization"
    ),
    "pooling": "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool",
    "quantization": (
        "ConvInteger DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear "
        "com.microsoft.DequantizeLinear com.microsoft.QuantizeLinear"
    ),
    "recurrent": "GRU LSTM RNN",
    "reduction": (
        "ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
    ),
    "sequence": "CumProd CumSum NonZero OneHot TopK Unique",
    "sequence_loops": "SequenceMap",
    "shape": "Flatten Identity Reshape Shape Size Squeeze Unsqueeze",
    "slicing": "Slice",
    "mel": "MelWeightMatrix",
    "signal": "DFT STFT",
    "string_matching": "RegexFullMatch",
    "string_normalization": "StringNormalizer",
    "strings": "StringConcat StringSplit",
    "text": "TfIdfVectorizer",
    "tensor_sequence": (
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
        "SequenceErase SequenceInsert SequenceLength SplitToSequence"
    ),
}
