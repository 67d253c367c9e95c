"""What extensions see of MXNet models: names, attributes and messages of nodes."""

from __future__ import annotations

from moir.frontends.mxnet.symbol import value_of_text
from moir.model_optimizer.frameworks.mxnet.attributes import ATTRIBUTES
from moir.model_optimizer.frameworks.mxnet.names import NAMES
from moir.model_optimizer.frameworks.mxnet.symbol import custom_type, symbol_entry
from moir.model_optimizer.frameworks.view import FrameworkView

VIEW = FrameworkView(
    names=NAMES,
    attributes=ATTRIBUTES,
    messages={"symbol_dict": symbol_entry},
    custom_kind=custom_type,
    value_of_text=value_of_text,
    has_single_precision=True,
    flattens_products=True,
    clips_windows=True,
)
