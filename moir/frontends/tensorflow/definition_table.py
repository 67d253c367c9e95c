"""TensorFlow's definitions of the nodes that moir reads; `python -m scripts.tensorflow_definitions` writes it."""

from moir.support.tables import by_member

DEFINITIONS = by_member(
    {
        "0; 0": "Abort ControlTrigger NoOp None",
        "1; 1": (
            "Abs Acos Acosh Angle AsString Asin Asinh Atan Atanh BatchCholesky BatchFFT BatchFFT2D BatchFFT3D BatchIFFT "
            "BatchIFFT2D BatchIFFT3D BatchMatrixDeterminant BatchMatrixDiag BatchMatrixDiagPart BatchMatrixInverse "
            "BatchSelfAdjointEig BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e "
            "BesselY0 BesselY1 Bitcast Cast Ceil Cholesky ComplexAbs Conj Copy CopyHost Cos Cosh DataFormatDimMap "
            "DataFormatVecPermute Dawsn DebugGradientIdentity DecodeBase64 DecodeBmp DecodeCompressed DecodeGif DecodeImage "
            "DecodeJSONExample DecodeJpeg DecodePng DecodeRaw DeepCopy Diag DiagPart Digamma Elu Empty EncodeBase64 EncodeJpeg "
            "EncodePng EnsureShape Erf Erfc Erfinv Exit Exp Expint Expm1 FFT FFT2D FFT3D FakeQuantWithMinMaxArgs Floor FresnelCos "
            "FresnelSin GuaranteeConst HSVToRGB IFFT IFFT2D IFFT3D Identity Imag Inv Invert InvertPermutation IsFinite IsInf "
            "IsNan IsVariableInitialized L2Loss LRN LeakyRelu Lgamma Log Log1p LogSoftmax LogicalNot LookupTableSize "
            "LookupTableSizeV2 LoopCond MatrixDeterminant MatrixDiag MatrixDiagPart MatrixExponential MatrixInverse "
            "MatrixLogarithm MatrixSquareRoot Ndtri Neg NextIteration NonDeterministicInts OnesLike ParseTensor "
            "PlaceholderWithDefault PopulationCount PreventGradient QuantizeAndDequantize RGBToHSV RandomShuffle "
            "RandomStandardNormal RandomUniform Rank ReadFile ReadVariableOp Real Reciprocal RefExit RefIdentity RefNextIteration "
            "Relu Relu6 Rint Round Rsqrt SelfAdjointEig Selu Shape Sigmoid Sign Simple Sin Sinh Size Snapshot Softmax Softplus "
            "Softsign Spence Sqrt Square Squeeze StackV2 StopGradient StringLength StringLower StringStrip StringToNumber "
            "StringUpper Tan Tanh TensorArray TensorListElementShape TensorListLength ToBool TruncatedNormal UnicodeScript "
            "VarIsInitializedOp VariableShape Where XlaSharding XlaSort ZerosLike"
        ),
        "0 N>=1; 1": "AccumulateNV2 AddN Pack ParallelConcat",
        "2; 1": (
            "Add AddV2 AdjustContrastv2 AdjustHue AdjustSaturation All Any ApproximateEqual ArgMax ArgMin Assign AssignAdd "
            "AssignSub Atan2 BandedTriangularSolve BatchMatMul BatchMatMulV2 BatchMatMulV3 BatchMatrixSetDiag BatchMatrixSolve "
            "BatchMatrixTriangularSolve BiasAdd BiasAddV1 BitwiseAnd BitwiseOr BitwiseXor BroadcastArgs BroadcastTo Complex "
            "ConjugateTranspose Cross Cumprod Cumsum CumulativeLogsumexp Div DivNoNan DrawBoundingBoxes EmptyTensorList Equal "
            "EuclideanNorm ExpandDims Fill FloorDiv FloorMod Gather GatherNd Greater GreaterEqual IRFFT IRFFT2D IRFFT3D Igamma "
            "Igammac LeftShift Less LessEqual LogicalAnd LogicalOr LowerBound MatMul MatrixSetDiag MatrixSolve "
            "MatrixTriangularSolve Max Maximum Mean Mfcc Min Minimum Mod Mul MulNoNan Multinomial NextAfter NotEqual NthElement "
            "Pad Polygamma Pow Prod RFFT RFFT2D RFFT3D RandomCrop RandomGamma RandomPoisson RandomPoissonV2 RealDiv ReduceJoin "
            "RegexFullMatch Reshape ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor ResourceGather ResourceGatherNd "
            "Restore Reverse ReverseV2 RightShift SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseMatMul "
            "SquaredDifference StatefulStandardNormal StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformFullInt "
            "StatelessTruncatedNormal Sub Sum TensorArrayPack TensorArraySizeV3 TensorListConcatLists TensorListFromTensor "
            "TensorListPushBack TensorListReserve TensorListResize TensorListStack Tile Transpose TridiagonalSolve TruncateDiv "
            "TruncateMod UnravelIndex UpperBound Xdivy XlaRemoveDynamicDimensionSize XlaSetBound Xlog1py Xlogy Zeta"
        ),
        "4; 1": (
            "AdjustContrast CropAndResize NonMaxSuppressionV2 OneHot QuantizeAndDequantizeV3 RaggedBincount ScaleAndTranslate "
            "SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseReduceMax SparseReduceSum "
            "SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments SparseSegmentSumWithNumSegments "
            "SparseTensorDenseAdd SparseTensorDenseMatMul SparseToDense StatelessRandomBinomial StatelessRandomNormalV2 "
            "StatelessRandomUniformFullIntV2 StatelessRandomUniformInt StatelessRandomUniformV2 StatelessShuffle "
            "StatelessTruncatedNormalV2 StridedSlice TensorArrayScatterV3 TensorArraySplitV3 TensorArrayWriteV3 "
            "TensorListScatterV2 TridiagonalMatMul"
        ),
        "1; 3; num_true:int num_sampled:int unique:bool": "AllCandidateSampler",
        "0; 1": (
            "AnonymousHashTable Const FakeParam HashTable HashTableV2 MutableHashTable MutableHashTableV2 Placeholder "
            "PlaceholderV2 SparseConditionalAccumulator StatelessRandomGetAlg Timestamp VarHandleOp Variable VariableV2 "
            "XlaReplicaId"
        ),
        "1; 2; k:int": "ApproxTopK TopK TopKUnique TopKWithUnique",
        "1 T>=1; 0": "Assert",
        "2; 0": "AssignAddVariableOp AssignSubVariableOp AssignVariableOp MergeV2Checkpoints",
        "1; 1; window_size:int stride:int": "AudioSpectrogram",
        "1; 1; ksize:list(int) strides:list(int) padding:string": "AvgPool AvgPool3D MaxPool MaxPool3D",
        "2; 2 component_types>=1": "BarrierTakeMany",
        ("0 T>=1; 2 T>=1; num_batch_threads:int max_batch_size:int batch_timeout_micros:int grad_timeout_micros:int"): "Batch",
        "0 Tin>=1 Tcaptured>=0; 0 Tout>=1; num_batch_threads:int max_batch_size:int batch_timeout_micros:int": "BatchFunction",
        "3; 1": (
            "BatchMatrixBandPart BatchMatrixSolveLs BatchToSpaceND Betainc Bincount ClipByValue CudnnRNNParamsSize DenseBincount "
            "Dequantize DrawBoundingBoxesV2 ExtractGlimpse ExtractGlimpseV2 FFTND FakeQuantWithMinMaxVars "
            "FakeQuantWithMinMaxVarsPerChannel GatherV2 HistogramFixedWidth IFFTND IRFFTND InTopKV2 InplaceAdd InplaceSub "
            "InplaceUpdate LinSpace LookupTableFind LookupTableFindV2 MatrixBandPart MatrixDiagPartV2 MatrixDiagPartV3 "
            "MatrixSetDiagV2 MatrixSetDiagV3 MatrixSolveLs NonMaxSuppression PadV2 QuantizeAndDequantizeV2 "
            "QuantizeAndDequantizeV4 RFFTND RandomUniformInt Range RegexReplace RestoreSlice RngReadAndSkip Roll ScatterAdd "
            "ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNd ScatterNdAdd ScatterNdMax ScatterNdMin ScatterNdNonAliasingAdd "
            "ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate SegmentMaxV2 SegmentMinV2 SegmentProdV2 SegmentSumV2 Select "
            "SelectV2 ShardedFilename Slice SpaceToBatchND SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum SparseSoftmax "
            "StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt StatelessMultinomial "
            "StatelessRandomGammaV2 StatelessRandomPoisson Substr TensorArrayGatherV3 TensorArrayReadV3 TensorArrayUnpack "
            "TensorListGather TensorListGetItem TensorListScatter TensorListScatterIntoExistingList TensorListSetItem "
            "TensorListSplit TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate "
            "UnsortedSegmentJoin UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum XlaDynamicSlice "
            "XlaDynamicUpdateSlice XlaSetDynamicDimensionSize"
        ),
        "5; 1; variance_epsilon:float scale_after_normalization:bool": "BatchNormWithGlobalNormalization",
        "1; 2": (
            "BatchSelfAdjointEigV2 DecodeWav Eig IsotonicRegression LogMatrixDeterminant LookupTableExport LookupTableExportV2 Lu "
            "Qr SelfAdjointEigV2 StatelessRandomGetKeyCounter TensorArrayV3 TensorListConcat Unique"
        ),
        "1; 3": (
            "BatchSvd CSRSparseMatrixToSparseTensor DeserializeManySparse DeserializeSparse StatelessRandomGetKeyCounterAlg Svd "
            "TakeManySparseFromTensorsMap UniqueWithCounts"
        ),
        "2; 1; block_size:int": "BatchToSpace SpaceToBatch",
        "9; 7": "BlockLSTM BlockLSTMV2",
        "18; 8; use_peephole:bool": "BlockLSTMGrad BlockLSTMGradV2",
        "2; 2": (
            "BroadcastGradientArgs ListDiff RaggedFillEmptyRowsGrad RefSwitch SoftmaxCrossEntropyWithLogits "
            "SparseFillEmptyRowsGrad SparseSoftmaxCrossEntropyWithLogits Switch TensorArrayConcat TensorArrayConcatV2 "
            "TensorArrayConcatV3 TensorListPopBack TopKV2 UniqueV2 XlaKeyValueSort"
        ),
        "1; 1; boundaries:list(float)": "Bucketize",
        "2; 3": (
            "CSRSparseMatrixComponents SampleDistortedBoundingBox SparseAccumulatorTakeGradient StringSplit StringSplitV2 "
            "UniqueWithCountsV2"
        ),
        "2; 1 top_paths>=1 top_paths>=1 top_paths>=1; beam_width:int top_paths:int": "CTCBeamSearchDecoder",
        "2; 4": "CTCGreedyDecoder",
        "4; 2": "CTCLoss CTCLossV2 SparseAddGrad SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2",
        "1 Tin>=0; 0 Tout>=0": "Case If StatelessCase StatelessIf XlaIf",
        "1; 1; message:string": "CheckNumerics CheckNumericsV2",
        "6; 4": "CombinedNonMaxSuppression GRUBlockCell",
        "1; 0 Tcomponents>=0; metadata:string": "CompositeTensorVariantToComponents",
        "2; 3; num_true:int": "ComputeAccidentalHits",
        "1 N>=2; 1": "Concat ConcatV2",
        "1 N>=2; 0 N>=2": "ConcatOffset",
        "2; 1; strides:list(int) padding:string": "Conv Conv2D Conv3D DepthwiseConv2dNative",
        "3; 1; strides:list(int) padding:string": (
            "Conv2DBackpropInput Conv2DBackpropInputV2 Conv3DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput"
        ),
        "1; 1; limit:int": "CountUpTo ResourceCountUpTo",
        "4; 4": "CudnnRNN RaggedFillEmptyRows SparseFillEmptyRows",
        "3 num_params>=1 num_params>=1; 1": "CudnnRNNCanonicalToParams",
        "3 num_params_weights>=1 num_params_biases>=1; 1": "CudnnRNNCanonicalToParamsV2",
        "4; 0 num_params>=1 num_params>=1; num_params:int": "CudnnRNNParamsToCanonical",
        "4; 0 num_params_weights>=1 num_params_biases>=1; num_params_weights:int num_params_biases:int": "CudnnRNNParamsToCanonicalV2",
        "4; 5": "CudnnRNNV2",
        "5; 5": "CudnnRNNV3 FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormV2",
        "1; 0 output_types>=1": "DatasetToSingleElement IteratorGetNext IteratorGetNextSync OptionalGetValue",
        "1 OUT_TYPE>=1; 0 OUT_TYPE>=1": "DecodeCSV",
        "1; 1 output_types>=0; message_type:string field_names:list(string)": "DecodeProtoV2",
        "2; 3; binary_output:bool": "DenseCountSparseOutput",
        "2; 3; set_operation:string": "DenseToDenseSetOperation",
        "4; 3; set_operation:string": "DenseToSparseSetOperation",
        "1; 1; block_size:int": "DepthToSpace SpaceToDepth",
        "1; 0": "DestroyResourceOp DisableCopyOnRead PrintV2 StackClose TensorArrayClose TensorArrayCloseV3",
        "2; 1; strides:list(int) rates:list(int) padding:string": "Dilation2D",
        "3; 0": (
            "DistributedSave InitializeTable InitializeTableV2 LookupTableImport LookupTableImportV2 LookupTableInsert "
            "LookupTableInsertV2 ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul "
            "ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub ResourceScatterNdUpdate "
            "ResourceScatterSub ResourceScatterUpdate"
        ),
        "2; 0 num_partitions>=1; num_partitions:int": "DynamicPartition",
        "0 N>=1 N>=1; 1": "DynamicStitch ParallelDynamicStitch",
        "0 Tin>=0; 0 Tout>=0; token:string": "EagerPyFunc PyFunc PyFuncStateless",
        "0 N>=1; 1; equation:string": "Einsum",
        "1; 1; frame_name:string": "Enter RefEnter",
        "1; 1; ksizes:list(int) strides:list(int) rates:list(int) padding:string": "ExtractImagePatches",
        "1; 1; ksizes:list(int) strides:list(int) padding:string": "ExtractVolumePatches",
        "4; 3": (
            "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient QuantizeAndDequantizeV4Grad QuantizedReluX "
            "QuantizedReshape QuantizedResizeBilinear SparseReduceMaxSparse SparseReduceSumSparse "
            "StatelessSampleDistortedBoundingBox"
        ),
        "1; 3; num_true:int num_sampled:int unique:bool range_max:int": (
            "FixedUnigramCandidateSampler LearnedUnigramCandidateSampler LogUniformCandidateSampler "
            "ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler"
        ),
        "3 T>=0; 0 T>=0": "For",
        "1; 3; pooling_ratio:list(float)": "FractionalAvgPool FractionalMaxPool",
        "6; 5": "FusedBatchNormGradV3",
        "5; 6": "FusedBatchNormV3",
        "3; 1; mode:string strides:list(int) padding:string": "FusedPadConv2D",
        "4; 1; mode:string strides:list(int) padding:string": "FusedResizeAndPadConv2D",
        "10; 4": "GRUBlockCellGrad",
        "7; 2": "GenerateBoundingBoxProposals",
        "2; 2; new_vocab_offset:int num_new_vocab:int": "GenerateVocabRemapping",
        "2; 0 output_types>=1": "GetElementAtIndex",
        "0 T>=1; 0 T>=1": "IdentityN",
        "3; 1; interpolation:string": "ImageProjectiveTransformV2",
        "4; 1; interpolation:string": "ImageProjectiveTransformV3",
        "2; 1; k:int": "InTopK",
        "2; 0; key_index:int value_index:int": "InitializeTableFromTextFile InitializeTableFromTextFileV2",
        "0; 1; shared_name:string container:string": "Iterator",
        "8; 7": "LSTMBlockCell",
        "16; 5; use_peephole:bool": "LSTMBlockCellGrad",
        "0 Targuments>=1 Tcaptured>=0; 0 output_types>=1": "MapDefun",
        "2; 0 dtypes>=1": "MapPeek MapUnstage OrderedMapPeek OrderedMapUnstage",
        "1; 1 dtypes>=1": "MapUnstageNoKey OrderedMapUnstageNoKey",
        "5; 1": (
            "MatrixDiagV2 MatrixDiagV3 NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps ParameterizedTruncatedNormal "
            "StatefulRandomBinomial StatefulUniformInt StatelessRandomGammaV3 StridedSliceAssign TensorStridedSliceUpdate XlaPad"
        ),
        "3; 1; padding:string": "MaxPoolV2",
        "1; 2; ksize:list(int) strides:list(int) padding:string": "MaxPoolWithArgmax",
        "0 N>=1; 2": "Merge RefMerge",
        "2; 1; mode:string": "MirrorPad",
        "3; 0 output_types>=1": "MultiDeviceIteratorGetNextFromShard",
        "3; 2": (
            "NearestNeighbors RaggedRange RequantizationRange SparseReorder SparseReshape TensorListConcatV2 XlaBroadcastHelper "
            "XlaRngBitGenerator"
        ),
        "5; 2": "NonMaxSuppressionV4",
        "6; 3": "NonMaxSuppressionV5 QuantizedAdd QuantizedBiasAdd QuantizedMatMul QuantizedMul",
        "2 Nsparse>=0 Ndense>=0 Tdense>=0; 0 Nsparse>=0 sparse_types>=0 Nsparse>=0 Tdense>=0": "ParseExample",
        (
            "5 Tdense>=0; 0 num_sparse>=0 sparse_types>=0 num_sparse>=0 Tdense>=0 ragged_value_types>=0 ragged_split_types>=0; "
            "num_sparse:int"
        ): "ParseExampleV2",
        (
            "2 Tcontext_dense>=0; 0 Ncontext_sparse>=0 context_sparse_types>=0 Ncontext_sparse>=0 Tcontext_dense>=0 "
            "Nfeature_list_sparse>=0 feature_list_sparse_types>=0 Nfeature_list_sparse>=0 feature_list_dense_types>=0 "
            "Nfeature_list_dense>=0; feature_list_dense_missing_assumed_empty:list(string) context_sparse_keys:list(string) "
            "context_dense_keys:list(string) feature_list_sparse_keys:list(string) feature_list_dense_keys:list(string)"
        ): "ParseSequenceExample",
        (
            "9 Tcontext_dense>=0; 0 Ncontext_sparse>=0 context_sparse_types>=0 Ncontext_sparse>=0 Tcontext_dense>=0 "
            "context_ragged_value_types>=0 context_ragged_split_types>=0 Nfeature_list_sparse>=0 feature_list_sparse_types>=0 "
            "Nfeature_list_sparse>=0 feature_list_dense_types>=0 Nfeature_list_dense>=0 feature_list_ragged_value_types>=0 "
            "feature_list_ragged_split_types>=0 feature_list_ragged_split_types>=0"
        ): "ParseSequenceExampleV2",
        (
            "1 Tdense>=0; 0 num_sparse>=0 sparse_types>=0 num_sparse>=0 Tdense>=0; num_sparse:int sparse_keys:list(string) "
            "dense_keys:list(string)"
        ): "ParseSingleExample",
        (
            "3 Ncontext_sparse>=0 Ncontext_dense>=0 Nfeature_list_sparse>=0 Nfeature_list_dense>=0 Tcontext_dense>=0; 0 "
            "Ncontext_sparse>=0 context_sparse_types>=0 Ncontext_sparse>=0 Tcontext_dense>=0 Nfeature_list_sparse>=0 "
            "feature_list_sparse_types>=0 Nfeature_list_sparse>=0 feature_list_dense_types>=0"
        ): "ParseSingleSequenceExample",
        "0 Tin>=0; 0 Tout>=0": "PartitionedCall StatefulPartitionedCall",
        "1 U>=0; 1": "Print",
        "3; 3": ("QuantizeDownAndShrinkRange QuantizeV2 QuantizedInstanceNorm QuantizedRelu QuantizedRelu6 SampleDistortedBoundingBoxV2"),
        "3; 3; ksize:list(int) strides:list(int) padding:string": "QuantizedAvgPool QuantizedMaxPool",
        "15; 3; variance_epsilon:float scale_after_normalization:bool": "QuantizedBatchNormWithGlobalNormalization",
        "1 N>=2 N>=2 N>=2; 3": "QuantizedConcat QuantizedConcatV2",
        "6; 3; strides:list(int) padding:string": (
            "QuantizedConv2D QuantizedConv2DAndRelu QuantizedConv2DPerChannel QuantizedDepthwiseConv2D"
        ),
        "8; 3; strides:list(int) padding:string": (
            "QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize QuantizedConv2DWithBiasSumAndRelu"
        ),
        "7; 3; strides:list(int) padding:string": (
            "QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu QuantizedDepthwiseConv2DWithBias "
            "QuantizedDepthwiseConv2DWithBiasAndRelu"
        ),
        "9; 3; strides:list(int) padding:string": (
            "QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize "
            "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize"
        ),
        "12; 3; strides:list(int) padding:string": (
            "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndReluAndRequantize"
        ),
        "7; 3": "QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu SparseAdd",
        "9; 1": "QuantizedMatMulWithBiasAndDequantize",
        "9; 3": "QuantizedMatMulWithBiasAndReluAndRequantize QuantizedMatMulWithBiasAndRequantize",
        "1; 0 component_types>=1": "QueueDequeue QueueDequeueV2",
        "2; 0 component_types>=1": "QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2",
        "3; 3; binary_output:bool": "RaggedCountSparseOutput",
        (
            "0 ragged_values_types>=0 ragged_splits_types>=0 Nsparse>=0 sparse_values_types>=0 Nsparse>=0 dense_types>=0; 2; "
            "input_order:string hashed_output:bool num_buckets:int hash_key:int"
        ): "RaggedCross",
        "1; 1 output_ragged_rank>=0; input_ragged_rank:int output_ragged_rank:int": "RaggedTensorFromVariant",
        "1 RAGGED_RANK>=1; 3": "RaggedTensorToSparse",
        "3 num_row_partition_tensors>=1; 1; row_partition_types:list(string)": "RaggedTensorToTensor",
        "1 Tstate>=1 Targuments>=0; 0 output_types>=1": "ReduceDataset",
        "1 Tin>=1; 0 Tout>=1": "RemoteCall",
        "3; 2; clip_value_max:float": "RequantizationRangePerChannel",
        "5; 3": "Requantize RequantizePerChannel SparseSlice",
        "5; 0": "ResourceStridedSliceAssign",
        "3; 0 dtypes>=1": "RestoreV2",
        "2; 1; seq_dim:int": "ReverseSequence",
        "2 T>=1; 0": "Save",
        "3 T>=1; 0": "SaveSlices",
        "3 dtypes>=1; 0": "SaveV2",
        "0 N>=1; 0 N>=1": "ShapeN",
        "0; 7; filename:string batch_size:int": "Skipgram",
        "0 N>=2 N>=2 N>=2; 3; concat_dim:int": "SparseConcat",
        "4; 3; binary_output:bool": "SparseCountSparseOutput",
        "0 N>=0 sparse_types>=0 N>=0 dense_types>=0; 3; hashed_output:bool num_buckets:int hash_key:int": "SparseCross",
        "3 N>=0 sparse_types>=0 N>=0 dense_types>=0; 3": "SparseCrossHashed",
        "1 N>=0 sparse_types>=0 N>=0 dense_types>=0; 3": "SparseCrossV2",
        "6; 2": "SparseSparseMaximum SparseSparseMinimum",
        "4; 0 num_split>=1 num_split>=1 num_split>=1; num_split:int": "SparseSplit",
        "6; 3; set_operation:string": "SparseToSparseSetOperation",
        "2; 0 num_split>=1; num_split:int": "Split",
        "3; 0 num_split>=1; num_split:int": "SplitV",
        "1; 0 dtypes>=1": "StagePeek",
        "6; 1": "StatelessParameterizedTruncatedNormal StatelessRandomUniformIntV2 XlaSelectAndScatter",
        "0 T>=0; 0 T>=0": "StatelessWhile While XlaOptimizationBarrier XlaWhile",
        "1; 1; pattern:string": "StaticRegexFullMatch",
        "1; 1; pattern:string rewrite:string": "StaticRegexReplace",
        "0 T>=0; 1": "StringFormat",
        "0 N>=0; 1": "StringJoin",
        (
            "2; 2; separator:string ngram_widths:list(int) left_pad:string right_pad:string pad_width:int preserve_short_sequences:bool"
        ): "StringNGrams",
        "1; 1; num_buckets:int": "StringToHashBucket StringToHashBucketFast",
        "1; 1; num_buckets:int key:list(int)": "StringToHashBucketStrong",
        "2; 2; source:string": "TensorArrayGradV3",
        "3; 2; source:string": "TensorArrayGradWithShape",
        "1; 2; input_encoding:string": "UnicodeDecode",
        "1; 3; input_encoding:string": "UnicodeDecodeWithOffsets",
        "2; 1; output_encoding:string": "UnicodeEncode",
        "1; 1; input_encoding:string output_encoding:string": "UnicodeTranscode",
        "3; 1; quantization_min_val:int quantization_max_val:int": "UniformDequantize UniformQuantize",
        (
            "8; 1; lhs_quantization_min_val:int lhs_quantization_max_val:int rhs_quantization_min_val:int "
            "rhs_quantization_max_val:int output_quantization_min_val:int output_quantization_max_val:int"
        ): ("UniformQuantizedAdd UniformQuantizedDot"),
        "5; 1; quantization_min_val:int quantization_max_val:int": "UniformQuantizedClipByValue",
        (
            "8; 1; padding:string lhs_quantization_min_val:int lhs_quantization_max_val:int rhs_quantization_min_val:int "
            "rhs_quantization_max_val:int output_quantization_min_val:int output_quantization_max_val:int"
        ): "UniformQuantizedConvolution",
        "4; 1; padding:string rhs_quantization_min_val:int rhs_quantization_max_val:int": "UniformQuantizedConvolutionHybrid",
        "4; 1; rhs_quantization_min_val:int rhs_quantization_max_val:int": "UniformQuantizedDotHybrid",
        (
            "5; 1; input_quantization_min_val:int input_quantization_max_val:int output_quantization_min_val:int "
            "output_quantization_max_val:int"
        ): "UniformRequantize",
        "1; 0 num>=0; num:int": "Unpack",
        "0; 0 dtypes>=1": "Unstage",
        "2; 1; reduce_op:string mode:string": "XlaAllReduce",
        "0 Tin>=0; 0 Tout>=0; version:int module:string": "XlaCallModule",
        "7; 1; dimension_numbers:string precision_config:string": "XlaConv XlaConvV2",
        "0 T>=0; 1; target_name:string backend_config:string": "XlaCustomCall",
        ("0 operand_dtypes>=0; 0 result_dtypes>=0; call_target_name:string backend_config:string has_side_effect:bool"): "XlaCustomCallV2",
        "2; 1; dimension_numbers:string precision_config:string": "XlaDot XlaDotV2",
        "2; 1; equation:string": "XlaEinsum",
        "3; 1; dimension_numbers:string indices_are_sorted:bool": "XlaGather XlaScatter",
        "0; 1; tensor_name:string": "XlaRecv",
        "2; 1; dimensions_to_reduce:list(int)": "XlaReduce",
        "3; 1; reduce_op:string": "XlaReduceScatter",
        "7; 1": "XlaReduceWindow",
        "1; 2; lower:bool max_iter:int epsilon:float": "XlaSelfAdjointEig",
        "1; 0; tensor_name:string": "XlaSend",
        "1; 1; manual_sharding:string": "XlaSpmdFullToShardShape XlaSpmdShardToFullShape",
        "1; 3; max_iter:int epsilon:float precision_config:string": "XlaSvd",
        "0 N>=1 N>=1; 0 N>=1; dimensions_to_reduce:list(int)": "XlaVariadicReduce",
        "0 T>=1 T>=1; 0 T>=1; dimensions_to_reduce:list(int)": "XlaVariadicReduceV2",
        "1 T>=1; 0 T>=1; is_stable:bool": "XlaVariadicSort",
    }
)
