"""`eliminate-dead`: erases operations without uses and effects, and inputs of bodies that no operation there uses.

    %1 = opset1.Relu(%0)
    %2 = opset1.Exp(%0)
    opset1.Result(%2)
->  %2 = opset1.Exp(%0)
    opset1.Result(%2)
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.dialects.moir import models_of
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.reporting_pass import ReportingPass


class EliminateDeadPass(ReportingPass):
    """Erases dead operations in one backward walk. Inputs of the model itself stay."""

    name = "eliminate-dead"

    KEEPS_DIMENSIONS = True
    DEPENDS_ON_PROPERTIES = False

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = [eliminate_dead(model.block) for model in models_of(module)]
        return any(changed)
