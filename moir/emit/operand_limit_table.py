"""The operand types that operations accept; `python -m scripts.operand_limits` writes this table.

For each operand, in order: the element types (`i` integers, `b` integers and boolean, `w` i32 and i64, `f` floats, `n`
all except strings, `-` all), then the greatest rank, then `=` if the operand must have exactly one element.
"""

from moir.support.tables import by_member

LIMITS = by_member(
    {
        "n": (
            "opset1.Abs opset1.Acos opset4.Acosh opset1.Asin opset4.Asinh opset1.Atan opset4.Atanh opset17.BGRtoNV12 "
            "opset1.Ceiling opset1.Cos opset1.Cosh opset1.Erf opset1.Exp opset1.Floor opset5.HSigmoid opset4.HSwish opset1.Log "
            "opset1.Negative opset17.RGBtoNV12 opset1.Relu opset1.Select opset1.Sigmoid opset1.Sign opset1.Sin opset1.Sinh "
            "opset1.Sqrt opset1.Tan opset1.Tanh"
        ),
        "n n": (
            "opset1.Add opset1.Divide opset13.FakeConvert opset1.FloorMod opset1.LogicalAnd opset1.LogicalOr opset2.LogicalXor "
            "opset8.MatrixNms opset1.Maximum opset1.Minimum opset1.Mod opset8.MulticlassNms opset1.Multiply opset8.NV12toBGR "
            "opset8.NV12toRGB opset1.Power opset2.ROIPooling opset1.SquaredDifference opset1.Subtract opset1.Xor"
        ),
        "n1 n1 n n1 n1": "opset1.BatchNormInference",
        "n n1 n1 n1 n1": "opset5.BatchNormInference",
        "- i1 i1 i1": "opset2.BatchToSpace opset2.SpaceToBatch",
        "b b": "opset13.BitwiseAnd opset13.BitwiseOr opset13.BitwiseXor opset1.OneHot opset16.OneHot",
        "i i": "opset15.BitwiseLeftShift opset15.BitwiseRightShift",
        "b": "opset13.BitwiseNot",
        "- - i1": "opset1.Broadcast",
        "- i1 i1": "opset3.Broadcast opset1.Pad opset12.Pad",
        "- -1": "opset3.Bucketize opset1.NormalizeL2 opset1.ReverseSequence opset1.Squeeze opset15.Squeeze opset1.Unsqueeze",
        "- -1 i": "opset6.CTCGreedyDecoderSeqLen",
        "f i1 i i1 i0": "opset4.CTCLoss",
        "- w w": "opset15.Col2Im",
        "- w": (
            "opset3.CumSum opset15.EmbeddingBagPacked opset3.EmbeddingBagPackedSum opset6.GatherElements opset4.ScatterNDUpdate "
            "opset15.ScatterNDUpdate opset10.Unique"
        ),
        "f w1 w1": "opset7.DFT opset7.IDFT opset9.IRDFT opset9.RDFT",
        "n n f": "opset1.DetectionOutput opset8.DetectionOutput",
        "- w1 w1 w0 -1": "opset15.EmbeddingBagOffsets opset3.EmbeddingBagOffsetsSum",
        "- w1 w1 w0 w0 -1": "opset3.EmbeddingSegmentsSum",
        "f": (
            "opset17.ErfInv opset2.Gelu opset7.Gelu opset14.Inverse opset10.IsFinite opset10.IsInf opset10.IsNaN opset4.Mish "
            "opset1.RegionYolo opset4.SoftPlus opset9.SoftSign opset4.Swish"
        ),
        "n n n n": "opset6.ExperimentalDetectronDetectionOutput",
        "n1 n n n": "opset6.ExperimentalDetectronGenerateProposalsSingleImage",
        "n n n": (
            "opset6.ExperimentalDetectronPriorGridGenerator opset6.ExperimentalDetectronROIFeatureExtractor opset8.I420toBGR "
            "opset8.I420toRGB opset1.Selu"
        ),
        "n n1": "opset6.ExperimentalDetectronTopKROIs",
        "w w w w1": "opset9.Eye",
        "- - - - -1": "opset3.GRUCell opset1.RNNCell",
        "- - -1": "opset5.GRUSequence opset5.RNNSequence",
        "- i i1=": "opset7.Gather opset8.Gather",
        "- i": "opset5.GatherND opset8.GatherND opset1.Interpolate opset1.LRN",
        "- - -1 -0": "opset1.GatherTree",
        "n f": "opset9.GridSample",
        "- -1 -1": "opset12.GroupNormalization",
        "- - w": "opset17.GroupedMatMul",
        "n n1 w0 w0 w": "opset16.ISTFT",
        "-1=": "opset8.If",
        "n i f i1": "opset4.Interpolate",
        "n - i1": "opset11.Interpolate",
        "- - - - - -1": "opset4.LSTMCell",
        "- - - -1": "opset5.LSTMSequence",
        "i1= -1=": "opset5.Loop",
        "n n w1": "opset9.MulticlassNms",
        "f i1=": "opset13.Multinomial",
        "f f i1= f1= f1=": "opset13.NMSRotated",
        "- - -0 -0 -0": "opset1.NonMaxSuppression opset3.NonMaxSuppression opset4.NonMaxSuppression",
        "f f -1= f1= f1= f1=": "opset5.NonMaxSuppression opset9.NonMaxSuppression",
        "f f": "opset1.PSROIPooling",
        "i1 i": "opset1.PriorBox opset8.PriorBox opset1.PriorBoxClustered",
        "f f f1": "opset1.Proposal opset4.Proposal",
        "n n i1": "opset3.ROIAlign opset9.ROIAlign opset15.ROIAlignRotated",
        "w1 n1= n1=": "opset8.RandomUniform",
        "-0 -0 -0": "opset1.Range opset4.Range",
        "- i1": (
            "opset4.ReduceL1 opset4.ReduceL2 opset1.ReduceMax opset1.ReduceMean opset1.ReduceMin opset1.ReduceProd "
            "opset1.ReduceSum opset1.Reverse opset1.Transpose"
        ),
        "n i1": "opset1.ReduceLogicalAnd opset1.ReduceLogicalOr",
        "- w1 w1": "opset7.Roll",
        "n n1 w0 w0": "opset15.STFT",
        "n n n n n1=": "opset13.ScaledDotProductAttention",
        "- b - b1": "opset3.ScatterElementsUpdate opset12.ScatterElementsUpdate",
        "- i - i1=": "opset3.ScatterUpdate",
        "- w1 w0": "opset16.SegmentMax",
        "- i1 i1 i1 i1": "opset8.Slice",
        "- - i1 i1 i1 i1": "opset15.SliceScatter",
        "-1 w1 w -0": "opset16.SparseFillEmptyRows",
        "- i0": "opset1.Split opset1.TopK opset3.TopK opset11.TopK",
        "- i1 i1 -1": "opset1.StridedSlice",
        "w w n1": "opset15.StringTensorPack",
        "- b1": "opset1.Tile",
        "- -1=": "opset1.VariadicSplit",
    }
)
