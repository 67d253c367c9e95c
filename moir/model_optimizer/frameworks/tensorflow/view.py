"""What extensions see of TensorFlow models: names, attributes and messages of nodes."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.properties import value_of
from moir.model_optimizer.frameworks.tensorflow.attributes import ATTRIBUTES
from moir.model_optimizer.frameworks.tensorflow.names import NAMES
from moir.model_optimizer.frameworks.tensorflow.node_def import constant_message, node_message
from moir.model_optimizer.frameworks.view import FrameworkView

_CONVOLUTIONS = frozenset(("Conv2D", "DepthwiseConv2dNative", "Conv3D", "Conv2DBackpropInput", "Conv3DBackpropInputV2"))


def is_convolution_with_channels_last(op: Operation) -> bool:
    """Whether an operation is a convolution whose channels are the last dimension."""
    if op.name.partition(".")[2] not in _CONVOLUTIONS:
        return False
    data_format = op.properties.get("data_format")
    text = "NHWC" if data_format is None else value_of(data_format)
    return not (text.decode() if isinstance(text, bytes) else str(text)).startswith("NC")


VIEW = FrameworkView(
    names=NAMES,
    attributes=ATTRIBUTES,
    messages={"pb": node_message},
    constant_message=constant_message,
    input_orders={"Split": (1, 0), "SplitV": (0, 2, 1)},
    output_counts={"TopK": 2, "TopKV2": 2},
    powers={"Sqrt": 0.5, "Rsqrt": -0.5, "Square": 2.0},
    variadic=frozenset(("AddN", "Pack", "IdentityN", "ParallelConcat", "DynamicStitch", "ParallelDynamicStitch")),
    axis_last=frozenset(("Concat", "ConcatV2")),
    is_convolution_with_channels_last=is_convolution_with_channels_last,
    leaves_out_defaults=True,
)
