"""Reducing a model: a small part of it that still fails, with random weights if the failure does not depend on the
weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from moir.errors import UsageError
from moir.reduction.minimizing import Minimization
from moir.reduction.reduced import Candidate, Reduced

SECONDS = 120.0
"""Default time limit of a reduction, in seconds."""


class Reducible(Protocol):
    """The interface of a model whose parts are models: `ModuleGraph`, `OnnxGraph`."""

    @property
    def operations(self) -> Sequence[object]:
        """The operations, in topological order."""
        ...

    @property
    def neighbours(self) -> Sequence[Sequence[int]]:
        """For each operation, the ids of the operations connected with it by a tensor."""
        ...

    def part(self, kept: frozenset[int], *, random: frozenset[int] = frozenset()) -> Candidate:
        """The model of the operations with the ids `kept`; the constants or initializers with the ids `random` have
        random values.
        """
        ...

    def weights(self, kept: frozenset[int]) -> int:
        """The number of weights (large floating-point constants) in the model of the operations with the ids `kept`."""
        ...


def reduced(
    graph: Reducible, fails: Callable[[Candidate], bool], hint: Iterable[int] = (), *, seconds: float = SECONDS, keeps_weights: bool = False
) -> Reduced:
    """Search for a small part of a model that still fails, then try random weights for it.

    Args:
        graph: the model.
        fails: whether a candidate still fails.
        hint: the ids of operations that the failure is about; the search begins there.
        seconds: the time after which the smallest part so far is the result.
        keeps_weights: whether the weights stay, because the check compares with arrays that were computed with them.

    Raises UsageError if the whole model does not fail.
    """
    search = Minimization(lambda kept: fails(graph.part(kept)), seconds)
    everything = range(len(graph.operations))
    part = search.around(graph.neighbours, hint)
    if part is None:
        if not search.fails(everything):
            raise UsageError("the check does not fail on the model itself", hint="its exit status is 0 as long as the model fails")
        part = list(everything)
    if len(part) > 1:
        part = search.minimized(part)
    kept = frozenset(part)
    candidate, checks = graph.part(kept), search.checks
    count = graph.weights(kept)
    is_random = count == 0
    if count and not keeps_weights:
        checks += 1
        attempt = graph.part(kept, random=frozenset(range(count)))
        if is_random := fails(attempt):
            candidate = attempt
    return Reduced(candidate, len(graph.operations), is_random, checks)
