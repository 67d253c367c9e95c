"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": (
        "Affine Celu Clip Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu ParametricSoftplus Relu Scale "
        "ScaledTanh Selu Shrink Sigmoid Softmax Softplus Softsign Swish ThresholdedRelu"
    ),
    "arithmetic": "Add BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Div Max Mean Min Mod Mul Pow Sub Sum",
    "attention.flex_attention": "ai.onnx.preview.FlexAttention",
    "attention.operations": "Attention RotaryEmbedding",
    "causal_convolution": "CausalConvWithState com.microsoft.CausalConvWithState",
    "comparison": "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Where Xor",
    "control_flow": "If Loop Scan",
    "convolution": "Conv ConvTranspose DeformConv",
    "data_types": "BitCast Cast CastLike",
    "detection.regions": "MaxRoiPool RoiAlign",
    "detection.suppression": "NonMaxSuppression",
    "dropout": "Dropout",
    "elementwise": (
        "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Round Sign Sin Sinh Sqrt Tan Tanh"
    ),
    "generation": "BlackmanWindow ConstantOfShape EyeLike HammingWindow HannWindow Range",
    "image.blocks": "DepthToSpace SpaceToDepth",
    "image.columns": "Col2Im",
    "image.cropping": "Crop ImageScaler",
    "image.resizing": "Resize Upsample",
    "image.sampling": "AffineGrid GridSample ImageDecoder com.microsoft.GridSample",
    "indexing": "Gather GatherElements GatherND NonZero OneHot com.microsoft.GatherND",
    "linear_algebra": "Det",
    "matrix": "Einsum Gemm MatMul MatMulInteger Trilu com.microsoft.Trilu",
    "microsoft.attention": "com.microsoft.Attention com.microsoft.MultiHeadAttention com.microsoft.RotaryEmbedding",
    "microsoft.distances": "com.microsoft.CDist",
    "microsoft.elementwise": (
        "com.microsoft.BiasAdd com.microsoft.BiasSoftmax com.microsoft.BiasSplitGelu com.microsoft.GatedAdd "
        "com.microsoft.GemmFastGelu com.microsoft.LinearAttentionGate com.microsoft.ScaledSiLU com.microsoft.SwiGLU"
    ),
    "microsoft.experts": "com.microsoft.MoE com.microsoft.QMoE",
    "microsoft.fused": (
        "SimplifiedLayerNormalization com.microsoft.BiasGelu com.microsoft.EmbedLayerNormalization com.microsoft.FastGelu "
        "com.microsoft.FusedConv com.microsoft.FusedGemm com.microsoft.FusedMatMul com.microsoft.Gelu com.microsoft.NhwcConv "
        "com.microsoft.NhwcFusedConv com.microsoft.QuickGelu com.microsoft.SimplifiedLayerNormalization "
        "com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization com.microsoft.TransposeMatMul"
    ),
    "microsoft.grouped_attention": "com.microsoft.GroupQueryAttention",
    "microsoft.integers": "com.microsoft.IsAllFinite com.microsoft.MulInteger com.microsoft.ReduceSumInteger",
    "microsoft.linear_attention": "com.microsoft.LinearAttention",
    "microsoft.movement": (
        "com.microsoft.ExpandDims com.microsoft.Inverse com.microsoft.Range com.microsoft.TorchEmbedding "
        "com.microsoft.UnfoldTensor com.microsoft.Unique"
    ),
    "microsoft.normalization": (
        "com.microsoft.BranchwiseRMSNorm com.microsoft.GatedRMSNorm com.microsoft.GroupNorm com.microsoft.SkipGroupNorm"
    ),
    "microsoft.packed_attention": "com.microsoft.PackedAttention com.microsoft.PackedMultiHeadAttention com.microsoft.QAttention",
    "microsoft.packed_weights": "com.microsoft.GatherBlockQuantized com.microsoft.MatMulBnb4 com.microsoft.MatMulNBits",
    "microsoft.quantization": (
        "com.microsoft.DynamicQuantizeLSTM com.microsoft.DynamicQuantizeMatMul com.microsoft.MatMulIntegerToFloat "
        "com.microsoft.QEmbedLayerNormalization com.microsoft.QGemm com.microsoft.QLinearAdd com.microsoft.QLinearAveragePool "
        "com.microsoft.QLinearConcat com.microsoft.QLinearConv com.microsoft.QLinearGlobalAveragePool "
        "com.microsoft.QLinearLeakyRelu com.microsoft.QLinearMul com.microsoft.QLinearReduceMean com.microsoft.QLinearSigmoid "
        "com.microsoft.QLinearSoftmax com.microsoft.QLinearWhere"
    ),
    "microsoft.refusals": (
        "com.microsoft.BeamSearch com.microsoft.DecoderMaskedMultiHeadAttention com.microsoft.DecoderMaskedSelfAttention "
        "com.microsoft.EPContext com.microsoft.GreedySearch com.microsoft.PagedAttention com.microsoft.Sampling "
        "com.microsoft.Snpe com.microsoft.SparsePagedAttention com.microsoft.WhisperBeamSearch"
    ),
    "microsoft.relative_positions": "com.microsoft.RelativePositionBias",
    "ml.categories": "ai.onnx.ml.CategoryMapper ai.onnx.ml.LabelEncoder ai.onnx.ml.OneHotEncoder",
    "ml.features": (
        "ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.FeatureVectorizer ai.onnx.ml.Imputer "
        "ai.onnx.ml.Normalizer ai.onnx.ml.Scaler"
    ),
    "ml.linear": "ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor",
    "ml.maps": "ai.onnx.ml.CastMap ai.onnx.ml.DictVectorizer ai.onnx.ml.ZipMap",
    "ml.support_vectors": "ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor",
    "ml.tree_ensembles": "ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor",
    "movement": "Compress Concat ReverseSequence Split Transpose",
    "normalization": (
        "BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization "
        "MeanVarianceNormalization RMSNormalization"
    ),
    "pooling": "AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool com.microsoft.NhwcMaxPool",
    "quantization.brevitas": (
        "finn.custom_op.general.BipolarQuant finn.custom_op.general.IntQuant finn.custom_op.general.Quant "
        "finn.custom_op.general.Trunc onnx.brevitas.BipolarQuant onnx.brevitas.IntQuant onnx.brevitas.Quant onnx.brevitas.Trunc "
        "qonnx.custom_op.general.BipolarQuant qonnx.custom_op.general.IntQuant qonnx.custom_op.general.Quant "
        "qonnx.custom_op.general.Trunc"
    ),
    "quantization.operations": (
        "ConvInteger DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear "
        "com.microsoft.DequantizeLinear com.microsoft.QuantizeLinear"
    ),
    "random": "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike",
    "recurrent.operations": "GRU LSTM RNN",
    "reduction": (
        "ArgMax ArgMin CumProd CumSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
        "ReduceSum ReduceSumSquare"
    ),
    "repetition": "Expand Tile",
    "scattering": "Scatter ScatterElements ScatterND TensorScatter",
    "sequences.loops": "SequenceMap",
    "sequences.operations": (
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty "
        "SequenceErase SequenceInsert SequenceLength SplitToSequence"
    ),
    "shape": "Flatten Identity MemcpyFromHost MemcpyToHost Reshape Shape Size Squeeze Unsqueeze com.microsoft.SampleOp",
    "signal.mel": "MelWeightMatrix",
    "signal.transforms": "DFT STFT",
    "slicing": "CenterCropPad DynamicSlice Pad Slice com.microsoft.Pad",
    "sort": "TopK Unique",
    "strings.byte_pairs": "ai.onnx.contrib.GPT2Tokenizer ai.onnx.contrib.RobertaTokenizer",
    "strings.concatenation": "StringConcat StringSplit",
    "strings.extensions": (
        "ai.onnx.contrib.AudioDecoder ai.onnx.contrib.BasicTokenizer ai.onnx.contrib.BertTokenizer "
        "ai.onnx.contrib.BertTokenizerDecoder ai.onnx.contrib.BlingFireSentenceBreaker ai.onnx.contrib.BpeDecoder "
        "ai.onnx.contrib.CLIPTokenizer ai.onnx.contrib.DecodeImage ai.onnx.contrib.DrawBoundingBoxes ai.onnx.contrib.EncodeImage "
        "ai.onnx.contrib.HfBertTokenizer ai.onnx.contrib.HfJsonTokenizer ai.onnx.contrib.ImageDecoder ai.onnx.contrib.ImageReader "
        "ai.onnx.contrib.Inverse ai.onnx.contrib.NegPos ai.onnx.contrib.SentencepieceDecoder ai.onnx.contrib.SpmTokenizer "
        "ai.onnx.contrib.TrieDetokenizer ai.onnx.contrib.TrieTokenizer ai.onnx.contrib.WordpieceTokenizer"
    ),
    "strings.matching": "RegexFullMatch",
    "strings.n_grams": "TfIdfVectorizer",
    "strings.normalization": "StringNormalizer",
    "strings.sentence_piece": "ai.onnx.contrib.SentencepieceTokenizer",
}
