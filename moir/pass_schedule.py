"""Which passes run: those that may change the module as it is.

A pass does not run, and is not even imported, if the module has no operations that it could change; nor if it changed
nothing before and nothing has changed since. Only passes of the default pipeline are left out: those of extensions and
of callers always run, and count as changes unless they report that they changed nothing.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.analysis.analyses import Analyses
from moir.pass_kinds import PASS_KINDS
from moir.pipeline import AnchorPass, DeferredPass
from moir.rewriting.reporting_pass import ReportingPass, may_be_met


class PassSchedule:
    """The passes of one module, in the order in which they are handed over.

    Args:
        module: the module, which only these passes change.
        verifies: whether to compute all facts that are still held after each pass anew, and compare them.
    """

    def __init__(self, module: ModuleOp, *, verifies: bool = False) -> None:
        self._module = module
        self._verifies = verifies
        self._analyses = Analyses(module)
        self._unchanged: set[str] = set()
        """The names of the passes that changed nothing since the last change."""

    def run(self, each: ModulePass, ctx: Context) -> None:
        """Run a pass, unless it would change nothing.

        Raises OperationVerifyException if facts are verified and one does not hold any more.
        """
        if isinstance(each, AnchorPass) or (isinstance(each, DeferredPass) and not self._may_change(each)):
            return
        loaded = each.loaded() if isinstance(each, DeferredPass) else each
        changed = True
        if isinstance(loaded, ReportingPass):
            changed = loaded.run(self._module, self._analyses)
        else:
            loaded.apply(ctx, self._module)
        if changed:
            self._analyses.invalidate(dimensions=not (isinstance(loaded, ReportingPass) and loaded.KEEPS_DIMENSIONS))
            self._unchanged.clear()
        elif isinstance(each, DeferredPass):
            self._unchanged.add(each.name)
        if self._verifies:
            self._verify(loaded, changed)

    def _verify(self, each: ModulePass, changed: bool) -> None:
        from moir.analysis.stale_facts import StaleFact, check_facts
        from moir.rewriting.verification import failure_after

        try:
            check_facts(self._analyses)
        except StaleFact as stale:
            claim = "keeps dimensions" if changed else "changed nothing"
            raise failure_after(each.name, stale.operation, f"{stale.reason}; the pass says that it {claim}") from stale

    def _may_change(self, each: DeferredPass) -> bool:
        if each.name in self._unchanged:
            return False
        needs = PASS_KINDS.get(each.name)
        return needs is None or may_be_met(needs, self._analyses.kinds)
