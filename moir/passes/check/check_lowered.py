"""`check-lowered`: verifies that no operation of a framework dialect is left. Changes nothing.

    %y = onnx.com.example.HardTanh(%x) {name = "tanh"}
->  error: no lowering for 1 kind of operation: onnx.com.example.HardTanh ('tanh')

One error lists every remaining kind with its count and its first nodes. An operation that an extension built without a
`type` may stay if it has a function `infer`: a transformation of a later phase has to replace it.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.analysis.remaining_operations import remaining_operations
from moir.analysis.unlowered_operations import must_go, without_lowering
from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import all_blocks
from moir.rewriting.reporting_pass import ReportingPass


class CheckLoweredPass(ReportingPass):
    """Raises UnsupportedOperationError if operations of the framework are left."""

    name = "check-lowered"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if not any(issubclass(each, FrameworkOp) for each in analyses.classes):
            return False
        left = remaining_operations(module, must_go)
        if not left:
            return False
        first = next(each for block in all_blocks(module) for each in block.ops if must_go(each))
        raise without_lowering(left, first)
