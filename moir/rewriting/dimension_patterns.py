"""Patterns that ask for the dimensions of values, and passes that apply them.

class UnitTranspose(DimensionsPattern):
    roots = (Transpose,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        if self.known.tokens(op.results[0]) == …

class ReshapeUnitTransposesPass(DimensionsPass):
    name = "reshape-unit-transposes"
    ROOTS = (Transpose,)
    PATTERNS = (UnitTranspose,)
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions
from moir.rewriting.driver import Pattern, rewrite
from moir.rewriting.reporting_pass import ReportingPass


class DimensionsPattern(Pattern):
    """A pattern that asks for dimensions.

    Args:
        known: the dimensions of the values of the module.
    """

    def __init__(self, known: Dimensions) -> None:
        self.known = known


class DimensionsPass(ReportingPass):
    """A pass that applies patterns, some of which ask for dimensions."""

    PATTERNS: ClassVar[tuple[type[Pattern] | Pattern, ...]]
    """The patterns, in order: fusion rules, and classes that are made without arguments or from the dimensions."""

    STATIC: ClassVar[bool] = False
    """The argument `static` of `Analyses.dimensions`."""

    FIXPOINT: ClassVar[bool] = False

    def may_match(self, analyses: Analyses) -> bool:
        """A cheap check on a module: only if it returns true, the dimensions are analyzed and the patterns tried."""
        return True

    def needs_dimensions(self, analyses: Analyses) -> bool:
        """A cheap check on a module: only if it returns true, the dimensions are analyzed for the patterns that ask for
        them.
        """
        return True

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if not self.may_match(analyses):
            return False
        known = analyses.dimensions(static=self.STATIC) if self.needs_dimensions(analyses) else None
        patterns: list[Pattern] = []
        for each in self.PATTERNS:
            if isinstance(each, Pattern):
                patterns.append(each)
            elif not issubclass(each, DimensionsPattern):
                patterns.append(each())
            elif known is not None:
                patterns.append(each(known))
        return rewrite(module, patterns, fixpoint=self.FIXPOINT, known=known, analyses=analyses)
