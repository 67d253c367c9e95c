"""The names that Model Optimizer's extractors gave the nodes of TensorFlow: `op`, and further names by which they are
found.

Source: the tables of Model Optimizer 2019 to 2024.
"""

from __future__ import annotations

NAMES: dict[str, str] = {
    "AddN": "EltwiseN",
    "AddV2": "Add",
    "BiasAdd": "Add",
    "All": "ReduceAnd",
    "Any": "ReduceOr",
    "AvgPool": "AvgPool Pooling",
    "AvgPool3D": "AvgPool Pooling",
    "BatchMatMul": "MatMul",
    "BatchMatMulV2": "MatMul",
    "BatchToSpaceND": "BatchToSpace",
    "SpaceToBatchND": "SpaceToBatch",
    "BroadcastTo": "Broadcast",
    "ClipByValue": "ClipByValueTF",
    "ConcatV2": "Concat",
    "Conv2D": "Conv2D Convolution",
    "Conv2DBackpropInput": "Deconv2D Deconvolution",
    "Conv3D": "Conv3D Convolution",
    "Conv3DBackpropInputV2": "Deconv3D Deconvolution",
    "Cumsum": "CumSum",
    "DepthwiseConv2dNative": "DepthwiseConv2dNative Convolution",
    "FusedBatchNormV2": "FusedBatchNorm",
    "FusedBatchNormV3": "FusedBatchNorm",
    "Gather": "AttributedGather",
    "GatherV2": "Gather",
    "GatherNd": "GatherND",
    "Max": "ReduceMax",
    "MaxPool": "MaxPool Pooling",
    "MaxPool3D": "MaxPool Pooling",
    "MaxPoolV2": "MaxPool Pooling",
    "Mean": "ReduceMean",
    "Min": "ReduceMin",
    "Prod": "ReduceProd",
    "Sum": "ReduceSum",
    "MirrorPad": "TFPad",
    "Pad": "TFPad",
    "PadV2": "TFPad",
    "RealDiv": "Div",
    "ResizeBilinear": "TFResize",
    "ResizeNearestNeighbor": "TFResize",
    "ReverseV2": "Reverse",
    "Rsqrt": "AttributedPower Pow",
    "ScatterNd": "TFScatterND",
    "SelectV2": "Select",
    "Slice": "TFSlice",
    "SplitV": "VariadicSplit",
    "Square": "AttributedPower Pow",
    "TopKV2": "TopK",
    **{f"NonMaxSuppressionV{version}": "NonMaxSuppression" for version in range(2, 6)},
}
"""Kind -> names, separated by spaces."""
