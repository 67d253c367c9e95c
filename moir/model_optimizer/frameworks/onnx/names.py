"""The names that Model Optimizer's extractors gave the nodes of each kind of a framework: the attribute `op`.

    onnx.Slice with the attribute `starts` -> AttributedSlice; with inputs -> Slice

The first name of a kind is the one its nodes have as their `op`. Where that depended on the form of the node (old
versions of an ONNX operation have attributes where newer ones have inputs), a function decides. By the other names a
node is found, too: those are what Model Optimizer's own transformations of the front phase made of it, or what other
releases called it. A kind that is not listed was called as in the framework.

Source: the tables of Model Optimizer 2019 to 2024.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from moir.dialects.framework import NEWEST_VERSION
from moir.dialects.moir import ModelOp
from moir.lowering.driver import opset_versions
from moir.lowering.table import NEWEST

SHARED_NAMES: dict[str, str] = {
    "Relu": "ReLU",
    "Relu6": "ReLU6",
    "Softmax": "SoftMax",
    "Softplus": "SoftPlus",
    "Softsign": "SoftSign",
    "Neg": "Negative",
    "Ceil": "Ceiling",
    "Shape": "ShapeOf",
    "LeakyRelu": "LeakyReLU",
    "Sqrt": "AttributedPower Pow",
    "LRN": "AttributedLRN",
    "Unpack": "Unpack AttributedSplit",
}
"""Kind -> names, separated by spaces, in every framework."""

NAMES: dict[str, dict[str, str]] = {
    "onnx": {
        "And": "LogicalAnd",
        "AveragePool": "AveragePool AvgPool Pooling",
        "BatchNormalization": "batchNormInference",
        "Clip": "Clamp AttributedClamp",
        "Conv": "Conv Convolution",
        "ConvTranspose": "Deconv2D Deconvolution",
        "Dropout": "Identity",
        "Expand": "Broadcast",
        "Flatten": "FlattenONNX",
        "Gather": "AttributedGather",
        "GlobalAveragePool": "Pooling",
        "GlobalMaxPool": "Pooling",
        "HardSwish": "HSwish",
        "LessOrEqual": "LessEqual",
        "LogSoftmax": "LogSoftmax LogSoftmaxONNX",
        "LpNormalization": "NormalizeL2",
        "GreaterOrEqual": "GreaterEqual",
        "Max": "EltwiseN",
        "MaxPool": "MaxPool Pooling",
        "MaxRoiPool": "ROIPooling",
        "MeanVarianceNormalization": "MVNOnnx",
        "Min": "EltwiseN",
        "Not": "LogicalNot",
        "Or": "LogicalOr",
        "PRelu": "PReLU",
        "Pad": "ONNXPad AttributedPad",
        "RandomUniform": "AttributedRandomUniform",
        "Resize": "ONNXResize11 ONNXResize10 Upsample",
        "Scatter": "ScatterElementsUpdate",
        "ScatterElements": "ScatterElementsUpdate",
        "ScatterND": "ScatterNDUpdate",
        "Slice": "Slice AttributedSlice",
        "Softmax": "SoftMax SoftMaxONNX",
        "Split": "Split AttributedSplit VariadicSplit AttributedVariadicSplit",
        "Sum": "EltwiseN",
        "Unsqueeze": "ExpandDims Unsqueeze",
        "Upsample": "ONNXResize10 Upsample",
        "Where": "Select",
        "Xor": "LogicalXor",
    },
    "tf": {
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
    },
    "caffe": {
        "BatchNorm": "batchNormInference",
        "Convolution": "Conv2D Convolution",
        "Deconvolution": "Deconv2D Deconvolution",
        "Dropout": "Identity",
        "ELU": "Elu",
        "Eltwise": "EltwiseN Eltwise",
        "InnerProduct": "FullyConnected",
        "Interp": "Interpolate",
        "Normalize": "Normalize NormalizeL2",
        "Permute": "Transpose Permute",
        "Power": "AttributedPower Power",
        "ReLU": "ReLU LeakyReLU",
        "Scale": "ScaleShift",
        "Slice": "CaffeSlice",
        "Tile": "AttributedTile",
    },
    "mxnet": {
        "Activation": "Activation ReLU Sigmoid Tanh SoftPlus",
        "BatchNorm": "batchNormInference",
        "Convolution": "Convolution",
        "Deconvolution": "Deconvolution",
        "Dropout": "Identity",
        "Pad": "AttributedPad",
        "SliceChannel": "AttributedSplit",
        "concat": "Concat",
        "softmax": "SoftMax",
        "transpose": "Transpose",
    },
}
"""Framework -> kind -> names, separated by spaces."""


def onnx_version(op: Operation) -> int:
    """The version of ONNX's operation set that an operation is of; the newest if its model does not say."""
    if NEWEST_VERSION in op.attributes:
        return NEWEST
    outer = op.parent_op()
    while outer is not None and not isinstance(outer, ModelOp):
        outer = outer.parent_op()
    return NEWEST if outer is None else opset_versions(outer).get("", NEWEST)


def _by_attribute(attribute: str, attributed: str, plain: str) -> Callable[[Operation], str]:
    return lambda op: attributed if attribute in op.properties else plain


def _clamp(op: Operation) -> str:
    return "AttributedClamp" if len(op.operands) < 2 and (op.properties or onnx_version(op) < 11) else "Clamp"


def _slice(op: Operation) -> str:
    return "AttributedSlice" if len(op.operands) < 2 else "Slice"


def _split(op: Operation) -> str:
    if "split" in op.properties:
        return "AttributedVariadicSplit"
    return "AttributedSplit" if len(op.operands) < 2 else "VariadicSplit"


def _coerced(name: str) -> Callable[[Operation], str]:
    """Before operation set 13, ONNX takes a Softmax over all axes from the given one on."""
    return lambda op: f"{name}ONNX" if onnx_version(op) < 13 else name


FORMS: dict[str, Callable[[Operation], str]] = {
    "onnx.Clip": _clamp,
    "onnx.LogSoftmax": _coerced("LogSoftmax"),
    "onnx.Pad": _by_attribute("pads", "AttributedPad", "ONNXPad"),
    "onnx.Resize": lambda op: "ONNXResize10" if onnx_version(op) < 11 else "ONNXResize11",
    "onnx.Slice": _slice,
    "onnx.Softmax": _coerced("SoftMax"),
    "onnx.Split": _split,
}
"""Operation -> function that says which of its names is its `op`."""


def names_of_kind(framework: str, kind: str) -> tuple[str, ...]:
    """The names of the operations of a kind of a framework, then the kind itself; a domain is not part of `kind`."""
    table = NAMES.get(framework, {})
    listed = table.get(kind) or SHARED_NAMES.get(kind) or kind
    return tuple(dict.fromkeys((*listed.split(), kind)))
