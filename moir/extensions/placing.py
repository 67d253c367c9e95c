"""The positions of transformations in the pipeline, from their attributes `run_after` and `run_before`.

A list holds names of passes, anchors and transformations, their classes, or classes that stand for transformations of
Model Optimizer. `lower` is the lowering pass of the model's framework. A transformation that declares only one of the
two lists has the default for the other one. A pass that this conversion does not need can be listed as well: its
position is that in a pipeline of all passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from moir.errors import ConversionError
from moir.extensions.failures import shown
from moir.extensions.ordering import PHASES, Transformation, slotted_in
from moir.extensions.transformation import Reference, UserTransformation
from moir.frameworks import FRAMEWORKS, load
from moir.pipeline import AnchorPass, every_pass, is_pass, pass_names
from moir.support.xdsl_passes import ModulePass

PLACES = "moir.model_optimizer.api.transformations.anchors:places"
"""Where the function is, as `module:function`, that returns the positions of classes that stand for transformations of
Model Optimizer.

Its layer is above this module, so it is loaded by name.
"""

LOWER = "lower"
"""The name that stands in `run_after` and `run_before` for the lowering pass of the model's framework."""


def placed(
    pipeline: Sequence[str], transformations: Sequence[UserTransformation], framework: str, known: Iterable[UserTransformation]
) -> list[str | UserTransformation]:
    """A pipeline with transformations inserted.

    Args:
        pipeline: names of its passes, a subset of `every_pass`.
        transformations: the transformations that apply to models of the framework.
        framework: the framework of the model.
        known: all transformations, because lists may contain those for other frameworks.

    Raises ConversionError for a cycle, and for names and classes that do not exist.
    """
    names = _Names(known, FRAMEWORKS[framework].lowering_pass)
    by_name = {each.name: each for each in transformations}
    slotted: list[Transformation] = []
    for each in transformations:
        after, before = PHASES[each.phase]
        listed = names.of(each, "run_after", after), names.of(each, "run_before", before)
        slotted.append(Transformation(each.name, AnchorPass, *listed, each.definition))
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
    """Resolves the elements of `run_after` and `run_before` to names of passes and transformations.

    Args:
        transformations: all transformations.
        lowering: the lowering pass of the framework, for `lower`.
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
        """The names in the list `attribute` of a transformation; `default` alone where the transformation lacks the
        list.
        """
        listed = transformation.references(attribute)
        if listed is None:
            return (self._lowered(default),)
        names = [self._name(each, transformation, attribute) for each in listed]
        # With only ignored classes left, nothing would bound the position, so the default does.
        known = tuple(name for name in names if name is not None)
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
            f"{attribute} of the transformation {transformation.name} lists the class {reference.__name__}, which is not a transformation",
            location=shown(transformation.file),
        )

    def places(self) -> list[Transformation]:
        """The positions of Model Optimizer's transformations that lists referred to and moir replaces; empty if none
        was.
        """
        if not self._stand_ins:
            return []
        return [
            Transformation(each.name, each.build, tuple(map(self._lowered, each.run_after)), tuple(map(self._lowered, each.run_before)))
            for each in load(PLACES)(self._stand_ins)
        ]
