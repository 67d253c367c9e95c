"""Names of operations in Model Optimizer's terms: the `op` and the `type` attribute of a node.

`op` is Model Optimizer's own name of an operation after its attributes were extracted (`ReLU` for onnx.Relu, `Add` for tf.AddV2),
`type` the name in the IR as it wrote it. Tables have only the kinds whose name differs; a few kinds changed names over the years or
are known by their framework's name as well, so a node answers to all of `op_names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from xdsl.ir import Operation

from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp

SHARED_OP_NAMES = {
    "Relu": "ReLU",
    "Relu6": "ReLU6",
    "Softmax": "SoftMax",
    "Softplus": "SoftPlus",
    "Softsign": "SoftSign",
    "Neg": "Negative",
    "Ceil": "Ceiling",
    "Shape": "ShapeOf",
    "LeakyRelu": "LeakyReLU",
}

OP_NAMES: dict[str, dict[str, str]] = {
    "onnx": {
        **SHARED_OP_NAMES,
        "And": "LogicalAnd",
        "BatchNormalization": "batchNormInference",
        "Clip": "Clamp",
        "ConvTranspose": "Deconvolution",
        "Expand": "Broadcast",
        "HardSwish": "HSwish",
        "LessOrEqual": "LessEqual",
        "GreaterOrEqual": "GreaterEqual",
        "Max": "EltwiseN",
        "Min": "EltwiseN",
        "Sum": "EltwiseN",
        "Not": "LogicalNot",
        "Or": "LogicalOr",
        "PRelu": "PReLU",
        "Xor": "LogicalXor",
        "Dropout": "Identity",
        "Resize": "ONNXResize10",
        "Pad": "ONNXPad",
        "MaxRoiPool": "ROIPooling",
        "LpNormalization": "NormalizeL2",
    },
    "tf": {
        **SHARED_OP_NAMES,
        "AddV2": "Add",
        "BiasAdd": "Add",
        "All": "ReduceAnd",
        "Any": "ReduceOr",
        "BatchMatMul": "MatMul",
        "BatchMatMulV2": "MatMul",
        "BatchToSpaceND": "BatchToSpace",
        "SpaceToBatchND": "SpaceToBatch",
        "BroadcastTo": "Broadcast",
        "ClipByValue": "ClipByValueTF",
        "ConcatV2": "Concat",
        "Cumsum": "CumSum",
        "FusedBatchNormV2": "FusedBatchNorm",
        "FusedBatchNormV3": "FusedBatchNorm",
        "GatherV2": "Gather",
        "GatherNd": "GatherND",
        "Max": "ReduceMax",
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
        "SelectV2": "Select",
        "Slice": "TFSlice",
        "TopKV2": "TopK",
        "NonMaxSuppressionV2": "NonMaxSuppression",
        "NonMaxSuppressionV3": "NonMaxSuppression",
        "NonMaxSuppressionV4": "NonMaxSuppression",
        "NonMaxSuppressionV5": "NonMaxSuppression",
    },
}
"""Framework kind -> `op`, by framework."""

TYPE_NAMES = {"Constant": "Const", "Relu": "ReLU", "PRelu": "PReLU", "Softmax": "SoftMax"}
"""IR type -> `type`, where Model Optimizer spelled it in another way."""

OPSET_OP_NAMES = {
    **TYPE_NAMES,
    "Multiply": "Mul",
    "Subtract": "Sub",
    "Divide": "Div",
    "Power": "Pow",
    "Convert": "Cast",
    "ConvolutionBackpropData": "Deconvolution",
    "BatchNormInference": "batchNormInference",
    "ReduceLogicalAnd": "ReduceAnd",
    "ReduceLogicalOr": "ReduceOr",
    "AvgPool": "Pooling",
    "MaxPool": "Pooling",
}
"""IR type -> `op`."""

_KINDS_OF_OP: dict[str, str] = {op: kind for kind, op in OPSET_OP_NAMES.items() if op != "Pooling"}

FRONT_TYPES = {
    "Conv": "Convolution",
    "Conv2D": "Convolution",
    "Conv3D": "Convolution",
    "DepthwiseConv2dNative": "Convolution",
    "Deconvolution": "Deconvolution",
    "AveragePool": "Pooling",
    "AvgPool": "Pooling",
    "MaxPool": "Pooling",
}
"""`op` of a node of a framework -> `type`, where neither table above says it."""

IN_PORTS_COUNTS = {
    "Broadcast": 3,
    "Clamp": 3,
    "Conv": 3,
    "Conv2D": 3,
    "Deconvolution": 3,
    "ONNXPad": 4,
    "OneHot": 4,
    "ReduceL1": 2,
    "ReduceL2": 2,
    "ReduceAnd": 2,
    "ReduceMax": 2,
    "ReduceMean": 2,
    "ReduceMin": 2,
    "ReduceOr": 2,
    "ReduceProd": 2,
    "ReduceSum": 2,
    "Reshape": 2,
    "Slice": 5,
    "Squeeze": 2,
    "TFPad": 3,
    "TopK": 3,
    "Transpose": 2,
    "Unsqueeze": 2,
}
"""Input ports of nodes of a framework, of which a model may connect fewer."""

FRAMEWORK_OPERATION = "framework_operation"
"""The discardable attribute that keeps what operation of its framework a node was before an extension gave it another `op`."""


def framework_kind(name: str) -> str:
    """The kind in the name of an operation, `Conv` of `onnx.Conv`. A domain of ONNX is no part of it."""
    return name.partition(".")[2].rpartition(".")[2]


@cache
def _class_names(operation: type[Operation]) -> tuple[str, ...]:
    """`op` of the operations of a class, then the other names they answer to."""
    if issubclass(operation, FrameworkOp):
        dialect, kind = operation.name.partition(".")[0], operation.KIND.rpartition(".")[2]
        if dialect == MODEL_OPTIMIZER:
            return (operation.KIND,)
        return tuple(dict.fromkeys((OP_NAMES.get(dialect, SHARED_OP_NAMES).get(kind, kind), kind, operation.KIND)))
    kind = operation.name.partition(".")[2]
    return tuple(dict.fromkeys((OPSET_OP_NAMES.get(kind, kind), kind)))


def op_names(op: Operation, entries: Mapping[str, Any]) -> tuple[str, ...]:
    """The names an operation answers to, `op` first. `entries` are its Python attributes."""
    given = entries.get("op") if entries else None
    return _class_names(type(op)) if given is None else (str(given),)


@cache
def class_type(operation: type[Operation]) -> str | None:
    """`type` of the operations of a class; None for those that have no counterpart in an operation set."""
    from moir.dialects import opset

    if not issubclass(operation, FrameworkOp):
        kind = operation.name.partition(".")[2]
        return TYPE_NAMES.get(kind, kind)
    if operation.name.startswith(f"{MODEL_OPTIMIZER}."):
        return None
    name = _class_names(operation)[0]
    if name in FRONT_TYPES:
        return FRONT_TYPES[name]
    kind = _KINDS_OF_OP.get(name, name)
    try:
        opset.versions(kind)
    except KeyError:
        return None
    return TYPE_NAMES.get(kind, kind)
