"""The data edges between the nodes of a graph, in both directions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from moir.frontends.tensorflow.frames import Frame
from moir.frontends.tensorflow.references import Tensor


class Edges:
    """The data edges of a graph.

    Args:
        frame: the graph.

    Raises ModelFileError for a reference to a missing node or output.
    """

    def __init__(self, frame: Frame) -> None:
        self.operands: dict[str, list[Tensor]] = {node.name: frame.operands(node) for node in frame.nodes.values()}
        self._sources = {name: [source for source, _ in operands] for name, operands in self.operands.items()}
        self.users: dict[str, list[str]] = {}
        for name, operands in self.operands.items():
            for source, _ in operands:
                self.users.setdefault(source, []).append(name)

    def after(self, names: Iterable[str], without: Collection[str] = ()) -> set[str]:
        """The nodes `names` and all nodes that depend on them; the search stops at nodes in `without`, which are left
        out.
        """
        return _reached(names, self.users, without)

    def before(self, names: Iterable[str], without: Collection[str] = ()) -> set[str]:
        """The nodes `names` and all nodes that they depend on; the search stops at nodes in `without`, which are left
        out.
        """
        return _reached(names, self._sources, without)

    def sources_of(self, names: Iterable[str]) -> set[str]:
        """The nodes whose outputs are operands of the nodes `names`."""
        return {source for name in names for source in self._sources[name]}

    def users_of(self, names: Iterable[str], without: Collection[str] = ()) -> set[str]:
        """The nodes, except those in `without`, with an output of one of the nodes `names` as operand."""
        return {user for name in names for user in self.users.get(name, ()) if user not in without}


def _reached(names: Iterable[str], following: Mapping[str, Iterable[str]], without: Collection[str]) -> set[str]:
    stack = list(names)
    reached = set(stack)
    while stack:
        for name in following.get(stack.pop(), ()):
            if name not in reached and name not in without:
                reached.add(name)
                stack.append(name)
    return reached
