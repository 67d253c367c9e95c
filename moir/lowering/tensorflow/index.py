"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": (
        "Elu LeakyRelu LogSoftmax Mish Prelu Relu Relu6 Selu Sigmoid Softmax SoftmaxCrossEntropyWithLogits Softplus Softsign "
        "SparseSoftmaxCrossEntropyWithLogits swish_f32"
    ),
    "arithmetic": (
        "AccumulateNV2 Add AddN AddV2 Atan2 BiasAdd BiasAddV1 BitwiseAnd BitwiseOr BitwiseXor ClipByValue Div DivNoNan FloorDiv "
        "FloorMod LeftShift Maximum Minimum Mod Mul MulNoNan NextAfter PopulationCount Pow RealDiv RightShift SquaredDifference "
        "Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy"
    ),
    "comparison": (
        "ApproximateEqual Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual LogicalAnd LogicalNot LogicalOr NotEqual "
        "Select SelectV2 ToBool"
    ),
    "complex.numbers": "Angle Complex ComplexAbs Conj Exp Imag Real",
    "control_flow": "Case If StatelessCase StatelessIf StatelessWhile While XlaIf XlaWhile",
    "convolution": (
        "Conv2D Conv2DBackpropInput Conv2DBackpropInputV2 Conv3D Conv3DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNative "
        "DepthwiseConv2dNativeBackpropInput Dilation2D FusedDepthwiseConv2dNative _FusedConv2D _FusedDepthwiseConv2dNative"
    ),
    "data_format_values": "DataFormatDimMap DataFormatVecPermute",
    "data_types": "Bitcast Cast",
    "decoding": "Addons>GatherTree CTCGreedyDecoder CTCLoss CTCLossV2 GatherTree",
    "detection.regions": "CropAndResize",
    "detection.suppression": (
        "CombinedNonMaxSuppression NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
        "NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps"
    ),
    "elementwise": (
        "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Erfc Erfinv Expm1 Floor Inv Invert Log Log1p Ndtri Neg Reciprocal "
        "Rint Round Rsqrt Sign Sin Sinh Sqrt Square Tan Tanh"
    ),
    "general_convolution": "Conv FusedPadConv2D FusedResizeAndPadConv2D",
    "generation": "Empty FakeParam Fill LinSpace OnesLike Range ZerosLike",
    "image.blocks": "BatchToSpace BatchToSpaceND DepthToSpace SpaceToBatch SpaceToBatchND SpaceToDepth",
    "image.color": "AdjustHue AdjustSaturation HSVToRGB RGBToHSV",
    "image.glimpse": "ExtractGlimpseV2",
    "image.refusals": "DrawBoundingBoxes DrawBoundingBoxesV2 FractionalAvgPool FractionalMaxPool GenerateBoundingBoxProposals",
    "image.sampling": (
        "AdjustContrast AdjustContrastv2 ExtractGlimpse ExtractImagePatches ExtractVolumePatches ImageProjectiveTransformV2 "
        "ImageProjectiveTransformV3 ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor ScaleAndTranslate"
    ),
    "indexing": (
        "DynamicPartition DynamicStitch Gather GatherNd GatherV2 InvertPermutation OneHot ParallelDynamicStitch ResourceGather "
        "ResourceGatherNd Where"
    ),
    "linear_algebra.decompositions": (
        "BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd Eig Lu MatrixExponential MatrixLogarithm MatrixSquareRoot Qr "
        "SelfAdjointEig SelfAdjointEigV2 Svd"
    ),
    "linear_algebra.determinants": "BatchMatrixDeterminant LogMatrixDeterminant MatrixDeterminant",
    "linear_algebra.diagonals": (
        "BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag Diag DiagPart MatrixBandPart MatrixDiag "
        "MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3"
    ),
    "linear_algebra.linear_systems": (
        "BandedTriangularSolve BatchCholesky BatchMatrixSolveLs BatchMatrixTriangularSolve Cholesky MatrixSolveLs "
        "MatrixTriangularSolve TridiagonalMatMul TridiagonalSolve"
    ),
    "matrix": (
        "BatchMatMul BatchMatMulV2 BatchMatMulV3 BatchMatrixInverse BatchMatrixSolve Cross Einsum MatMul MatrixInverse "
        "MatrixSolve XlaEinsum _FusedMatMul"
    ),
    "movement": (
        "Concat ConcatOffset ConcatV2 ConjugateTranspose Pack ParallelConcat Reverse ReverseSequence ReverseV2 Roll Split SplitV "
        "Transpose Unpack"
    ),
    "normalization": "BatchNormWithGlobalNormalization FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 LRN _FusedBatchNormEx",
    "pooling": "AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolV2 MaxPoolWithArgmax",
    "quantization.conversions": (
        "Dequantize FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantize "
        "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 QuantizeV2"
    ),
    "quantization.operations": (
        "QuantizeDownAndShrinkRange QuantizedAdd QuantizedAvgPool QuantizedBatchNormWithGlobalNormalization QuantizedBiasAdd "
        "QuantizedConcat QuantizedConcatV2 QuantizedInstanceNorm QuantizedMaxPool QuantizedMul QuantizedRelu QuantizedRelu6 "
        "QuantizedReluX QuantizedReshape QuantizedResizeBilinear RequantizationRange RequantizationRangePerChannel Requantize "
        "RequantizePerChannel"
    ),
    "quantization.products": (
        "QuantizedConv2D QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize "
        "QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu "
        "QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize "
        "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu "
        "QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias "
        "QuantizedDepthwiseConv2DWithBiasAndRelu QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize QuantizedMatMul "
        "QuantizedMatMulWithBias QuantizedMatMulWithBiasAndDequantize QuantizedMatMulWithBiasAndRelu "
        "QuantizedMatMulWithBiasAndReluAndRequantize QuantizedMatMulWithBiasAndRequantize"
    ),
    "quantization.uniform_operations": (
        "UniformDequantize UniformQuantize UniformQuantizedAdd UniformQuantizedClipByValue UniformRequantize"
    ),
    "quantization.uniform_products": (
        "UniformQuantizedConvolution UniformQuantizedConvolutionHybrid UniformQuantizedDot UniformQuantizedDotHybrid"
    ),
    "ragged": "RaggedBincount RaggedRange RaggedTensorToSparse RaggedTensorToTensor",
    "random.distributions": (
        "NonDeterministicInts RandomCrop RandomGamma RandomPoisson RandomPoissonV2 RngReadAndSkip StatefulRandomBinomial "
        "StatefulStandardNormal StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt "
        "StatefulUniformInt StatelessRandomBinomial StatelessRandomGammaV2 StatelessRandomGammaV3 StatelessRandomPoisson "
        "StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatelessShuffle"
    ),
    "random.numbers": (
        "Multinomial ParameterizedTruncatedNormal RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt "
        "StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessRandomGetAlg StatelessRandomGetKeyCounter "
        "StatelessRandomGetKeyCounterAlg StatelessRandomNormal StatelessRandomNormalV2 StatelessRandomUniform "
        "StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessRandomUniformV2 StatelessTruncatedNormal "
        "StatelessTruncatedNormalV2 TruncatedNormal"
    ),
    "recurrent.cells": "BlockLSTM BlockLSTMV2 GRUBlockCell LSTMBlockCell",
    "recurrent.cudnn": "CudnnRNN CudnnRNNV2 CudnnRNNV3",
    "recurrent.cudnn_weights": (
        "CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2 CudnnRNNParamsSize CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2"
    ),
    "reduction": (
        "All Any ArgMax ArgMin Bincount Cumprod Cumsum CumulativeLogsumexp DenseBincount EuclideanNorm HistogramFixedWidth L2Loss "
        "Max Mean Min Prod Sum"
    ),
    "repetition": "BroadcastArgs BroadcastTo Tile",
    "resources.lookup_tables": (
        "HashTable HashTableV2 LookupTableFind LookupTableFindV2 LookupTableSize LookupTableSizeV2 MutableHashTable MutableHashTableV2"
    ),
    "resources.tensor_list_writes": (
        "TensorListConcatLists TensorListPushBack TensorListResize TensorListScatter TensorListScatterIntoExistingList "
        "TensorListScatterV2 TensorListSetItem TensorListSetRange"
    ),
    "resources.tensor_lists": (
        "EmptyTensorList TensorListConcat TensorListConcatV2 TensorListElementShape TensorListFromTensor TensorListGather "
        "TensorListGetItem TensorListLength TensorListPieces TensorListPopBack TensorListReserve TensorListSplit TensorListStack"
    ),
    "resources.variables": (
        "Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp AssignVariableOp IsVariableInitialized ReadVariableOp "
        "ResourceScatterAdd ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterSub ResourceScatterUpdate "
        "ScatterAdd ScatterMax ScatterMin ScatterMul ScatterSub ScatterUpdate VarHandleOp VarIsInitializedOp Variable "
        "VariableShape VariableV2"
    ),
    "scattering": (
        "InplaceAdd InplaceSub InplaceUpdate ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub "
        "ResourceScatterNdUpdate ScatterNd ScatterNdAdd ScatterNdMax ScatterNdMin ScatterNdNonAliasingAdd ScatterNdSub "
        "ScatterNdUpdate TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate"
    ),
    "shape": (
        "CheckNumerics CheckNumericsV2 Copy CopyHost DebugGradientIdentity DeepCopy EnsureShape ExpandDims GuaranteeConst "
        "Identity IdentityN PlaceholderWithDefault PreventGradient Print Rank RefIdentity Reshape Shape ShapeN Size Snapshot "
        "Squeeze StopGradient"
    ),
    "signal.audio": "AudioSpectrogram Mfcc",
    "signal.transforms": (
        "BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D FFT FFT2D FFT3D FFTND IFFT IFFT2D IFFT3D IFFTND IRFFT "
        "IRFFT2D IRFFT3D IRFFTND RFFT RFFT2D RFFT3D RFFTND"
    ),
    "slicing": "MirrorPad Pad PadV2 ResourceStridedSliceAssign Slice StridedSlice StridedSliceAssign TensorStridedSliceUpdate",
    "sort": (
        "ApproxTopK Bucketize InTopK InTopKV2 ListDiff LowerBound NthElement TopK TopKV2 Unique UniqueV2 UniqueWithCounts "
        "UniqueWithCountsV2 UpperBound"
    ),
    "sparse.functions": (
        "SparseAdd SparseConcat SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseMatMul SparseReduceMax "
        "SparseReduceSum SparseSlice SparseSoftmax SparseSparseMaximum SparseSparseMinimum"
    ),
    "sparse.segments": (
        "SegmentMax SegmentMaxV2 SegmentMean SegmentMin SegmentMinV2 SegmentProd SegmentProdV2 SegmentSum SegmentSumV2 "
        "SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSum "
        "SparseSegmentSumWithNumSegments UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum"
    ),
    "sparse.tensors": (
        "SparseFillEmptyRows SparseReorder SparseReshape SparseTensorDenseAdd SparseTensorDenseMatMul SparseToDense UnravelIndex"
    ),
    "special.bessel": ("BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1"),
    "special.gamma": "Digamma Lgamma Polygamma Zeta",
    "special.incomplete_functions": "Betainc Igamma Igammac",
    "special.integral_functions": "Dawsn Expint FresnelCos FresnelSin Spence",
    "strings.bytes": "DecodeBase64 DecodeCompressed DecodeRaw EncodeBase64 UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode",
    "strings.numbers": "AsString StringToHashBucketFast StringToNumber",
    "strings.parts": (
        "ReduceJoin StringJoin StringLength StringLower StringNGrams StringSplit StringSplitV2 StringStrip StringUpper Substr "
        "UnsortedSegmentJoin"
    ),
    "strings.patterns": "RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace",
    "strings.refusals": (
        "DecodeBmp DecodeCSV DecodeGif DecodeImage DecodeJSONExample DecodeJpeg DecodePng DecodeWav EncodeJpeg EncodePng "
        "ParseExample ParseExampleV2 ParseSingleExample ParseTensor ReadFile StringFormat StringToHashBucket "
        "StringToHashBucketStrong UnicodeScript UnicodeTranscode"
    ),
    "xla.convolution": "XlaConv XlaConvV2",
    "xla.indexing": "XlaGather XlaScatter",
    "xla.movement": (
        "XlaBroadcastHelper XlaDynamicSlice XlaDynamicUpdateSlice XlaOptimizationBarrier XlaPad XlaRemoveDynamicDimensionSize "
        "XlaSetBound XlaSharding"
    ),
    "xla.products": "XlaDot XlaDotV2",
    "xla.reduction": "XlaReduce XlaVariadicReduce XlaVariadicReduceV2",
    "xla.refusals": (
        "XlaAllReduce XlaCustomCall XlaCustomCallV2 XlaRecv XlaReduceScatter XlaReplicaId XlaRngBitGenerator XlaSelectAndScatter "
        "XlaSelfAdjointEig XlaSend XlaSetDynamicDimensionSize XlaSpmdFullToShardShape XlaSpmdShardToFullShape XlaSvd"
    ),
    "xla.sorting": "XlaKeyValueSort XlaSort XlaVariadicSort",
    "xla.windows": "XlaReduceWindow",
}
