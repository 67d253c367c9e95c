"""The names that Model Optimizer's extractors gave the nodes of ONNX: the attribute `op`.

    onnx.Slice with the attribute `starts` -> AttributedSlice; with inputs -> Slice

The first name of a kind is the `op` of its nodes. Where that depended on the form of the node (old versions of an
operation have attributes in place of inputs), a function decides. A node is also found by the other names: those of
the operations that Model Optimizer's own transformations of the front phase made of it, and those that other releases
used.

Source: the tables of Model Optimizer 2019 to 2024.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from moir.dialects.framework import NEWEST_VERSION
from moir.dialects.moir import ModelOp
from moir.lowering.driver import opset_versions
from moir.lowering.table import NEWEST

NAMES: dict[str, str] = {
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
}
"""Kind -> names, separated by spaces."""


def onnx_version(op: Operation) -> int:
    """The version of ONNX's operation set to which an operation belongs; the newest if its model does not state it."""
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
    """A function that returns the `op` of a Softmax or the like: `name`, or `nameONNX` before operation set 13, where
    ONNX computes it over all axes from the given one on.
    """
    return lambda op: f"{name}ONNX" if onnx_version(op) < 13 else name


FORMS: dict[str, Callable[[Operation], str]] = {
    "Clip": _clamp,
    "LogSoftmax": _coerced("LogSoftmax"),
    "Pad": _by_attribute("pads", "AttributedPad", "ONNXPad"),
    "Resize": lambda op: "ONNXResize10" if onnx_version(op) < 11 else "ONNXResize11",
    "Slice": _slice,
    "Softmax": _coerced("SoftMax"),
    "Split": _split,
}
"""Kind -> function that returns the name of a node for its attribute `op`, which depends on version or attributes."""
