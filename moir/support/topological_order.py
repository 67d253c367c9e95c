"""A topological order of the nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def topological_order(
    roots: Iterable[str], sources: Callable[[str], Iterable[str]], cycle: Callable[[list[str], str], Exception]
) -> list[str]:
    """The nodes that the roots depend on, each after those that it depends on itself.

    Args:
        roots: the names of the nodes to begin with, in order.
        sources: returns the names of the nodes that a node depends on.
        cycle: makes the error for a cycle, from the path from a root and the node of the path that occurs again.
    """
    order: list[str] = []
    done: set[str] = set()
    for root in roots:
        if root in done:
            continue
        path = {root: iter(sources(root))}
        while path:
            name, rest = next(reversed(path.items()))
            for source in rest:
                if source in done:
                    continue
                if source in path:
                    raise cycle(list(path), source)
                path[source] = iter(sources(source))
                break
            else:
                del path[name]
                done.add(name)
                order.append(name)
    return order
