"""`eliminate-dead`: erases operations without uses and effects, and inputs of bodies that no operation there uses.

    %1 = opset1.Relu(%0)
    %2 = opset1.Exp(%0)
    opset1.Result(%2)
->  %2 = opset1.Exp(%0)
    opset1.Result(%2)
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.dialects.moir import models_of
from moir.rewriting.dead_code import eliminate_dead


@dataclass(frozen=True)
class EliminateDeadPass(ModulePass):
    """Erases dead operations in one backward walk. Inputs of the model itself stay."""

    name = "eliminate-dead"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for model in models_of(op):
            eliminate_dead(model.block)
