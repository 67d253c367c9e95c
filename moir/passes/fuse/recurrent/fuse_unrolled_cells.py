"""`fuse-unrolled-cells`: unrolled recurrent cells, one for each step of a sequence, become one operation.

    %x0, %x1 = opset1.Split(%x, 1) {num_splits = 2}
    %h1, %c1 = { LSTM of %x0, %h0, %c0 }
    %h2, %c2 = { LSTM of %x1, %h1, %c1 }
    %y = opset1.Concat(%h1, %h2) {axis = 1}
->  %y, %h2, %c2 = opset5.LSTMSequence(%x, %h0, %c0, %lengths, W, R, B) {direction = "forward", hidden_size = 32}

`unrolled_cells` finds the steps. The cell states between steps must have no other uses, and the data of a step must not
depend on earlier steps, as they do in a decoder. A Concat of corresponding values of all steps, in their order, becomes
the sequence: hidden states of one direction, of both directions, or their sums.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects.opset.matrix import MatMul
from moir.rewriting.reporting_pass import ReportingPass


class FuseUnrolledCellsPass(ReportingPass):
    """Fuses recurrent cells that are unrolled into one copy per step."""

    name = "fuse-unrolled-cells"

    ROOTS = (MatMul,)
    COMPANIONS = (("opset1.Relu", "opset1.Sigmoid", "opset1.Tanh"),)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for block, operations in analyses.contents:
            if _repeats_weights(operations):
                from moir.passes.fuse.recurrent.cell_sequences import fuse_unrolled_cells

                changed |= fuse_unrolled_cells(block, operations, analyses.known_values)
        return changed


def _repeats_weights(operations: Iterable[Operation]) -> bool:
    """Whether two matrix products have the same second operand, as the products of unrolled steps do."""
    seen: set[SSAValue] = set()
    for op in operations:
        if isinstance(op, MatMul):
            if op.operands[1] in seen:
                return True
            seen.add(op.operands[1])
    return False
