"""The layouts of inputs and outputs: from the user's options, and from the runtime information of the model."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Operation

from moir.analysis.model_ports import ModelPorts, name_of_port
from moir.dialects.properties import string_attribute
from moir.errors import UsageError
from moir.parameters.layouts import Layout
from moir.parameters.tensor_layouts import TensorLayout, tensor_layouts

_RUNTIME_INFORMATION, _LAYOUT = "runtime_info", "layout"


def requested_layouts(ports: ModelPorts, layout: str, source_layout: str, target_layout: str) -> dict[Operation, TensorLayout]:
    """The layouts that the texts of options give to Parameters and Results.

    Args:
        ports: the inputs and outputs of the model.
        layout: layouts of the model's tensors and of the tensors that callers use in their place, in the notation of
            `tensor_layouts`.
        source_layout: the layouts of the model alone.
        target_layout: the layouts of callers alone.

    Raises UsageError for names that do not exist, and for a tensor with two layouts.
    """
    texts = (layout, source_layout, target_layout)
    lists = [tensor_layouts(text) if text else () for text in texts]
    lists[2] = tuple(replace(each, source=None, target=each.source) for each in lists[2])
    by_port: dict[Operation, TensorLayout] = {}
    for layouts in filter(None, lists):
        for port, each in ports.assigned([(each.name, each) for each in layouts], "layout", outputs=True):
            known = by_port.get(port, TensorLayout())
            if (known.source and each.source) or (known.target and each.target):
                raise UsageError(f"{name_of_port(port)!r} has two layouts")
            by_port[port] = TensorLayout(source=known.source or each.source, target=known.target or each.target)
    return by_port


def recorded_layout(port: Operation) -> Layout | None:
    """The layout in the runtime information of a Parameter or Result; None if there is none or it cannot be parsed."""
    information = port.attributes.get(_RUNTIME_INFORMATION)
    entry = information.data.get(_LAYOUT) if isinstance(information, DictionaryAttr) else None
    text = entry.data.get(_LAYOUT) if isinstance(entry, DictionaryAttr) else None
    if not isinstance(text, StringAttr):
        return None
    try:
        return Layout.of_text(text.data)
    except UsageError:
        return None


def record_layout(port: Operation, layout: Layout) -> None:
    """Write a layout to the runtime information of a Parameter or Result, spelled as in OpenVINO IR."""
    carried = port.attributes.get(_RUNTIME_INFORMATION)
    entry = DictionaryAttr({"version": string_attribute("0"), "layout": string_attribute(layout.for_runtime)})
    known = dict(carried.data) if isinstance(carried, DictionaryAttr) else {}
    port.attributes[_RUNTIME_INFORMATION] = DictionaryAttr({**known, _LAYOUT: entry})
