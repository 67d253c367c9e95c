"""What extensions see of ONNX models: names, attributes and messages of nodes."""

from __future__ import annotations

from moir.model_optimizer.frameworks.onnx.attributes import ATTRIBUTES
from moir.model_optimizer.frameworks.onnx.names import FORMS, NAMES
from moir.model_optimizer.frameworks.onnx.node_proto import constant_message, node_message
from moir.model_optimizer.frameworks.onnx.normal_inputs import NORMAL_INPUTS
from moir.model_optimizer.frameworks.onnx.schemas import attributes_of, most_inputs
from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView(
    names=NAMES,
    forms=FORMS,
    attributes=ATTRIBUTES,
    messages={"pb": node_message},
    constant_message=constant_message,
    schema=attributes_of,
    most_inputs=most_inputs,
    normal_inputs=NORMAL_INPUTS,
    output_counts={"TopK": 2},
    powers={"Sqrt": 0.5},
)
