"""`infer-types`: result types of all operations, from the types of Parameters and the values that are known.

    %r = opset1.Relu(%x) : tensor<*x!moir.dynamic>
->  %r = opset1.Relu(%x) : tensor<1x8xf32>
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.analysis.known_values import KnownValues
from moir.dialects.inference import infer_block
from moir.dialects.moir import models_of


@dataclass(frozen=True)
class InferTypesPass(ModulePass):
    """Infers in one walk over each block; bodies are inferred with the operation they belong to."""

    name = "infer-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for model in models_of(op):
            infer_block(model.block, KnownValues())
