"""The graph transformations of OpenVINO 2026.4 and of its CPU plugin, each with rows of kinds that it looks for.

    ConvolutionMultiplyFusion    Conv* Mul.constant

Names are those of the classes in the libraries. Of each place in a row a kind is drawn that matches the glob; `@family`
stands for the kinds of a family, `?` for any kind. Rows of one name are separated by `|`.
"""

from __future__ import annotations

from collections.abc import Mapping

_COMMON = """
AbsSinking                              Concat Abs | Abs Concat
AdaptivePoolToReduce                    Global* ?
AddAddFusion                            Add.constant Add.constant
AddFakeQuantizeFusion                   Add.constant QDQ*
AddMultiplyFusion                       Add.constant Mul.constant
AlignEltwiseInputRanks                  Neutral @arithmetic
BatchNormDecomposition                  BatchNormalization @activation | Conv* BatchNormalization
BroadcastElementwiseFusion              Expand @arithmetic
BroadcastTransition                     @arithmetic Expand
ChainedMaximumOptimization              Max.value Max.value | Max.constant Max.value
ClampFusion                             Max.min ?
ConcatFusion                            Concat Concat
ConcatReduceFusion                      Concat.reduce ?
ConcatToBroadcast                       Expand Concat
ConstantsReduce                         ReduceMean @arithmetic
ConvertConvertLike                      Cast Cast
ConvertDepthToSpace                     DepthToSpace ?
ConvertDivideWithConstant               Div.constant @activation
ConvertGELU                             Gelu* ?
ConvertNegative                         Neg @arithmetic
ConvertPadToGroupConvolution            Pad ? | Pad @activation
ConvertQuantizeDequantize               QDQ* ?
ConvertReduceMaxToPooling               ReduceMax ?
ConvertReduceMeanToPooling              ReduceMean ?
ConvertReduceSumToPooling               ReduceSum ?
ConvertReduceMeanToReshape              Unsqueeze ReduceMean
ConvertReduceMaxToReshape               Unsqueeze ReduceMax
ConvertSpaceToDepth                     DepthToSpace.parts Conv*
ConvertSubtractConstant                 Sub.constant @arithmetic
ConvertTopK3                            TopK ?
ConvolutionBackpropDataMultiplyFusion   ConvTranspose Mul.constant
ConvolutionMultiplyFusion               Conv* Mul.constant
ConvolutionToGroupConvolutionFusion     Split Conv Concat
ConvToBinaryConv                        QDQ Conv
DepthToSpaceFusion                      DepthToSpace.parts ?
DivideFusion                            Sqrt Mul.value
EliminateConcat                         Concat Split
EliminateConcatStridedSlice             Concat Slice | Concat Slice.several
EliminateConvert                        Cast Cast
EliminateEltwise                        Neutral ?
EliminateGatherUnsqueeze                Gather Unsqueeze
EliminateNopBroadcast                   Expand Expand
EliminatePad                            Pad Slice
EliminateReduceReshape                  ReduceMean Reshape | ReduceMean Squeeze
EliminateSplitConcat                    Split.concat ?
EliminateSqueeze                        Unsqueeze Squeeze
EliminateStridedSlice                   Slice Slice
EliminateTranspose                      Transpose Transpose
EliminateUnsqueezeGather                Unsqueeze Gather
FakeQuantizeConcatFusion                Concat QDQ | QDQ Concat
FakeQuantizeMulFusion                   QDQ* Mul.constant
FakeQuantizeReshapeFusion               QDQ* Reshape
FuseClampAndFakeQuantize                Clip QDQ
GLUFusion                               Split.gate ?
GatherNopElimination                    Gather ?
GRUCellFusion                           Cell ?
GroupConvolutionMultiplyFusion          Conv.depthwise Mul.constant
GroupedGatherElimination                Gather.several Concat
GroupedSliceToVSplitOptimization        Slice.several @movement
GroupNormalizationDecomposition         GroupNormalization Add.value
GroupNormalizationFusion                @activation GroupNormalization Add.value
HSigmoidFusion                          HardSwish* ? | HardSigmoid* ?
HSwishFusion                            HardSwish* @arithmetic
InterpolateSequenceFusion               Resize Resize
LeakyReluFusion                         LeakyRelu ? | PRelu* ?
LinOpSequenceFusion                     Linear Linear | Linear Conv*
LogSoftmaxDecomposition                 Softmax Sub.value
LSTMCellFusion                          Cell Cell
MatMulConstTransposesExtraction         MatMul.* Transpose | Transpose MatMul.*
MatMulMultiplyFusion                    MatMul.* Mul.constant
MergeLinearProjections                  MatMul.constant ?
MishFusion                              SoftPlus.log Mul.value
MoveEltwiseUpThroughDataMovPerChannel   @movement @arithmetic
MoveEltwiseUpThroughDataMovScalar       @movement @unary | @movement @activation
MoveFakeQuantize                        Concat QDQ @activation
MulFakeQuantizeFusion                   Mul.constant QDQ*
MultiplyConvolutionBackpropDataFusion   Mul.constant ConvTranspose
MultiplyConvolutionFusion               Mul.constant Conv | Scale Conv
MultiplyGroupConvolutionFusion          Mul.constant Conv.depthwise
MultiplyMultiplyFusion                  Mul.constant Mul.constant
MVNFusionWithConstantsInside            LayerNormalization.parts Scale
MVNFusionWithoutConstants               LayerNormalization.parts ? | InstanceNormalization ?
NearestNeighborUpsamplingFusion         Resize.parts ?
NopBroadcast                            Neutral Expand
NormalizeL2Fusion                       LpNormalization Mul.constant
PadFusionAvgPool                        Pad AveragePool
PadFusionConvolution                    Pad Conv
PadFusionConvolutionBackpropData        Pad ConvTranspose
PadFusionGroupConvolution               Pad Conv.depthwise
PReluFusion                             PRelu* ?
PullReshapeThroughReduce                Reshape ReduceMean | Unsqueeze ReduceMax
PullSqueezeThroughEltwise               Squeeze @arithmetic
PullTransposeThroughFQUp                QDQ* Transpose
ReduceL1Decomposition                   ReduceL1 ?
ReduceL2Decomposition                   ReduceL2 ?
ReduceMerge                             ReduceSum ReduceSum | ReduceMean ReduceMean
ReduceReshapeFusion                     ReduceMean Reshape
ReluFakeQuantizeFusion                  Relu QDQ
ReplaceConcatReduceByMinOrMax           Concat.reduce @arithmetic
ReshapeAMatMul                          Reshape MatMul.*
ReshapeSequenceFusion                   Reshape Reshape | Unsqueeze Reshape
ReshapeSinkingMatMul                    Reshape MatMul.constant Reshape
RMSFusionMatcher                        RMSNormalization ?
RNNCellDecomposition                    Recurrent ?
RoPEFusion                              RoPE ?
SDPAFusion                              Attention ?
SelectWithOneValueCondition             Where ?
SequenceFusion                          Recurrent Recurrent
SharedOpOptimization                    Twice ?
ShuffleChannelsFusion                   ChannelShuffle ?
SimplifySecondInputOfReshape            Reshape Flatten
SkipGatherBeforeTransposeAndReshape     Gather Transpose Reshape
SliceSequenceToSingleSlice              Slice Slice
SoftmaxFusion                           Softmax.exp ?
SoftPlusToMishFusion                    Softplus Tanh Mul.value
SoftSignDecomposition                   Softsign ?
SplitConcatPairToInterpolateFusion      Split.concat Split.concat
SplitSqueezeConcatFusion                Split.squeeze ?
StridedSliceOptimization                Slice Split
StridesOptimization                     Conv* @activation Conv.strided | Split @activation Conv.strided | Conv.strided Conv.strided
SubtractFusion                          Neg Add.value
SwishFusion                             Swish ?
TransposeConvert                        Cast Transpose
TransposeEltwise                        Transpose @arithmetic
TransposeFQReduction                    Transpose QDQ ReduceMean
TransposeFuse                           Transpose Transpose
TransposeMatMul                         Transpose MatMul.*
TransposeReduction                      Transpose ReduceMean
TransposeReshapeEliminationForMatmul    Transpose Reshape MatMul.constant
TransposeSinking                        Transposes ?
TransposeToReshape                      Transpose Reshape
TSConcatForward                         Transpose Concat
TSCumSumForward                         Transpose CumSum
TSGatherForward                         Transpose Gather
TSInterpolateForward                    Transpose Resize
TSSliceForward                          Transpose Slice
TSSplitForward                          Transpose Split
TSSqueezeForward                        Transpose Squeeze
TSTileForward                           Transpose Tile
TSUnsqueezeForward                      Transpose Unsqueeze
UnrollTensorIterator                    Scan ? | Loop ?
UselessSliceEraser                      Slice ?
WrapInterpolateIntoTransposes           Resize Transpose
"""

