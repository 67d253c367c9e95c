"""`lower-mo`: operations that extensions made with Model Optimizer's API -> opset dialects and `extension`.

    %y = mo.Power(%x) {node_attributes = #moir.python<"{'scale': -1.0, …}">} : tensor<*x!moir.dynamic>
->  %y = opset1.Multiply(%x, -1.0) : tensor<1x8xf32>
    %z = mo.InceptionBlock(%x) {node_attributes = #moir.python<"{'type': 'InceptionBlock', …}", "infer">}
->  %z = extension.InceptionBlock(%x) {channels = "32"} : tensor<1x32x8x8xf32>

In the front phase they are lowered in the same walk as the operations of the framework, see `moir.lowering.driver`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import all_blocks
from moir.frameworks import FRAMEWORKS, MODEL_OPTIMIZER
from moir.lowering.driver import Lowering
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.lowering.node import run_in
from moir.support.module_pass import Pass


@dataclass(frozen=True)
class LowerMoPass(Pass):
    """Lowers the operations of the `mo` dialect.

    An operation without `type` and without built-in handler stays, with the types that its `infer` sets.
    """

    name = "lower-mo"

    framework: str = MODEL_OPTIMIZER.dialect
    """The framework of the model, which decides the layout: data of TensorFlow is channel-last."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        framework = FRAMEWORKS.get(self.framework, MODEL_OPTIMIZER)
        for block in all_blocks(op):
            Lowering(framework, dialects=(MODEL_OPTIMIZER,)).block(block)


def lower_node(node: GraphNode) -> bool:
    """Lower one node in the middle or back phase, as the `lower` of `session.edit`; returns whether it was replaced.

    Raises ConversionError, with the name of the node, if it cannot be lowered for a reason the user can change.
    """
    op = node.ir_operation
    if not isinstance(op, FrameworkOp) or op.parent is None:
        return False
    graph = node.graph
    graph.trim(op)
    if not run_in(graph).operation(op):
        return False
    graph.changed_operations.discard(op)
    graph.forget_operations()
    return True
