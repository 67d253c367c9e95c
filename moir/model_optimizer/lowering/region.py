"""Layers of YOLO, whose data is channel-first even if the model is channel-last."""

from __future__ import annotations

from typing import Any

from moir.dialects import opset
from moir.dialects.properties import TRUE, integers_attribute
from moir.lowering.table import Replacement
from moir.model_optimizer.graph.xml_records import xml_attributes
from moir.model_optimizer.lowering.layout import as_given, channel_first
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.model_optimizer.lowering.xml_properties import properties_of
from moir.rewriting.builder import OpBuilder

_AXES_OF_CHANNEL_LAST = (0, 2, 3, 1)
"""For each axis of an operation on [N, H, W, C], as an index, the same axis of [N, C, H, W]."""


@lowers("RegionYolo", "ReorgYolo")
def region(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.RegionYolo(x) -> opset1.RegionYolo(x), mo.ReorgYolo(x) -> opset2.ReorgYolo(x)

    Without a mask all anchors are used. The regions are [N, C, H, W] in any layout of the model, as the runtime's
    post-processing expects them. In a channel-last model `axis` counts the axes of that layout if `dim_attrs` lists
    it.
    """
    operation = opset.newest(node.kind)
    texts = xml_attributes(node.view)
    if node.kind == "ReorgYolo" and "stride" in texts:
        texts["stride"] = texts["stride"].split(",")[-1]
    if node.kind == "RegionYolo" and node.is_channel_last and "axis" in (node.get("dim_attrs") or ()) and "axis" in texts:
        texts["axis"] = str(_AXES_OF_CHANNEL_LAST[node.integer("axis") % 4])
    properties = dict(properties_of(operation, texts))
    if node.kind == "RegionYolo":
        softmax = properties.get("do_softmax") == TRUE
        properties.setdefault("mask", integers_attribute(() if softmax else tuple(range(node.integer("num", 0)))))
    built = op.create(operation, [channel_first(node, op, node.operand(0))], properties)
    return built.results[0] if node.kind == "RegionYolo" else as_given(node, op, built.results[0])
