"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX = """
activation: Affine Celu Clip Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu ParametricSoftplus Relu
  ScaledTanh Selu Shrink Sigmoid Softmax Softplus Softsign Swish ThresholdedRelu
arithmetic: Add BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Div Max Mean Min Mod Mul Pow Sub Sum
attention.flex_attention: ai.onnx.preview.FlexAttention
attention.operations: Attention RotaryEmbedding
causal_convolution: CausalConvWithState
comparison: And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Where Xor
control_flow: If Loop Scan
convolution: Conv ConvTranspose DeformConv
data_types: BitCast Cast CastLike
detection.regions: MaxRoiPool RoiAlign
detection.suppression: NonMaxSuppression
dropout: Dropout
elementwise: Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Reciprocal Round Sign Sin Sinh Sqrt Tan Tanh
generation: BlackmanWindow ConstantOfShape EyeLike HammingWindow HannWindow Range
image.blocks: DepthToSpace SpaceToDepth
image.columns: Col2Im
image.resizing: Resize Upsample
image.sampling: AffineGrid GridSample ImageDecoder
indexing: Gather GatherElements GatherND NonZero OneHot
linear_algebra: Det
matrix: Einsum Gemm MatMul MatMulInteger Trilu
microsoft.attention: com.microsoft.Attention com.microsoft.MultiHeadAttention com.microsoft.RotaryEmbedding
microsoft.distances: com.microsoft.CDist
microsoft.fused: SimplifiedLayerNormalization com.microsoft.BiasGelu com.microsoft.EmbedLayerNormalization com.microsoft.FastGelu
  com.microsoft.FusedConv com.microsoft.FusedGemm com.microsoft.FusedMatMul com.microsoft.Gelu com.microsoft.NhwcConv
  com.microsoft.QuickGelu com.microsoft.SimplifiedLayerNormalization com.microsoft.SkipLayerNormalization
  com.microsoft.SkipSimplifiedLayerNormalization com.microsoft.TransposeMatMul
microsoft.grouped_attention: com.microsoft.GroupQueryAttention
microsoft.packed_attention: com.microsoft.PackedAttention com.microsoft.PackedMultiHeadAttention com.microsoft.QAttention
microsoft.quantization: com.microsoft.DynamicQuantizeLSTM com.microsoft.DynamicQuantizeMatMul com.microsoft.MatMulIntegerToFloat
  com.microsoft.MatMulNBits com.microsoft.QGemm com.microsoft.QLinearAdd com.microsoft.QLinearAveragePool
  com.microsoft.QLinearConcat com.microsoft.QLinearGlobalAveragePool com.microsoft.QLinearLeakyRelu com.microsoft.QLinearMul
  com.microsoft.QLinearSigmoid com.microsoft.QLinearSoftmax
ml.categories: ai.onnx.ml.CategoryMapper ai.onnx.ml.LabelEncoder ai.onnx.ml.OneHotEncoder
ml.features: ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.FeatureVectorizer ai.onnx.ml.Imputer
  ai.onnx.ml.Normalizer ai.onnx.ml.Scaler
ml.linear: ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor
ml.maps: ai.onnx.ml.CastMap ai.onnx.ml.DictVectorizer ai.onnx.ml.ZipMap
ml.support_vectors: ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor
ml.tree_ensembles: ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor
movement: Compress Concat ReverseSequence Split Transpose
normalization: BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization
  MeanVarianceNormalization RMSNormalization
pooling: AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool
quantization.operations: ConvInteger DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear
  com.microsoft.DequantizeLinear com.microsoft.QuantizeLinear
random: Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
recurrent.operations: GRU LSTM RNN
reduction: ArgMax ArgMin CumProd CumSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
  ReduceSum ReduceSumSquare
repetition: Expand Tile
scattering: Scatter ScatterElements ScatterND TensorScatter
sequences.loops: SequenceMap
sequences.operations: ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty
  SequenceErase SequenceInsert SequenceLength SplitToSequence
shape: Flatten Identity Reshape Shape Size Squeeze Unsqueeze
signal.mel: MelWeightMatrix
signal.transforms: DFT STFT
slicing: CenterCropPad Pad Slice
sort: TopK Unique
strings.concatenation: StringConcat StringSplit
strings.matching: RegexFullMatch
strings.n_grams: TfIdfVectorizer
strings.normalization: StringNormalizer
"""
