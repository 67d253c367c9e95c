"""The kinds that each family file lowers, so that a conversion loads only the families it needs."""

FAMILIES: dict[str, str] = {
    "activation": "Elu LeakyRelu LogSoftmax Mish Relu Relu6 Selu Sigmoid Softmax Softplus Softsign swish_f32",
    "arithmetic": (
        "Abs AccumulateNV2 Acos Acosh Add AddN AddV2 Asin Asinh Atan Atan2 Atanh BiasAdd BiasAddV1 Bitcast BitwiseAnd BitwiseOr "
        "BitwiseXor Cast Ceil CheckNumerics ClipByValue Cos Cosh Div DivNoNan Erf Erfc Erfinv Exp Expm1 Floor FloorDiv FloorMod Inv "
        "Invert LeftShift Lgamma Log Log1p Maximum Minimum Mod Mul MulNoNan Ndtri Neg Pow RealDiv Reciprocal RightShift Rint Round Rsqrt "
        "Sign Sin Sinh Sqrt Square SquaredDifference Sub Tan Tanh TruncateDiv TruncateMod Xdivy Xlog1py Xlogy"
    ),
    "comparison": (
        "ApproximateEqual Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual LogicalAnd LogicalNot LogicalOr NotEqual Select "
        "SelectV2"
    ),
    "complex_numbers": "Angle Complex ComplexAbs Conj Imag Real",
    "control_flow": "Case If StatelessCase StatelessIf StatelessWhile While",
    "convolution": (
        "Conv2D Conv2DBackpropInput Conv3D Conv3DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNative "
        "DepthwiseConv2dNativeBackpropInput Dilation2D _FusedConv2D _FusedDepthwiseConv2dNative"
    ),
    "ctc": "CTCGreedyDecoder CTCGreedyDecoderV2 CTCLoss CTCLossV2",
    "detection": (
        "CombinedNonMaxSuppression CropAndResize NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
        "NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps"
    ),
    "generation": "Eye Empty Fill LinSpace OnesLike Range ZerosLike",
    "image": (
        "AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation ExtractGlimpse ExtractImagePatches ExtractVolumePatches HSVToRGB "
        "ImageProjectiveTransformV2 ImageProjectiveTransformV3 RGBToHSV ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor "
        "ScaleAndTranslate"
    ),
    "indexing": (
        "DynamicPartition DynamicStitch Gather GatherNd GatherTree GatherV2 InvertPermutation OneHot ParallelDynamicStitch ResourceGather "
        "ResourceGatherNd ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub "
        "TensorScatterUpdate Where"
    ),
    "lookup": (
        "HashTable HashTableV2 LookupTableFind LookupTableFindV2 LookupTableSize LookupTableSizeV2 MutableHashTable MutableHashTableV2"
    ),
    "matrix": (
        "BatchMatMul BatchMatMulV2 BatchMatMulV3 BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart Cross Diag DiagPart Einsum MatMul "
        "MatrixBandPart MatrixDeterminant MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 "
        "MatrixInverse MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixSolve _FusedMatMul"
    ),
    "movement": (
        "BatchToSpace BatchToSpaceND Concat ConcatV2 ConjugateTranspose DepthToSpace MirrorPad Pack Pad PadV2 Reverse ReverseSequence "
        "ReverseV2 Roll Slice SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV StridedSlice TensorStridedSliceUpdate Tile Transpose "
        "Unpack"
    ),
    "normalization": (
        "BatchNormWithGlobalNormalization FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 InstanceNormalization LRN _FusedBatchNormEx"
    ),
    "pooling": "AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolV2 MaxPoolWithArgmax",
    "quantization": (
        "Dequantize FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize "
        "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 QuantizeV2"
    ),
    "random": (
        "Multinomial ParameterizedTruncatedNormal RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt "
        "StatelessMultinomial StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform StatelessRandomUniformInt "
        "StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessTruncatedNormal StatelessTruncatedNormalV2 TruncatedNormal"
    ),
    "recurrent": ("BlockLSTM BlockLSTMV2 CudnnRNN CudnnRNNV2 CudnnRNNV3 GRUBlockCell GRUBlockCellV2 LSTMBlockCell"),
    "reduction": (
        "All Any ArgMax ArgMin Bincount CumulativeLogsumexp Cumprod Cumsum DenseBincount EuclideanNorm L2Loss Max Mean Min Prod Sum"
    ),
    "segment": (
        "SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
        "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments UnsortedSegmentMax UnsortedSegmentMin "
        "UnsortedSegmentProd UnsortedSegmentSum"
    ),
    "shape": (
        "BroadcastArgs BroadcastTo EnsureShape ExpandDims Identity IdentityN PlaceholderWithDefault PreventGradient Rank Reshape Shape "
        "ShapeN Size Snapshot Squeeze StopGradient"
    ),
    "signal": "FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D",
    "sorting": (
        "Bucketize InTopK InTopKV2 ListDiff LowerBound NthElement SearchSorted TopK TopKV2 Unique UniqueV2 UniqueWithCounts "
        "UniqueWithCountsV2 UpperBound"
    ),
    "sparse": (
        "RaggedRange RaggedTensorToSparse RaggedTensorToTensor SparseFillEmptyRows SparseReorder SparseReshape SparseTensorDenseMatMul "
        "SparseToDense"
    ),
    "strings": ("StaticRegexReplace StringJoin StringLength StringLower StringStrip StringToNumber StringUpper Substr UnicodeDecode"),
    "tensor_list": (
        "EmptyTensorList TensorListConcatV2 TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListPopBack "
        "TensorListPushBack TensorListReserve TensorListResize TensorListScatterV2 TensorListSetItem TensorListStack"
    ),
    "variables": "ReadVariableOp VarHandleOp VarIsInitializedOp Variable VariableShape VariableV2",
}
