"""`eliminate-dead`: operations without uses and without effects are erased, and inputs of bodies that nothing in the body reads.

    %1 = opset1.Relu(%0) : tensor<1x8xf32>      // erased: nothing uses %1
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import models_of
from moir.dialects.opset.condition import drop_unused_inputs


@dataclass(frozen=True)
class EliminateDeadPass(ModulePass):
    """Erases dead operations in one backward walk. Inputs of the model itself stay."""

    name = "eliminate-dead"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for model in models_of(op):
            eliminate_dead(model.block)


def eliminate_dead(block: Block) -> None:
    """Erase the dead operations of a block and of the bodies in it."""
    current = block.last_op
    while current is not None:
        # Erasing an operation can leave those before it without uses: they are visited later in this walk.
        before = current.prev_op
        if (current.has_trait(Pure) or isinstance(current, FrameworkOp)) and not any(result.uses for result in current.results):
            current.detach()
            current.erase()
        elif current.regions:
            for region in current.regions:
                for body in region.blocks:
                    eliminate_dead(body)
            drop_unused_inputs(current)
        current = before
