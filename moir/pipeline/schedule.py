"""Decides which passes run: those that may change the module in its present state.

A pass does not run, and is not even imported, if the module has no operations that it could change, or no values of
the element types that it changes; nor if it changed nothing before and nothing has changed since. Only passes of the
default pipeline are left out: those of extensions and of callers always run, and count as changes unless they report
that they changed nothing.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.pipeline import AnchorPass, DeferredPass, loaded
from moir.pipeline.pass_index import PASS_ELEMENTS, PASS_KINDS
from moir.rewriting.reporting_pass import Needs, ReportingPass, may_be_met, needs_of_text

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.passes import ModulePass


@cache
def needs_by_name(name: str) -> Needs | None:
    """The needs of a pass; None if it may change any module."""
    return None if (text := PASS_KINDS.get(name)) is None else needs_of_text(text)


class PassSchedule:
    """The passes of one module, in the order in which they are handed over.

    Args:
        module: the module, which only these passes change.
        verifies: whether to compute, after each pass, all facts anew that are still held, and compare them.
    """

    def __init__(self, module: ModuleOp, *, verifies: bool = False) -> None:
        self._module = module
        self._verifies = verifies
        self._analyses = Analyses(module)
        self._unchanged: dict[str, bool] = {}
        """Passes that would not change the module: name -> whether a change in place may make them do so."""

    @cached_property
    def _context(self) -> Context:
        """The context of dialects for passes that need one, if the caller gives none; no pass of a plain conversion
        needs it.
        """
        from moir.dialects.context import MoirContext

        return MoirContext()

    def run(self, each: ModulePass, ctx: Context | None = None) -> bool:
        """Run a pass, unless it would change nothing.

        Args:
            each: the pass.
            ctx: the context with the dialects, by default all of moir.

        Returns whether the module may have changed.

        Raises OperationVerifyException if facts are verified and one does not hold any more.
        """
        if isinstance(each, AnchorPass) or (isinstance(each, DeferredPass) and not self._may_change(each)):
            return False
        itself = loaded(each)
        changed = True
        if isinstance(itself, ReportingPass):
            changed = itself.run(self._module, self._analyses)
        else:
            itself.apply(ctx or self._context, self._module)
        if not changed:
            if isinstance(each, DeferredPass):
                self._unchanged[each.name] = not isinstance(itself, ReportingPass) or itself.DEPENDS_ON_PROPERTIES
        elif isinstance(itself, ReportingPass):
            self._analyses.invalidate(operations=not itself.IN_PLACE, dimensions=not itself.KEEPS_DIMENSIONS)
            self._unchanged = {name: False for name, depends in self._unchanged.items() if itself.IN_PLACE and not depends}
        else:
            self._analyses.invalidate()
            self._unchanged.clear()
        if self._verifies:
            self._verify(itself, changed)
        return changed

    def _verify(self, each: ModulePass, changed: bool) -> None:
        from moir.pipeline.stale_facts import StaleFact, check_facts
        from moir.rewriting.verification import failure_after

        try:
            check_facts(self._analyses)
        except StaleFact as stale:
            claim = "keeps dimensions" if changed else "changed nothing"
            raise failure_after(each.name, stale.operation, f"{stale.reason}; the pass says that it {claim}") from stale

    def _may_change(self, each: DeferredPass) -> bool:
        if each.name in self._unchanged:
            return False
        if (needs := needs_by_name(each.name)) is not None and not may_be_met(needs, self._analyses.kinds):
            return False
        elements = PASS_ELEMENTS.get(each.name)
        return elements is None or not self._analyses.elements.isdisjoint(elements)
