"""`choose-layouts`: transpositions move through other operations to where they cancel, or cost least.

    %1 = opset1.Transpose(%conv, [0, 2, 3, 1])
    %2 = opset1.Relu(%1)
    %3 = opset1.Transpose(%2, [0, 3, 1, 2])
    %4 = opset1.MaxPool(%3)
->  %2 = opset1.Relu(%conv)
    %4 = opset1.MaxPool(%2)

From each Transpose a region of operations grows that can work in either of two orders of dimensions (`regions`, by the
table in `permutations`); a minimum cut says which do (`assignment`), and they are rewritten (`application`). Inputs and
outputs of the model keep their layout.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.dialects.moir import all_blocks, models_of
from moir.dialects.opset.movement import Transpose
from moir.rewriting.layout.application import Application
from moir.rewriting.layout.assignment import assign
from moir.rewriting.layout.regions import Layouts

ROUNDS = 8
"""What was the border of a region can lie within one the next time."""


@dataclass(frozen=True)
class ChooseLayoutsPass(ModulePass):
    """Chooses the layout of every tensor."""

    name = "choose-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for _ in range(ROUNDS):
            if not any(isinstance(each, Transpose) for block in all_blocks(op) for each in block.ops):
                return
            layouts = Layouts(op)
            changed = assign(layouts)
            Application(layouts).run([model.block for model in models_of(op)])
            if not changed:
                return