_LOW_PRECISION = """
AddTransformation                       QDQ* Add.* QDQ
AlignQuantizationIntervals              QDQ Concat Conv
AvgPoolTransformation                   QDQ* AveragePool ? | Scale AveragePool QDQ | Mul.constant AveragePool QDQ
BatchToSpaceTransformation              QDQ DepthToSpace.parts QDQ
ClampTransformation                     QDQ* Clip QDQ
ConcatTransformation                    QDQ* Concat ?
ConvolutionTransformation               QDQ* Conv ?
ConvolutionBackpropDataTransformation   QDQ ConvTranspose ?
DepthToSpaceTransformation              QDQ* DepthToSpace ?
EliminateFakeQuantizeTransformation     QDQ* MaxPool QDQ
EltwiseBaseTransformation               QDQ* @arithmetic ?
FakeQuantizeDecompositionTransformation QDQ* QDQ*
FuseElementwiseToFakeQuantizeTransformation  QDQ* @arithmetic QDQ
FuseMultiplyToFakeQuantizeTransformation  Mul.constant QDQ* Mul.constant
FuseSubtractToFakeQuantizeTransformation  Sub.constant QDQ* Sub.constant
GatherTransformation                    QDQ* Gather ?
GroupConvolutionTransformation          QDQ* Conv.depthwise ?
InterpolateTransformation               QDQ* Resize ?
MatMulTransformation                    QDQ* MatMul.* ?
MaxPoolTransformation                   QDQ* MaxPool ?
MoveDequantization                      QDQ* @movement ?
MultiplyPartialTransformation           QDQ* Mul.* ?
MultiplyToGroupConvolutionTransformation  QDQ* Mul.constant Conv*
MVNTransformation                       QDQ* *Normalization ?
NormalizeL2Transformation               QDQ* LpNormalization ?
PadTransformation                       QDQ* Pad ?
PReluTransformation                     QDQ* PRelu ?
PullReshapeThroughDequantization        QDQ* Reshape Conv | QDQ* Reshape MatMul.*
PullTransposeThroughDequantization      QDQ* Transpose MatMul.*
RecurrentCellTransformation             QDQ Recurrent ?
ReduceMaxTransformation                 QDQ* ReduceMax ?
ReduceMeanTransformation                QDQ* ReduceMean ?
ReduceMinTransformation                 QDQ* ReduceMin ?
ReduceSumTransformation                 QDQ* ReduceSum ? | QDQ* Add.constant ReduceSum
ReluTransformation                      QDQ* Relu ? | QDQ* LeakyRelu ?
ReshapeTransformation                   QDQ* Reshape ?
ShuffleChannelsTransformation           QDQ* ChannelShuffle ?
SliceTransformation                     QDQ* Slice ?
SplitTransformation                     QDQ* Split ?
SqueezeTransformation                   QDQ* Squeeze ?
TransposeTransformation                 QDQ* Transpose ?
UnsqueezeTransformation                 QDQ* Unsqueeze ?
VariadicSplitTransformation             QDQ* Split ? QDQ
"""

