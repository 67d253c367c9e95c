"""Inserting the transformations of a user into the pipeline.

    class FuseMine(PatternPass):
        run_after = ("fuse-swish",)
        run_before = ("fold-scales",)

The passes of the pipeline keep their order. A transformation runs after the last occurrence of each name in its
`run_after`, before the first occurrence of each name in its `run_before`, and as early as that allows;
transformations for the same position run in the order of their names. `fold-constants#2` is the second occurrence of a
pass that occurs several times. An attribute that a transformation lacks is replaced by the default of its
phase: after the anchor that begins the phase, before the one that ends it.
"""

from __future__ import annotations

import graphlib
import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.passes import ModulePass

from moir.errors import ConversionError
from moir.support.suggestions import alternatives, did_you_mean

PHASES: Mapping[str, tuple[str, str]] = {
    "front": ("front-start", "lower"),
    "middle": ("middle-start", "middle-finish"),
    "back": ("back-start", "back-finish"),
}
"""The default `run_after` and `run_before` of each phase. `lower` is the lowering pass of the model's framework."""


@dataclass(frozen=True)
class Transformation:
    """A pass of a user, and its position relative to other passes.

    Args:
        name: the name that other transformations and messages use.
        build: creates the pass.
        run_after: names of passes, anchors and transformations before it.
        run_before: names of passes, anchors and transformations after it.
    """

    name: str
    build: Callable[[], ModulePass]
    run_after: tuple[str, ...]
    run_before: tuple[str, ...]
    place: str = ""
    """The class and the file of the transformation, for messages."""


def slotted_in(
    pipeline: Sequence[str], transformations: Iterable[Transformation], optional: Iterable[str] = ()
) -> list[str | Transformation]:
    """The pipeline with transformations inserted.

    Args:
        pipeline: names of its passes, in order; a name may occur several times.
        transformations: the transformations to insert; their names are unique.
        optional: names of passes and transformations that may be listed although this pipeline lacks them.

    Raises ConversionError for a name that does not exist, and for a cycle, with its members.
    """
    added = {each.name: each for each in sorted(transformations, key=lambda each: each.name)}
    indices: dict[str, list[int]] = {}
    for index, name in enumerate(pipeline):
        indices.setdefault(name, []).append(index)
    ignored = frozenset(optional)
    sorter: graphlib.TopologicalSorter[int | str] = graphlib.TopologicalSorter()
    for index in range(len(pipeline)):
        sorter.add(index, *([index - 1] if index else []))
    for name, each in added.items():
        sorter.add(name)
        for other in each.run_after:
            if (place := _place(each, other, indices, -1, added, ignored)) is not None:
                sorter.add(name, place)
        for other in each.run_before:
            if (place := _place(each, other, indices, 0, added, ignored)) is not None:
                sorter.add(place, name)
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        members: Sequence[int | str] = error.args[1]
        raise ConversionError(_describe_cycle(members, pipeline, added), hint=_way_out(members, indices, added)) from None
    return _in_order(sorter, pipeline, added)


def _place(
    transformation: Transformation,
    name: str,
    indices: Mapping[str, Sequence[int]],
    occurrence: int,
    added: Mapping[str, Transformation],
    ignored: frozenset[str],
) -> int | str | None:
    """The pass or transformation that a name in `run_after` or `run_before` refers to.

    For a pass, the index in the pipeline of its occurrence `occurrence`, or of the one whose number the name has; for a
    transformation, its name. None if the pipeline lacks an optional name.

    Args:
        transformation: the transformation, for messages.
        name: the name.
        indices: the indices at which the pipeline has each pass.
        occurrence: which of them the name alone means: 0 or -1.
        added: the transformations, by name.
        ignored: the optional names.

    Raises ConversionError for a name that does not exist.
    """
    if name in added:
        return name
    if name in indices:
        return indices[name][occurrence]
    plain, mark, number = name.partition("#")
    if mark and plain in indices:
        if number.isdecimal() and 0 < int(number) <= len(indices[plain]):
            return indices[plain][int(number) - 1]
        raise ConversionError(
            f"the transformation {transformation.name} refers to {name!r}, but {_times(plain, indices)}",
            hint=f"say {_forms(plain, indices)}",
        )
    if (plain if mark else name) in ignored:
        return None
    hint = did_you_mean(plain if mark else name, [*indices, *added], "`moir passes` lists the names")
    raise ConversionError(f"the transformation {transformation.name} refers to {name!r}, which is not a pass", hint=hint)


def _times(name: str, indices: Mapping[str, Sequence[int]]) -> str:
    count = len(indices[name])
    return f"the pass {name} runs {f'{count} times' if count > 1 else 'once'}"


def _forms(name: str, indices: Mapping[str, Sequence[int]]) -> str:
    """The names that select an occurrence of a pass, as a list in words: `fold-constants#1 or fold-constants#2`.

    The name alone if the pass occurs once.
    """
    count = len(indices[name])
    return alternatives(f"{name}#{number}" for number in range(1, count + 1)) if count > 1 else name


def _way_out(members: Sequence[int | str], indices: Mapping[str, Sequence[int]], added: Mapping[str, Transformation]) -> str:
    """Advice on how a cycle of constraints can be resolved, for a message: for example which occurrence of a pass to
    name.

    Args:
        members: the members of the cycle: indices of the pipeline, and names of transformations.
        indices: the indices at which the pipeline has each pass.
        added: the transformations, by name.
    """
    listed = dict.fromkeys(
        name
        for member in members
        if isinstance(member, str)
        for name in (*added[member].run_after, *added[member].run_before)
        if len(indices.get(name, ())) > 1
    )
    if not listed:
        return "change their run_after or run_before"
    name = next(iter(listed))
    meaning = "where run_after means after the last and run_before before the first"
    return f"{_times(name, indices)}, {meaning}; say {_forms(name, indices)} to mean one of them"


def _describe_cycle(members: Sequence[int | str], pipeline: Sequence[str], added: Mapping[str, Transformation]) -> str:
    """A description of a cycle by the names of its members; of several consecutive passes only the first and the last
    are named.

    Args:
        members: the members: indices of the pipeline, and names of transformations.
        pipeline: the names of the passes.
        added: the transformations, by name.
    """
    places = dict.fromkeys(added[member].place for member in members if isinstance(member, str) and added[member].place)
    names = [member if isinstance(member, str) else pipeline[member] for member in members]
    kept = [
        name
        for index, name in enumerate(names)
        if isinstance(members[index], str)
        or index in (0, len(names) - 1)
        or isinstance(members[index - 1], str)
        or isinstance(members[index + 1], str)
    ]
    where = f" ({', '.join(places)})" if places else ""
    return f"the order of transformations is a cycle: {' -> '.join(reversed(kept))}{where}"


def _in_order(
    sorter: graphlib.TopologicalSorter[int | str], pipeline: Sequence[str], added: Mapping[str, Transformation]
) -> list[str | Transformation]:
    """The topological order of passes and transformations, each transformation as early as possible.

    Args:
        sorter: the constraints between indices of the pipeline and names of transformations.
        pipeline: the names of the passes.
        added: the transformations, by name.
    """
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
