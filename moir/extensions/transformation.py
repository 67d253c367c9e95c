"""The record of a user's transformation, whether it uses moir's own API or that of Model Optimizer."""

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
from moir.errors import INTERRUPTIONS, ConversionError
from moir.extensions.environment import Choice
from moir.extensions.failures import OwnsFile, failure, shown
from moir.extensions.ordering import PHASES

Reference: TypeAlias = "str | type"
"""An element of `run_after` or `run_before`: the name of a pass, an anchor or a transformation, or a class."""

Condition: TypeAlias = Callable[[Any], object]


class PhasePass(ModulePass):
    """A pass whose behaviour depends on the phase in which it runs."""

    @abstractmethod
    def in_phase(self, phase: str) -> ModulePass:
        """The pass to run in a phase: `front`, `middle` or `back`."""


def _nothing(_argument: object) -> str:
    return ""


@dataclass(frozen=True, eq=False)
class UserTransformation:
    """A transformation and its declarations.

    Args:
        name: the name of its pass.
        label: its class, qualified by its modules: `my_extension.middle.fuse.FuseMine`.
        file: the file that defines it.
        phase: `front`, `middle` or `back`.
        framework: the framework it is for, None for all.
        source: the class or module that declares `enabled`, `id`, `run_after` and so on.
        build: creates the pass that does the work, from the options in a pipeline.
        condition_argument: converts a model to the argument of the predicates in `graph_condition`.
        owns: whether a file belongs to its extension, for messages.
        ignores_unknown: whether `run_after` and `run_before` may contain classes that are not transformations.
        keeps_dead: whether operations that nothing depends on stay for the next transformation of the front phase.
        sees_layouts: whether, in the middle phase, it sees the operations with an attribute for their data layout.
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
    keeps_dead: bool = False
    sees_layouts: bool = False
    told_by_condition: Callable[[Any], str] = _nothing
    """Describes, for a message about a predicate in `graph_condition` that does not hold, the model that the predicate
    got.
    """

    @property
    def id(self) -> str | None:
        """The `id` that the author of a transformation declared; None without one."""
        declared = getattr(self.source, "id", None)
        return declared if isinstance(declared, str) and declared else None

    @property
    def handles(self) -> tuple[str, ...]:
        """The names by which `--enable`, `--disable` and the environment refer to it."""
        return (*((self.id,) if self.id else ()), self.name, self.label)

    @property
    def description(self) -> str:
        """The first line of its docstring; empty if it has none."""
        text = inspect.getdoc(self.source) if not isinstance(self.source, type) or self.source.__doc__ else None
        return text.splitlines()[0].strip() if text else ""

    @property
    def definition(self) -> str:
        """The class and the file of the transformation."""
        return f"{self.label.rpartition('.')[2]} in {shown(self.file)}"

    @property
    def summary(self) -> str:
        """The line of the transformation in a list of passes: description, id, class and file."""
        definition = ", ".join((*((f"id {self.id}",) if self.id else ()), self.definition))
        return f"{self.description} ({definition})" if self.description else definition

    @property
    def reason(self) -> str:
        """Why it has its position in the list of passes: its constraints, and the defaults of its phase."""
        after, before = PHASES[self.phase]
        parts: list[str] = []
        for attribute, word, default in (("run_after", "after", after), ("run_before", "before", before)):
            listed = self.references(attribute)
            if listed is None or not listed:
                parts.append(f"{word} {default} by default" if listed is None else f"nothing in {attribute}")
            else:
                parts.append(f"{word} {', '.join(each if isinstance(each, str) else each.__name__ for each in listed)}")
        return "; ".join(parts)

    @property
    def title(self) -> str:
        """The text by which messages designate the transformation."""
        return f"transformation {self.id or self.name} ({self.label})"

    def is_enabled(self, choice: Choice) -> bool:
        """Whether the transformation is to run.

        Evaluated at each call: a transformation that runs earlier may change `enabled`.
        """
        return choice.is_enabled(self.handles, bool(getattr(self.source, "enabled", True)))

    def flag(self, name: str, default: bool = False) -> bool:
        """The value of a boolean attribute, `default` if it is not declared."""
        return bool(getattr(self.source, name, default))

    def references(self, attribute: str) -> tuple[Reference, ...] | None:
        """The elements of `run_after` or `run_before`, None if it is not declared.

        Raises ConversionError for an element that is neither a name nor a class.
        """
        declared = getattr(self.source, attribute, None)
        if callable(declared) and not isinstance(declared, type):
            try:
                is_method = isinstance(self.source, type) and inspect.isfunction(inspect.getattr_static(self.source, attribute))
                declared = cast("Callable[..., Any]", declared)(*((self.source(),) if is_method else ()))
            except INTERRUPTIONS:
                raise
            except BaseException as error:
                raise failure(error, f"{attribute} of {self.title}", self.owns) from error
        if declared is None:
            return None
        listed = (declared,) if isinstance(declared, str | type) else tuple(cast("Iterable[Any]", declared))
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
        declared = getattr(self.source, "graph_condition", None)
        if declared is None:
            return ()
        return (cast(Condition, declared),) if callable(declared) else tuple(cast("Iterable[Condition]", declared))
