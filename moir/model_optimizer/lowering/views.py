"""The graph in which functions of an extension see an operation while it is lowered: one that has shapes."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

from xdsl.ir import Block

from moir.dialects.framework import FrameworkOp
from moir.errors import ConversionError
from moir.frameworks import FRAMEWORKS, MODEL_OPTIMIZER
from moir.lowering.binder import LoweringRun
from moir.lowering.driver import Lowering
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import Node

SETTINGS: ContextVar[Mapping[str, Any]] = ContextVar("graph_settings", default={})  # noqa: B039
"""Further entries of `graph.graph`, e.g. `cmd_params`. Whoever runs extensions sets them."""

_GRAPHS: WeakKeyDictionary[LoweringRun, dict[Block, Graph]] = WeakKeyDictionary()


def graph_of(block: Block, lowering: LoweringRun) -> Graph:
    """The graph of a block, the same one as long as the lowering runs."""
    graphs = _GRAPHS.setdefault(lowering, {})
    if block not in graphs:
        framework = lowering.framework
        settings = {"layout": "NHWC" if framework.channel_last else "NCHW", **SETTINGS.get()}
        graphs[block] = Graph(block, "middle", None if framework is MODEL_OPTIMIZER else framework.dialect, settings)
    return graphs[block]


def view_of(op: FrameworkOp, lowering: LoweringRun) -> Node:
    """The node of an operation."""
    if op.parent is None:
        raise ConversionError("it is in no graph", operation=op.name)
    return Node.of(graph_of(op.parent, lowering), op)


def lowering_in(graph: Graph) -> Lowering:
    """A lowering of single operations of a graph."""
    lowering = Lowering(FRAMEWORKS[str(graph.graph["fw"])], dialects=(MODEL_OPTIMIZER,))
    lowering.known = graph.known
    _GRAPHS[lowering] = {graph.block: graph}
    return lowering
