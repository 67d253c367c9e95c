"""`moir describe-subgraphs CONFIG MODEL`: adds the inputs and outputs of scopes to a configuration file.

    "inputs": [[{"node": "Branch_0/Conv2d_0a_1x1/Conv2D$", "port": 0}, …]],
    "outputs": [{"node": "concat$", "port": 0}]

The first scope of an entry that exists in the model is examined; each node at its border is described by a regular
expression that matches no other node of the scope, nor of any other scope of the entry. Other kinds of entries are
unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from moir.model_optimizer.api.configuration.json_configuration import CustomReplacementDescriptor, parse_configuration, read_configuration
from moir.model_optimizer.api.transformations.instances import NamedNodes, border
from moir.model_optimizer.api.transformations.subgraph_match import NumberedPort, in_scope
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode

_SPECIAL = re.compile(r"([\\^$.|?*+()\[\]{}])")


def describe_subgraphs(path: str | Path, graph: Graph) -> str:
    """The text of a configuration file, completed for a model.

    Args:
        path: the file.
        graph: the model in the front phase.

    Raises ConversionError, with line and column, for a file that is not a configuration; for an entry none of whose
    scopes is in the model, with the nearest names; and where scopes of one entry differ at their borders.
    """
    return described_text(read_configuration(path), str(path), graph)


def described_text(text: str, file: str, graph: Graph) -> str:
    """The text of a configuration file, given as `text`, completed for a model, as by `describe_subgraphs`; `file` is
    its name, for messages.
    """
    nodes = NamedNodes(graph)
    entries: list[dict[str, Any]] = []
    for descriptor in parse_configuration(text, file):
        entry = dict(descriptor.entry.value)
        if descriptor.match_kind == "scope":
            entry["inputs"], entry["outputs"] = _described(nodes, descriptor)
        entries.append(entry)
    return json.dumps(entries, indent=4, ensure_ascii=False) + "\n"


def _described(nodes: NamedNodes, descriptor: CustomReplacementDescriptor) -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    scopes = [(scope, matched) for scope in descriptor.scopes if (matched := nodes.matching(scope))]
    if not scopes:
        scope = descriptor.scopes[0]
        raise descriptor.fail(f"no node of the model is in the scope {scope!r}", "instances", 0, hint=nodes.nearest_scopes(scope))
    inputs, outputs = border(scopes[0][1])
    describer = _Describer(descriptor, scopes)
    return [[describer.port(port) for port in group] for group in inputs], [describer.port(port) for port in outputs]


class _Describer:
    """Describes ports at the border of the first scope of an entry."""

    def __init__(self, descriptor: CustomReplacementDescriptor, scopes: Sequence[tuple[str, Sequence[GraphNode]]]) -> None:
        self._descriptor = descriptor
        self._scopes = scopes
        self._names = [(scope, [node.name for node in matched]) for scope, matched in scopes]

    def port(self, port: NumberedPort) -> dict[str, Any]:
        """The description of a port in the configuration: `{"node": expression for the name, "port": index}`."""
        node, number = port
        return {"node": self._expression(node.name), "port": number}

    def _expression(self, name: str) -> str:
        """A regular expression for the part of a node's name after a scope, which matches exactly one node of each
        scope.
        """
        scope = self._scopes[0][0]
        failed: tuple[str, int] | None = None
        for relative in _after(scope, name):
            expression = _SPECIAL.sub(r"\\\1", relative) + "$"
            counts = [(other, self._count(other, names, expression)) for other, names in self._names]
            failed = next(((other, count) for other, count in counts if count != 1), None)
            if failed is None:
                return expression
        if failed is None:
            raise self._descriptor.fail(
                f"the node {name!r} is at the border of the scope {scope!r}, but has no name after it",
                "instances",
                hint="write the scope so that it ends at a '/'",
            )
        raise self._descriptor.fail(
            f"the node {name!r} is at the border of the scope {scope!r}, and {failed[1] or 'no'} nodes correspond to it in {failed[0]!r}",
            "instances",
            hint="put scopes that differ into different entries",
        )

    def _count(self, scope: str, names: Sequence[str], expression: str) -> int:
        compiled = re.compile(in_scope(scope, expression))
        return sum(1 for name in names if compiled.match(name))


def _after(scope: str, name: str) -> list[str]:
    """The parts of a name after a scope, the longest first.

    A part begins at a component of the name, or anywhere after a scope that ends with `/`.
    """
    compiled = re.compile(in_scope(scope, ""))
    ends = [end for end in range(1, len(name)) if name[end - 1] == "/" and compiled.fullmatch(name[:end])]
    return [name[end:] for end in ends]
