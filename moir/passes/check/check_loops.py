"""`check-loops`: verifies that what a loop collects has the same size in each iteration. Changes nothing.

    %y = opset5.Loop(%n, %c) ({
      %i = opset1.Parameter()                                 // the number of the iteration
      %r = opset4.Range(0, %i, 1)
      opset1.Result(opset1.Unsqueeze(%r, 0))
    }) {outputs = …, joined along 0, name = "loop"}
->  error: opset5.Loop 'loop': dimension 1 of what it collects as output 0 may change from iteration to iteration

A loop concatenates slices of one shape; the operation sets define no result for slices of other sizes. The lowerings of
frameworks whose arrays may have elements of different sizes let such a loop hand on a concatenation.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions
from moir.analysis.iteration_sizes import varying_axes
from moir.dialects.moir import all_blocks
from moir.dialects.names import name_of
from moir.dialects.opset.control_flow import Loop, RepeatingOp, TensorIterator
from moir.errors import UnsupportedOperationError
from moir.rewriting.reporting_pass import ReportingPass


class CheckLoopsPass(ReportingPass):
    """Raises UnsupportedOperationError for a loop that concatenates values of sizes that may vary."""

    name = "check-loops"

    ROOTS = (Loop, TensorIterator)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        known = Dimensions(static=True)
        for block in all_blocks(module):
            for op in block.ops:
                if isinstance(op, RepeatingOp):
                    _check(op, known)
        return False


def _check(op: RepeatingOp, known: Dimensions) -> None:
    for output, axes in varying_axes(op, known).items():
        listed = " and ".join(str(axis) for axis in axes)
        raise UnsupportedOperationError(
            f"dimension {listed} of what it collects as output {output} may change from iteration to iteration",
            operation=op.name,
            node=name_of(op),
            hint="give the inputs static shapes with --input, or the values of all iterations one shape",
        )
