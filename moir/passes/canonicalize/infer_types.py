"""`infer-types`: infers the result types of all operations from the types of Parameters and from known values.

    %r = opset1.Relu(%x) : tensor<*x!moir.dynamic>
->  %r = opset1.Relu(%x) : tensor<1x8xf32>
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.inference import infer_block
from moir.dialects.moir import models_of
from moir.rewriting.reporting_pass import ReportingPass


class InferTypesPass(ReportingPass):
    """Infers types in one walk over each block; a body is inferred together with its operation."""

    name = "infer-types"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module):
            infer_block(model.block, KnownValues())
        return True
