"""Where transformations of a user go in the pipeline.

    class FuseMine(PatternPass):
        run_after = ("fuse-swish",)
        run_before = ("fold-scales",)

The passes of the pipeline keep their order. A transformation runs behind the last occurrence of each pass and anchor it
is to run after, in front of the first occurrence of those it is to run before, and as early as that allows;
transformations with the same place run in the order of their names. What it does not say is said by its phase: after
the anchor that begins it, before the one that ends it.
"""

from __future__ import annotations

import graphlib
import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.passes import ModulePass

from moir.errors import ConversionError

PHASES: Mapping[str, tuple[str, str]] = {
    "front": ("front-start", "lower"),
    "middle": ("middle-start", "middle-finish"),
    "back": ("back-start", "back-finish"),
}
"""What transformations of a phase run after and before by default. `lower` stands for the lowering of the model's
framework.
"""


@dataclass(frozen=True)
class Transformation:
    """A pass of a user and its place.

    Args:
        name: what others call it in `run_after` and `run_before`, and messages too.
        build: makes the pass.
        run_after: names of passes, anchors and transformations.
        run_before: the same.
    """

    name: str
    build: Callable[[], ModulePass]
    run_after: tuple[str, ...]
    run_before: tuple[str, ...]


def slotted_in(
    pipeline: Sequence[str], transformations: Iterable[Transformation], optional: Iterable[str] = ()
) -> list[str | Transformation]:
    """The pipeline with transformations in it.

    Args:
        pipeline: names of its passes, in order; a name may occur several times.
        transformations: what to slot in; their names are unique.
        optional: names that may be named although they are not there.

    Raises ConversionError for a name nothing has, and for a cycle, with its members.
    """
    added = {each.name: each for each in sorted(transformations, key=lambda each: each.name)}
    last = {name: index for index, name in enumerate(pipeline)}
    first = {name: index for index, name in reversed(list(enumerate(pipeline)))}
    ignored = frozenset(optional)
    sorter: graphlib.TopologicalSorter[int | str] = graphlib.TopologicalSorter()
    for index in range(len(pipeline)):
        sorter.add(index, *([index - 1] if index else []))
    for name, each in added.items():
        sorter.add(name)
        for other in each.run_after:
            if (place := _place(each, other, last, added, ignored)) is not None:
                sorter.add(name, place)
        for other in each.run_before:
            if (place := _place(each, other, first, added, ignored)) is not None:
                sorter.add(place, name)
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        raise ConversionError(_describe_cycle(error.args[1], pipeline), hint="change their run_after or run_before") from None
    return _in_order(sorter, pipeline, added)


def _place(
    transformation: Transformation, name: str, places: Mapping[str, int], added: Mapping[str, Transformation], ignored: frozenset[str]
) -> int | str | None:
    """What a name in `run_after` or `run_before` refers to: a place of the pipeline or another transformation; None if
    it is ignored.
    """
    if name in added:
        return name
    if name in places:
        return places[name]
    if name in ignored:
        return None
    near = get_close_matches(name, [*places, *added], 3)
    hint = f"the nearest names are {', '.join(near)}" if near else "`moir passes` lists the names"
    raise ConversionError(f"the transformation {transformation.name} refers to {name!r}, which is no pass", hint=hint)


def _describe_cycle(members: Sequence[int | str], pipeline: Sequence[str]) -> str:
    """A cycle: its members by name. Runs of passes that are there anyway are left out but for their ends."""
    names = [member if isinstance(member, str) else pipeline[member] for member in members]
    kept = [
        name
        for index, name in enumerate(names)
        if isinstance(members[index], str)
        or index in (0, len(names) - 1)
        or isinstance(members[index - 1], str)
        or isinstance(members[index + 1], str)
    ]
    return f"the order of transformations is a cycle: {' -> '.join(reversed(kept))}"


def _in_order(
    sorter: graphlib.TopologicalSorter[int | str], pipeline: Sequence[str], added: Mapping[str, Transformation]
) -> list[str | Transformation]:
    """The sorted nodes: a transformation as soon as it can run."""
    order: list[str | Transformation] = []
    transformations: list[str] = []
    passes: list[int] = []
    while sorter.is_active():
        for node in sorter.get_ready():
            if isinstance(node, str):
                heapq.heappush(transformations, node)
            else:
                heapq.heappush(passes, node)
        if transformations:
            name = heapq.heappop(transformations)
            order.append(added[name])
            sorter.done(name)
        elif passes:
            index = heapq.heappop(passes)
            order.append(pipeline[index])
            sorter.done(index)
    return order
