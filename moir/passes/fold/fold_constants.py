"""`fold-constants`: operations on constants are evaluated and replaced by constants.

    %a = opset1.Constant() {value = #moir.data<tensor<2xi64>, [1, 2]>} : tensor<2xi64>
    %b = opset1.Add(%a, %a) : tensor<2xi64>
->  %b = opset1.Constant() {value = #moir.data<tensor<2xi64>, [2, 4]>} : tensor<2xi64>

Shape computations that start at ShapeOf stay, even where all dimensions are static, so that the IR can be reshaped
later; `fold-constants{static-shape=true}` folds them as well. Quantized weights stay quantized, and weights
that `compress-to-fp16` or another converter stored in half precision stay so.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.rewriting.folding import Folding
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True, eq=False)
class FoldConstantsPass(ReportingPass):
    """Evaluates operations on constants, in one forward walk over each block.

    Args:
        static_shape: whether ShapeOf is folded as well if the shape of its operand is static.
    """

    name = "fold-constants"

    static_shape: bool = False

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        folding = Folding(self.static_shape, analyses.folding_budget)
        changed = [folding.fold(operations) for _, operations in analyses.contents]
        return any(changed)
