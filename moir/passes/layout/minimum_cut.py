"""Minimum cut of a directed network by Dinic's algorithm, without recursion.

    network = Network()
    node = network.node()
    network.connect(SOURCE, node, 3)
    few, many = network.cuts()        # for each node: whether it is on the side of the source

A cut costs the sum of the capacities of the connections from the side of the source to the side of the sink.
"""

from __future__ import annotations

from collections import deque

SOURCE, SINK = 0, 1
UNLIMITED = 1 << 60
MAXIMUM_WORK = 40_000_000
"""The number of visits of edges after which the search for a cut gives up, after a few seconds."""


class Network:
    """Nodes 0 (source), 1 (sink), … and connections with capacities."""

    def __init__(self) -> None:
        self._first: list[list[int]] = [[], []]
        self._heads: list[int] = []
        self._capacities: list[int] = []

    def node(self) -> int:
        """Add a node to the network; returns its index."""
        self._first.append([])
        return len(self._first) - 1

    def connect(self, start: int, end: int, capacity: int) -> None:
        """Add an edge: cutting it, with `start` on the source's side and `end` on the sink's, costs `capacity`."""
        if start == end or capacity <= 0:
            return
        self._first[start].append(len(self._heads))
        self._first[end].append(len(self._heads) + 1)
        self._heads += (end, start)
        self._capacities += (capacity, 0)

    def cuts(self) -> tuple[list[bool], list[bool]] | None:
        """Two minimum cuts, with the fewest and with the most nodes on the side of the source.

        Each cut is a list with one entry per node: whether it is on the side of the source. None if the search exceeds
        `MAXIMUM_WORK`.
        """
        work = 0
        while work <= MAXIMUM_WORK:
            levels = self._levels(SOURCE)
            if levels[SINK] < 0:
                return [level >= 0 for level in levels], [level < 0 for level in self._levels(SINK)]
            self._augment(levels)
            work += 2 * len(self._heads)
        return None

    def _levels(self, start: int) -> list[int]:
        """Breadth-first distance of each node from `start`, the source, or to it, the sink, in the residual network.

        -1 for a node without a path.
        """
        levels: list[int] = [-1] * len(self._first)
        levels[start] = 0
        pending: deque[int] = deque((start,))
        heads, capacities = self._heads, self._capacities
        reverse = int(start == SINK)
        while pending:
            node = pending.popleft()
            for edge in self._first[node]:
                head = heads[edge]
                if levels[head] < 0 and capacities[edge ^ reverse]:
                    levels[head] = levels[node] + 1
                    pending.append(head)
        return levels

    def _augment(self, levels: list[int]) -> None:
        """Compute a blocking flow: augment along shortest paths until none is left."""
        heads, capacities = self._heads, self._capacities
        next_edge = [0] * len(self._first)
        path: list[int] = []
        node = SOURCE
        while True:
            if node == SINK:
                amount = min(capacities[edge] for edge in path)
                keep = len(path)
                for position in reversed(range(len(path))):
                    edge = path[position]
                    capacities[edge] -= amount
                    capacities[edge ^ 1] += amount
                    if not capacities[edge]:
                        keep = position
                node = heads[path[keep] ^ 1]
                del path[keep:]
            edges = self._first[node]
            while next_edge[node] < len(edges):
                edge = edges[next_edge[node]]
                if capacities[edge] and levels[heads[edge]] == levels[node] + 1:
                    break
                next_edge[node] += 1
            if next_edge[node] < len(edges):
                path.append(edges[next_edge[node]])
                node = heads[path[-1]]
            elif path:
                node = heads[path.pop() ^ 1]
                next_edge[node] += 1
            else:
                return
