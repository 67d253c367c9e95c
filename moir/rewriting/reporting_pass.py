"""The base class of passes that report whether they changed the module, and that declare without which operations they
change nothing.

    class ReverseTwicePass(ReportingPass):
        name = "reverse-twice"
        ROOTS = (Reverse,)

        def run(self, module: ModuleOp, analyses: Analyses) -> bool:
            return rewrite(module, [ReverseTwice()])

These declarations are compiled into `moir/pipeline/pass_index.py`, so that a conversion does not even import a pass if
the module does not have the operations.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from moir.analysis.analyses import Analyses
from moir.dialects import opset
from moir.support.module_pass import Pass

if TYPE_CHECKING:
    from xdsl.context import Context

Roots: TypeAlias = "tuple[type[Operation] | str, ...]"
"""Classes of operations, or names of operations."""

Needs: TypeAlias = "tuple[tuple[tuple[str, ...], ...], ...]"
"""Alternatives, one of which a module has to meet.

Each alternative is a list of sets of kinds; the module needs an operation of one kind of each set. As text, "Exp & Add
Subtract | SoftPlus" are an Exp with an Add or a Subtract, or a SoftPlus.
"""

Elements: TypeAlias = "AbstractSet[Attribute]"
"""Element types; the module has to have a value of one of them."""


class ReportingPass(Pass):
    """A pass whose `run` returns whether it changed the module."""

    ROOTS: ClassVar[Roots] = (Operation,)
    """Classes (subclasses included) or names of operations: without any of them in a module, the pass changes nothing.
    """

    COMPANIONS: ClassVar[tuple[Roots, ...]] = ()
    """Further conditions for a change: the module needs, for each tuple, an operation of one of its classes or names.
    """

    KEEPS_DIMENSIONS: ClassVar[bool] = False
    """Whether `Analyses.dimensions` stays valid after the pass, since it only erases operations and replaces values by
    equal ones.

    False for a pass that sets types, or gives operations operands of another shape.
    """

    IN_PLACE: ClassVar[bool] = False
    """Whether the pass only changes properties, attributes and shapes, so that lists of operations stay valid.

    No operation is added or erased; operands and the element types of results stay.
    """

    DEPENDS_ON_PROPERTIES: ClassVar[bool] = True
    """Whether an IN_PLACE pass before this pass may give it something to change."""

    @abstractmethod
    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        """Run the pass.

        Args:
            module: changed in place.
            analyses: facts about the module; they are stale as soon as the pass changes it.

        Returns whether the module may have changed: False only if it is certainly unchanged.
        """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.run(op, Analyses(op))

    @classmethod
    def needs(cls) -> Needs | None:
        """The operations that a module has to contain for the pass to change it; None if it may change any module."""
        return all_of(map(needs_of_roots, (cls.ROOTS, *cls.COMPANIONS)))

    @classmethod
    def elements(cls) -> Elements | None:
        """Element types, one of which a value in a module must have for the pass to change it; None if it may change
        any module.
        """
        return None


def needs_of_roots(roots: Roots, is_root: Callable[[type[Operation]], bool] = lambda _: True) -> Needs | None:
    """A need that any operation of the root classes fulfils; None if a root matches every operation.

    Args:
        roots: the roots.
        is_root: a further condition on the class of the operation.
    """
    kinds: set[str] = set()
    for root in roots:
        if isinstance(root, str):
            kinds.add(kind_of_name(root))
        elif not issubclass(root, opset.OpsetOp):
            return None
        else:
            classes = (each for each in map(opset.operation, opset.names()) if issubclass(each, root))
            kinds.update(kind_of_name(each.name) for each in classes if is_root(each))
    return ((tuple(sorted(kinds)),),)


def kind_of_name(name: str) -> str:
    """The kind of an operation: its name without the dialect, and so without the version."""
    return name.partition(".")[2]


def either(needs: Iterable[Needs | None]) -> Needs | None:
    """The needs of a pass that has something to do if one of several needs is met; None if one of them is None."""
    alternatives: dict[tuple[tuple[str, ...], ...], None] = {}
    for each in needs:
        if each is None:
            return None
        alternatives.update(dict.fromkeys(each))
    return tuple(alternatives)


def all_of(needs: Iterable[Needs | None]) -> Needs | None:
    """The needs of a pattern that needs several operations, given the needs for each of them.

    Each has a single alternative; None if the pattern needs none of them.
    """
    sets = tuple(alternative for each in needs if each is not None for (alternative,) in each)
    return (sets,) if sets else None


def text_of_needs(needs: Needs) -> str:
    """Needs as text."""
    return " | ".join(" & ".join(map(" ".join, alternative)) for alternative in needs)


def needs_of_text(text: str) -> Needs:
    """The needs that a text stands for."""
    return tuple(tuple(tuple(kinds.split()) for kinds in alternative.split("&")) for alternative in text.split("|"))


def may_be_met(needs: Needs, kinds: frozenset[str]) -> bool:
    """Whether a module that contains exactly these kinds of operations meets the needs of a pass."""
    return any(all(not kinds.isdisjoint(each) for each in alternative) for alternative in needs)
