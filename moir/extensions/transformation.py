"""A transformation of a user, whichever level it is written on."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from moir.dialects.moir import ModelOp
from moir.errors import ConversionError
from moir.extensions.environment import Choice
from moir.extensions.failures import OwnsFile, failure, shown

Reference: TypeAlias = "str | type"
"""What `run_after` and `run_before` list: names of passes and anchors, or classes."""

Condition: TypeAlias = Callable[[Any], object]


class PhasePass(ModulePass):
    """A pass for which it matters in which phase it runs."""

    @abstractmethod
    def in_phase(self, phase: str) -> ModulePass:
        """The pass for a phase."""


@dataclass(frozen=True, eq=False)
class UserTransformation:
    """A transformation and what it says about itself.

    Args:
        name: its name in the pipeline.
        label: class with the modules in front, `my_extension.middle.fuse.FuseMine`.
        file: where it is.
        phase: `front`, `middle` or `back`.
        framework: the framework it is for, None for all.
        source: the class (or module) that has `enabled`, `id` and so on.
        build: makes the pass that does the work, with options of a pipeline.
        condition_argument: from a model to what the predicates of `graph_condition` get.
        owns: whether a file is one of its extension, for messages.
        ignores_unknown: whether classes in `run_after` and `run_before` that are no transformations count for nothing.
    """

    name: str
    label: str
    file: Path
    phase: str
    framework: str | None
    source: Any
    build: Callable[[ArgSpec], ModulePass]
    condition_argument: Callable[[ModelOp], Any]
    owns: OwnsFile
    ignores_unknown: bool = False

    @property
    def id(self) -> str | None:
        """The handle its author gave it."""
        given = getattr(self.source, "id", None)
        return given if isinstance(given, str) and given else None

    @property
    def handles(self) -> tuple[str, ...]:
        """What `--enable`, `--disable` and the environment may call it."""
        return (*((self.id,) if self.id else ()), self.name, self.label)

    @property
    def description(self) -> str:
        """The first line of what it says about itself."""
        text = inspect.getdoc(self.source) if not isinstance(self.source, type) or self.source.__doc__ else None
        return text.splitlines()[0].strip() if text else ""

    @property
    def summary(self) -> str:
        """What a list of passes says about it: what it does, its id, and where it is."""
        place = ", ".join((*((f"id {self.id}",) if self.id else ()), f"{self.label.rpartition('.')[2]} in {shown(self.file)}"))
        return f"{self.description} ({place})" if self.description else place

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"transformation {self.id or self.name} ({self.label})"

    def is_enabled(self, choice: Choice) -> bool:
        """Whether it is to run. Its `enabled` is looked at each time: a transformation before it may have changed it."""
        return choice.is_enabled(self.handles, bool(getattr(self.source, "enabled", True)))

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean attribute."""
        return bool(getattr(self.source, name, default))

    def references(self, attribute: str) -> tuple[Reference, ...] | None:
        """What `run_after` or `run_before` lists, None if it says nothing. Raises ConversionError for anything but
        names and classes.
        """
        given = getattr(self.source, attribute, None)
        if callable(given) and not isinstance(given, type):
            try:
                is_method = isinstance(self.source, type) and inspect.isfunction(inspect.getattr_static(self.source, attribute))
                given = cast("Callable[..., Any]", given)(*((self.source(),) if is_method else ()))
            except Exception as error:
                raise failure(error, f"{attribute} of {self.title}", self.owns) from error
        if given is None:
            return None
        listed = (given,) if isinstance(given, str | type) else tuple(cast("Iterable[Any]", given))
        for each in listed:
            if not isinstance(each, str | type):
                raise ConversionError(
                    f"{attribute} of the transformation {self.name} lists {each!r}",
                    location=shown(self.file),
                    hint="list names of passes, or classes",
                )
        return listed

    def conditions(self) -> tuple[Condition, ...]:
        """The predicates of `graph_condition`."""
        given = getattr(self.source, "graph_condition", None)
        if given is None:
            return ()
        return (cast(Condition, given),) if callable(given) else tuple(cast("Iterable[Condition]", given))


def refuse_options(spec: ArgSpec) -> None:
    """Raises ValueError if a pipeline gives options to a pass that has none."""
    if spec.parameters:
        raise ValueError(f"it has no option {min(spec.parameters)}")
