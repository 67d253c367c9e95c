"""The view of TensorFlow Lite.

Model Optimizer did not read TensorFlow Lite. So the `op` of a node is what extractors of TensorFlow made of the same
kind (NAMES), and its attributes are those of the schema. Quantized tensors are seen as the numbers that their
integers stand for.
"""

from __future__ import annotations

from moir.model_optimizer.frameworks.extracted import Extracted, by_kind, fixed, flag
from moir.model_optimizer.frameworks.view import FrameworkView

NAMES: dict[str, str] = {
    "ADD": "Add",
    "AVERAGE_POOL_2D": "Pooling AvgPool",
    "BATCH_MATMUL": "MatMul",
    "CAST": "Cast",
    "CONCATENATION": "Concat",
    "CONV_2D": "Conv2D Convolution",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2dNative Convolution",
    "DIV": "Div",
    "ELU": "Elu",
    "EXP": "Exp",
    "EXPAND_DIMS": "ExpandDims Unsqueeze",
    "FULLY_CONNECTED": "FullyConnected MatMul",
    "GATHER": "Gather",
    "GELU": "Gelu",
    "HARD_SWISH": "HSwish",
    "LEAKY_RELU": "LeakyReLU",
    "LOGISTIC": "Sigmoid",
    "MAXIMUM": "Maximum",
    "MAX_POOL_2D": "Pooling MaxPool",
    "MEAN": "ReduceMean",
    "MINIMUM": "Minimum",
    "MUL": "Mul",
    "PACK": "Pack",
    "PAD": "Pad",
    "RELU": "ReLU",
    "RELU6": "ReLU6",
    "RESHAPE": "Reshape",
    "RESIZE_BILINEAR": "ResizeBilinear Interpolate",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighbor Interpolate",
    "SHAPE": "ShapeOf",
    "SLICE": "Slice",
    "SOFTMAX": "SoftMax",
    "SPLIT": "Split",
    "SQUEEZE": "Squeeze",
    "STRIDED_SLICE": "StridedSlice",
    "SUB": "Sub",
    "TANH": "Tanh",
    "TRANSPOSE": "Transpose",
}
"""Kind -> names, separated by spaces."""

ATTRIBUTES = by_kind(
    {
        "CONCATENATION GATHER PACK": {"axis": Extracted("axis", 0)},
        "DEPTH_TO_SPACE SPACE_TO_DEPTH": {"block_size": Extracted("block_size", 0)},
        "ELU": {"alpha": fixed(1.0)},
        "LEAKY_RELU": {"negative_slope": Extracted("alpha", 0.0)},
        "MEAN REDUCE_MAX REDUCE_MIN REDUCE_PROD SUM": {"keep_dims": flag("keep_dims", False)},
    }
)
"""Kind -> the records of its attributes, by Model Optimizer's names."""

VIEW = FrameworkView(
    names=NAMES,
    attributes=ATTRIBUTES,
    variadic=frozenset(("ADD_N", "CONCATENATION", "PACK")),
    attributes_are_complete=False,
)