_PLUGIN = """
AlignMatMulInputRanks                   Unsqueeze MatMul.value
ConvertMatMulToFC                       MatMul.constant ?
ConvertTileToSeqTiles                   Tile ?
ConvertToLeakyRelu                      PRelu Conv*
ConvertToPowerStatic                    Square @arithmetic | Linear ?
ConvertToSwishCPU                       Swish Conv*
DropDoubleReorders                      Conv* Transpose Conv*
FullyConnectedBiasFusion                MatMul.constant Add.constant @activation
FuseBroadcastAndEltwise                 Expand Mul.value
FuseClampAndFakeQuantize.cpu            Conv* Clip QDQ
FuseConvolutionAndBias                  Conv* Add.constant @activation
FuseConvolutionAndDWConvolution         Conv @activation Conv.depthwise
FuseConvolutionAndSimpleOperation       Conv* @activation | Conv* @arithmetic @activation
FuseConvolutionAndSimpleOperationThroughMaxPool  Conv* MaxPool @activation | Conv* MaxPool @arithmetic
FuseConvolutionSumAndConvolutionSumActivation  Conv* Add.value @activation | Conv* Add.value QDQ
FuseDeconvolutionAndSimpleOperation     ConvTranspose @activation | ConvTranspose @arithmetic
FuseEltwiseAndSimple                    @arithmetic @activation @arithmetic
FuseFCAndTransposeOnWeights             MatMul.constant Transpose
FuseGatherAndConvert                    Gather Cast
FuseInterpolateAndSimpleOperation       Resize @activation | Resize @arithmetic
FuseMVNAndSimpleOperation               *Normalization @activation | *Normalization @arithmetic QDQ
FuseMatMulAndSimpleOperation            MatMul.value @arithmetic | MatMul.* @activation
FuseMultiplyAndAdd                      Mul.constant Add.constant
FuseNormalizeL2AndSimpleOperation       LpNormalization @activation | LpNormalization @arithmetic
FusePerformedAsScaleShiftAndFakeQuantize  Scale QDQ* | Mul.constant QDQ*
FusePoolingAndFakeQuantize              AveragePool QDQ* | MaxPool QDQ*
FuseReduceAndSimpleOperation            Reduce* @activation | Reduce* @arithmetic
MHAFloatFusion                          Attention Add.value
MLPFusion                               FeedForward ?
MergeEltwiseAndConvert                  @arithmetic Cast
MergeReorderAndTranspose                Conv* Transpose ?
MergeTransposeAndReorder                Transpose Conv*
OptimizeSequenceTransposes              Transpose Recurrent Transpose
PermuteSliceAndInterpolation            Transpose Slice Resize Transpose
QKVProjFusion                           Attention Attention
RemoveDroppedEdges                      Split Concat
ShareReorders                           Conv* ?
SnippetsTokenization                    @unary @arithmetic @activation @arithmetic
SoftmaxInSnippets                       @arithmetic Softmax @arithmetic
SplitInPlace                            Split Conv* Concat
ConcatInPlace                           Conv* Concat @unary | Concat @unary Concat
"""


def _table(text: str) -> dict[str, list[list[str]]]:
    results: dict[str, list[list[str]]] = {}
    for line in text.strip().splitlines():
        name, rows = line.split(maxsplit=1)
        results[name] = [row.split() for row in rows.split("|")]
    return results


TRANSFORMATIONS: Mapping[str, list[list[str]]] = {**_table(_COMMON), **_table(_LOW_PRECISION), **_table(_PLUGIN)}
"""The rows of kinds that each transformation looks for, by its name."""
