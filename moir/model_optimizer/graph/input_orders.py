"""The order of inputs on Model Optimizer's nodes, where it differs from the framework's.

    %y:2 = tf.Split(%axis, %x) {num_split = 2}  ->  %y:2 = mo.Split(%x, %axis) {node_attributes = {num_splits: 2, …}}

Transformations of the front phase see the order of Model Optimizer. Nodes that none of them changed get the
framework's order back at the end of the phase, see `framework_forms`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from moir.dialects.framework import FrameworkOp
from moir.model_optimizer.attributes.hidden_attributes import DESCRIBED_KIND
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.operation_names import class_names, class_type, is_mo_operation
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.frameworks.lookup import original_of, view_of

INPUT_PORT = "input_port"
"""The attribute by which an extractor says which input of a Split is the data, an index in the framework's order of
inputs.
"""


def order_of(op: Operation) -> Sequence[int] | None:
    """For each input of a node in Model Optimizer, the index of the framework's operand; None if the order is the
    same.
    """
    dialect, kind = original_of(op)
    order = view_of(dialect).input_orders.get(kind)
    return order if order is not None and len(order) == len(op.operands) else None


def order_inputs(graph: BlockView) -> None:
    """Give the nodes of a graph the order of inputs that they had in Model Optimizer."""
    for op in nodes_of(graph.block):
        order = order_of(op) if isinstance(op, FrameworkOp) else None
        if order is None:
            continue
        attributes = OperationAttributes(graph, op)
        if is_mo_operation(op):
            # An extractor of the user describes the node: the data is at the port that it gives, by default the first.
            if attributes.get(INPUT_PORT) != order[0]:
                continue
            del attributes[INPUT_PORT]
        else:
            name = class_names(type(op))[0]
            attributes.make_mo_operation({"op": name, "type": class_type(type(op)), "version": "opset1"})
            attributes.set_hidden(DESCRIBED_KIND, name)
        op.operands = [op.operands[index] for index in order]
        graph.touch(op)
