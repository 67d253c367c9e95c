"""What extensions see of Caffe models: names, attributes and messages of nodes."""

from __future__ import annotations

from moir.model_optimizer.frameworks.caffe.attributes import ATTRIBUTES
from moir.model_optimizer.frameworks.caffe.layer import LayerMessage, python_layer, weights_message
from moir.model_optimizer.frameworks.caffe.names import NAMES
from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView(
    names=NAMES,
    attributes=ATTRIBUTES,
    messages={"pb": LayerMessage, "model_pb": weights_message},
    custom_kind=python_layer,
    attributes_are_complete=False,
    has_single_precision=True,
    flattens_products=True,
    clips_windows=True,
)
