"""Where transformations land in the pipeline: what they say in `run_after` and `run_before` as names of passes.

A list may hold names of passes, anchors and transformations, classes of all of these, and classes that stand for
transformations of Model Optimizer. `lower` is the lowering of the model's framework. Saying one of the two lists
replaces the default for that list only. A pass that this conversion does not need counts as if it were where it is in
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xdsl.passes import ModulePass

from moir.errors import ConversionError
from moir.extensions.failures import shown
from moir.extensions.ordering import PHASES, Transformation, slotted_in
from moir.extensions.transformation import Reference, UserTransformation
from moir.frameworks import FRAMEWORKS, load
from moir.pipeline import AnchorPass, every_pass, is_pass, pass_names

PLACES = "moir.model_optimizer.api.anchors:places"
"""What knows the places of classes that stand for transformations of Model Optimizer; found by name, as it is above
this module.
"""

LOWER = "lower"
"""What stands for the lowering of the model's framework."""


def placed(
    pipeline: Sequence[str], transformations: Sequence[UserTransformation], framework: str, known: Iterable[UserTransformation]
) -> list[str | UserTransformation]:
    """A pipeline with transformations in it.

    Args:
        pipeline: names of its passes, some of `every_pass`.
        transformations: those of the framework.
        framework: the framework.
        known: all transformations; it is no mistake to refer to one of another framework.

    Raises ConversionError for a cycle, and for what refers to nothing.
    """
    names = _Names(known, FRAMEWORKS[framework].lowering_pass)
    by_name = {each.name: each for each in transformations}
    slotted: list[Transformation] = []
    for each in transformations:
        after, before = PHASES[each.phase]
        slotted.append(Transformation(each.name, AnchorPass, names.of(each, "run_after", after), names.of(each, "run_before", before)))
    slotted.extend(names.places())
    order = slotted_in(every_pass(), slotted, {*pass_names(), *names.every()})
    needed = frozenset(pipeline)
    placed: list[str | UserTransformation] = []
    for each in order:
        if isinstance(each, str):
            if each in needed:
                placed.append(each)
        elif each.name in by_name:
            placed.append(by_name[each.name])
    return placed


class _Names:
    """From what lists hold to names in the order.

    Args:
        transformations: all transformations.
        lowering: the lowering pass of the framework.
    """

    def __init__(self, transformations: Iterable[UserTransformation], lowering: str) -> None:
        self._lowering = lowering
        self._by_class: dict[Any, str] = {}
        self._by_handle: dict[str, str] = {}
        self._stand_ins: dict[type, None] = {}
        for each in transformations:
            self._by_class[each.source] = each.name
            for handle in each.handles:
                self._by_handle.setdefault(handle, each.name)

    def every(self) -> Iterable[str]:
        """The names of all transformations."""
        return self._by_class.values()

    def of(self, transformation: UserTransformation, attribute: str, default: str) -> tuple[str, ...]:
        """What a list of a transformation says."""
        listed = transformation.references(attribute)
        if listed is None:
            return (self._lowered(default),)
        found = [self._name(each, transformation, attribute) for each in listed]
        # If nothing that was listed is there, the place would be anywhere.
        known = tuple(name for name in found if name is not None)
        return known if known or not listed else (self._lowered(default),)

    def _lowered(self, name: str) -> str:
        return self._lowering if name == LOWER else name

    def _name(self, reference: Reference, transformation: UserTransformation, attribute: str) -> str | None:
        if isinstance(reference, str):
            name = self._lowered(reference)
            return name if is_pass(name) else self._by_handle.get(name, name)
        if reference in self._by_class:
            return self._by_class[reference]
        place = getattr(reference, "place", None)
        if isinstance(place, str):
            self._stand_ins[reference] = None
            return self._lowered(place)
        if issubclass(reference, ModulePass) and is_pass(getattr(reference, "name", "")):
            return reference.name
        if transformation.ignores_unknown:
            return None
        raise ConversionError(
            f"{attribute} of the transformation {transformation.name} lists the class {reference.__name__}, which is no transformation",
            location=shown(transformation.file),
        )

    def places(self) -> list[Transformation]:
        """The places of the stand-ins that were referred to."""
        if not self._stand_ins:
            return []
        return [
            Transformation(each.name, each.build, tuple(map(self._lowered, each.run_after)), tuple(map(self._lowered, each.run_before)))
            for each in load(PLACES)(self._stand_ins)
        ]
