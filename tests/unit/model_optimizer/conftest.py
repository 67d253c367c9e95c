"""Graphs from text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from moir.dialects.moir import models_of
from moir.model_optimizer.graph.graph import Graph
from tests.unit.model_optimizer.graph.texts import FRONT, MIDDLE

MakeGraph = Callable[..., Graph]

DYNAMIC = "tensor<*x!moir.dynamic>"


@pytest.fixture
def graph_of(parse) -> MakeGraph:
    """The graph of the text of a block; `: ?` stands for a type nothing is known of."""

    def make(text: str, stage: str = "front", framework: str | None = None) -> Graph:
        module = parse(text.replace(": ?, ?", f": {DYNAMIC}, {DYNAMIC}").replace(": ?", f": {DYNAMIC}"), verify=False)
        graph = Graph(models_of(module)[0].block, stage, framework)
        graph.module = module
        return graph

    return make


@pytest.fixture
def node():
    """The node of a name."""

    def find(graph: Graph, name: str):
        return graph.node_of(graph.subject(name))

    return find


@pytest.fixture(params=["front", "middle", "back"])
def ports_graph(request, graph_of) -> Graph:
    """The graph of the documents in each phase: op1 -> op2, op3, op4 (port 1); op3 -> op4 (port 0)."""
    return graph_of(FRONT if request.param == "front" else MIDDLE, request.param)
