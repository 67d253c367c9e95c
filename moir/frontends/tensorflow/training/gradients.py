"""The nodes of a graph that compute gradients, and the steps of optimizers that use them.

`tf.gradients` computes the gradient of a node `net/y` below `gradients/net/y_grad/`, where `gradients` is a scope with
any name, anywhere. A scope is one of gradients if the names of nodes of the graph occur in the names below it. Where a
tool has renamed nodes, the kinds that only gradient functions create show gradients. What depends on a gradient is not
part of the model either.

Source: tensorflow/python/ops/gradients_util.py of TensorFlow 2.21.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from moir.frontends.tensorflow.edges import Edges
from moir.frontends.tensorflow.functions import Nodes
from moir.frontends.tensorflow.state.nodes import is_writing

_GRADIENT_KINDS = re.compile(
    r"BroadcastGradientArgs|\w+Grad(V\d+|Ex|WithArgmax)?|\w+GradGrad\w*|\w*Conv\w*BackpropFilter\w*|FakeQuant\w+Gradient"
)
"""Kinds of operations that only gradient functions create."""
_STEP_KINDS = re.compile(r"(Resource)?(Sparse)?Apply\w+")
"""Kinds that change a variable by a gradient: steps of optimizers."""
_CONTAINER_KINDS = frozenset(("EmptyTensorList", "TensorListReserve", "StackV2"))
"""Kinds that create an empty container. The containers of a gradient are filled by loops of the model itself."""
_GRADIENT_OF = re.compile(r"_grad(_\d+)?/")
_MAXIMUM_DEPTH = 64
"""Largest number of scopes in a node's name for which the name is examined."""


class Gradients:
    """The gradients in a graph.

    Args:
        nodes: the nodes of the graph.
        edges: its edges.
    """

    def __init__(self, nodes: Nodes, edges: Edges) -> None:
        self.scopes, self.differentiated = _scopes(nodes)
        self.of_scope: dict[str, list[str]] = {scope: [] for scope in self.scopes}
        """Name scope of gradients -> the nodes in it, except those in an inner scope of gradients."""
        for name in nodes:
            if (scope := self._scope_of(name)) is not None:
                self.of_scope[scope].append(name)
        own = {name for names in self.of_scope.values() for name in names}
        by_kind = {node.name for node in nodes.values() if _GRADIENT_KINDS.fullmatch(node.op)}
        containers = {node.name for node in nodes.values() if node.op in _CONTAINER_KINDS}
        self.nodes = edges.after((own | by_kind) - containers, containers) | own
        """The nodes that compute gradients, or depend on one."""
        self.steps = [
            node.name
            for node in nodes.values()
            if edges.operands[node.name] and (_STEP_KINDS.fullmatch(node.op) or (is_writing(node.op) and node.name in self.nodes))
        ]
        """The nodes that change a parameter, operand 0, by a gradient."""

    def _scope_of(self, name: str) -> str | None:
        parts = name.split("/")[:_MAXIMUM_DEPTH]
        scopes = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
        return next((scope for scope in scopes if scope in self.scopes), None)

    def trained(self, edges: Edges) -> list[set[str]]:
        """The nodes of the parameters that each optimizer trains, operand 0 of its steps.

        Scopes of gradients that train a common parameter, as those of several devices do, count as one optimizer.
        """
        groups: list[set[str]] = []
        unassigned = set(self.steps)
        for names in self.of_scope.values():
            after = edges.after(names)
            steps = [step for step in self.steps if step in after]
            unassigned.difference_update(steps)
            _join(groups, {edges.operands[step][0][0] for step in steps})
        _join(groups, {edges.operands[step][0][0] for step in self.steps if step in unassigned})
        return groups


def _join(groups: list[set[str]], parameters: set[str]) -> None:
    """Add the set `parameters` to the disjoint sets `groups`, merging the ones that it overlaps."""
    if not parameters:
        return
    others = [group for group in groups if group.isdisjoint(parameters)]
    overlapping = [group for group in groups if not group.isdisjoint(parameters)]
    groups[:] = [*others, parameters.union(*overlapping)]


def _scopes(nodes: Mapping[str, object]) -> tuple[set[str], set[str]]:
    """The scopes of gradients, and the names of the nodes that are differentiated in them."""
    scopes: set[str] = set()
    differentiated: set[str] = set()
    seen: set[str] = set()
    for name in nodes:
        for match in _GRADIENT_OF.finditer(name):
            if (before := name[: match.start()]) in seen:
                continue
            seen.add(before)
            for scope, node in _divisions(before):
                if node in nodes:
                    scopes.add(scope)
                    differentiated.add(node)
                    break
    return scopes, differentiated


def _divisions(text: str) -> Iterable[tuple[str, str]]:
    """The possible ways to split a name into a scope of gradients and the name of the node that is differentiated in
    it.

    A scope that both parts have in common may be written once: it then belongs to both.
    """
    parts = text.split("/", _MAXIMUM_DEPTH)
    for length in range(1, len(parts)):
        yield "/".join(parts[:length]), "/".join(parts[length:])
    for length in range(2, len(parts)):
        for common in range(1, length):
            yield "/".join(parts[:length]), "/".join((*parts[:common], *parts[length:]))
