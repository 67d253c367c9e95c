"""The IR of a network, and the graph that the CPU plugin executes, are never larger than those of OpenVINO's own
converter.
"""

from __future__ import annotations

from typing import Any

import openvino
import pytest

import moir
from tests.numerical.onnx.test_networks import NAMES, NETWORKS
from tests.numerical.runtime import core

CONSTANT = "Const"
"""The kind of executed nodes that were computed when the model was loaded."""

MORE_NODES = 1.05
"""How many nodes may be executed for one of the other IR: single ones depend on what the plugin happens to fuse."""


def executed(model: openvino.Model) -> int:
    """The number of nodes that an inference executes."""
    nodes: list[Any] = core().compile_model(model, "CPU").get_runtime_model().get_ops()
    return sum(str(node.get_rt_info()["layerType"].astype(str)) != CONSTANT for node in nodes)


@pytest.mark.parametrize("name", NAMES)
def test_neither_operations_nor_executed_nodes_are_more(name: str) -> None:
    path = NETWORKS / f"{name}.onnx"
    ours, theirs = moir.to_openvino(moir.convert_model(path)), openvino.convert_model(path)
    assert len(ours.get_ops()) <= len(theirs.get_ops())
    assert executed(ours) <= MORE_NODES * executed(theirs)
