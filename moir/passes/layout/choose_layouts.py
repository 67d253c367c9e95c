"""`choose-layouts`: transpositions move through other operations to where they cancel or cost least.

    %1 = opset1.Transpose(%conv, [0, 2, 3, 1])
    %2 = opset1.Relu(%1)
    %3 = opset1.Transpose(%2, [0, 3, 1, 2])
    %4 = opset1.MaxPool(%3)
->  %2 = opset1.Relu(%conv)
    %4 = opset1.MaxPool(%2)

From each Transpose grows a region of operations that can compute in either of two layouts (`regions`, by the table in
`permutations`). A minimum cut selects the operations whose layout changes (`assignment`), and these are rewritten
(`application`). Inputs and outputs of the model keep their layout.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.dialects.moir import models_of
from moir.dialects.opset.movement import Transpose
from moir.passes.layout.application import Application
from moir.passes.layout.assignment import assign
from moir.passes.layout.regions import Layouts
from moir.rewriting.events import is_exhausted
from moir.rewriting.reporting_pass import ReportingPass

ROUNDS = 8
"""Most repetitions of the pass: the boundary of one region can lie within a region of the next round."""


class ChooseLayoutsPass(ReportingPass):
    """Moves transpositions through other operations to where they cancel or cost least."""

    name = "choose-layouts"

    ROOTS = (Transpose,)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for _ in range(ROUNDS):
            if next(analyses.operations(Transpose), None) is None:
                break
            layouts = Layouts(analyses)
            changed = assign(layouts)
            Application(layouts).run([model.block for model in models_of(module)])
            analyses = Analyses(module)
            if not changed or is_exhausted():
                break
        return True
