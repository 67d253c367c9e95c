"""Model Optimizer's own transformations, as far as the order of a user's transformations refers to them.

    def run_after(self):
        return [SoftplusFusion, MiddleStart]

The anchors that begin and end the phases are places in moir's pipeline. Of the built-in transformations only the phase is known: a class
that stands for one is behind the anchor that begins its phase and in front of the one that ends it, so what runs after it and what runs
before it come in the right order. A stand-in does nothing and cannot be subclassed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.errors import ConversionError
from moir.extensions.ordering import Transformation


class StandIn:
    """A transformation of Model Optimizer's that has no counterpart of its name: a place in the order of transformations."""

    place: ClassVar[str] = ""
    """What it is called in the order: a pass of moir's pipeline, or a name of its own."""
    places_before: ClassVar[tuple[str, ...]] = ()
    """Places it is behind. Only of those that are no pass of the pipeline."""
    places_after: ClassVar[tuple[str, ...]] = ()
    """Places it is in front of."""

    def __init_subclass__(cls, *, stands_in: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not stands_in:
            built_in = next(base for base in cls.__mro__[1:] if issubclass(base, StandIn))
            raise ConversionError(
                f"the class {cls.__name__} is derived from {built_in.__name__}, which is no class of Model Optimizer that moir has",
                hint="derive it from a class of mo.front.common.replacement, mo.middle.replacement or mo.back.replacement",
            )

    def find_and_replace_pattern(self, graph: object) -> NoReturn:
        """Raises ConversionError: a stand-in cannot be run."""
        raise ConversionError(
            f"{type(self).__name__} is a transformation of Model Optimizer that moir does not have, so it cannot be run by an extension",
            hint="moir's own passes run in its pipeline; `moir passes` lists them",
        )


def _anchor(name: str, place: str = "", after: tuple[str, ...] = (), before: tuple[str, ...] = ()) -> type[StandIn]:
    return type(
        name,
        (StandIn,),
        {"place": place or f"built-in {name}", "places_before": after, "places_after": before, "__module__": __name__},
        stands_in=True,
    )


LoadFinish = _anchor("LoadFinish", before=("front-start",))
FrontStart = _anchor("FrontStart", place="front-start")
FrontFinish = _anchor("FrontFinish", after=("front-start",), before=("lower",))
PartialInfer = _anchor("PartialInfer", after=("front-finish",), before=("built-in PreMiddleStart",))
PreMiddleStart = _anchor("PreMiddleStart", after=("front-finish",), before=("middle-start",))
MiddleStart = _anchor("MiddleStart", place="middle-start")
MiddleFinish = _anchor("MiddleFinish", after=("middle-start",), before=("choose-layouts", "middle-finish"))
PostMiddleStart = _anchor("PostMiddleStart", after=("built-in MiddleFinish",), before=("choose-layouts", "middle-finish"))
InsertLayoutPropagationTranspose = _anchor(
    "InsertLayoutPropagationTranspose", after=("built-in PostMiddleStart",), before=("choose-layouts", "middle-finish")
)
ApplyPermutation = _anchor("ApplyPermutation", after=("built-in PostMiddleStart", "choose-layouts"), before=("back-start",))
BackStart = _anchor("BackStart", place="back-start")
BackFinish = _anchor("BackFinish", place="back-finish")

ANCHORS: dict[str, type[StandIn]] = {
    anchor.__name__: anchor
    for anchor in (
        LoadFinish,
        FrontStart,
        FrontFinish,
        PartialInfer,
        PreMiddleStart,
        MiddleStart,
        MiddleFinish,
        PostMiddleStart,
        InsertLayoutPropagationTranspose,
        ApplyPermutation,
        BackStart,
        BackFinish,
    )
}
"""The anchors by name. The classes of the layout change are places too, because the layout of data differs in front of and behind it."""

_LAYOUT_CHANGE = frozenset(
    (
        "ApplyNHWCtoNCHWpermutation",
        "LayoutChangeForConstantShapePaths",
        "LayoutChangeForEinsum",
        "MarkSubGraphsWithCorrectLayout",
        "MergeNodesPermutations",
        "PreserveRuntimeInfo",
    )
)

_BOUNDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "load": ((), ("front-start",)),
    "analysis": ((), ("front-start",)),
    "front": (("front-start",), ("built-in FrontFinish",)),
    "middle": (("middle-start",), ("built-in MiddleFinish",)),
    "back": (("back-start",), ("back-finish",)),
}
"""Phase -> the places a built-in transformation of the phase is behind and in front of."""

PHASES = tuple(_BOUNDS)
"""The phases that have built-in transformations; their directories are called so."""


@cache
def built_in(phase: str, name: str) -> type[StandIn]:
    """The class that stands for a built-in transformation, the same one each time."""
    if name in ANCHORS:
        return ANCHORS[name]
    if name in _LAYOUT_CHANGE:
        return _anchor(name, after=("built-in PostMiddleStart",), before=("built-in ApplyPermutation",))
    after, before = _BOUNDS[phase]
    return _anchor(name, after=after, before=before)


def is_class_name(name: str) -> bool:
    """Whether a name is written as those of transformations are."""
    return re.fullmatch(r"[A-Z]\w*", name) is not None


class _PlaceOnlyPass(ModulePass):
    name = "place-only"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Do nothing: a stand-in is a place."""


class Place(Transformation):
    """A stand-in among the transformations that are slotted in; it is taken out of the pipeline again when that is in order."""


def places(stand_ins: Iterable[type[StandIn]]) -> list[Place]:
    """The places these classes stand for, and those their own places refer to, to be slotted in with the transformations of a user.

    Places that are passes of the pipeline are not among them.
    """
    by_place = {each.place: each for each in ANCHORS.values()}
    found: dict[str, Place] = {}
    pending = list(stand_ins)
    while pending:
        each = pending.pop()
        if not each.place.startswith("built-in ") or each.place in found:
            continue
        found[each.place] = Place(each.place, _PlaceOnlyPass, each.places_before, each.places_after)
        pending.extend(by_place[place] for place in (*each.places_before, *each.places_after) if place in by_place)
    return list(found.values())
