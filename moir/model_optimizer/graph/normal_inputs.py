"""The inputs that nodes had in Model Optimizer: attributes of older operation sets as inputs, and their order.

    %y = onnx.Sqrt(%x)                     ->  %y = onnx.Pow(%x, %half)             asked for as Pow
    %y = onnx.Slice(%x) {starts, ends}     ->  %y = onnx.Slice(%x, %starts, %ends)  asked for as Slice
    %y = onnx.ReduceMean(%x) {axes = [1]}  ->  %y = onnx.ReduceMean(%x, %axes)      whose input 1 is asked for

An extension that asks for nodes by the name of the normal form expects the inputs of that form. Nodes that are asked
for by another name (`AttributedSlice`, `Sqrt`), or not at all, are unchanged. If both forms have the same name, the
inputs are added when an extension asks for the source of such an input, or has it in a pattern.

After the front phase, nodes that are asked for as Slice have the order of ONNX, whereas opset8.Slice has the steps
before the axes; nodes that are asked for by their type are unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from moir.dialects.framework import NEWEST_VERSION, FrameworkOp, operation_class
from moir.dialects.opset.slicing import Slice
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.recasting import recast
from moir.model_optimizer.block.sentinels import DISCONNECTED
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.frameworks.lookup import view_of_operation
from moir.model_optimizer.graph.creation import create_operation


def normalise(graph: BlockView, op: Operation, name: str | None = None) -> bool:
    """Give an operation of a framework the inputs of its normal form; returns whether it changed.

    Args:
        graph: the graph, in the front phase.
        op: the operation.
        name: the name by which it is asked for, which is that of the normal form; None if its inputs are asked for.
    """
    if not isinstance(op, FrameworkOp):
        return False
    view = view_of_operation(op)
    if name == "Pow" and op.KIND in view.powers:
        dialect = op.name.partition(".")[0]
        _connect(graph, op, {1: np.float32(view.powers[op.KIND])})
        recast(op, operation_class(dialect, "Pow"))
        graph.operand_counts.pop(op, None)
        graph.forget_operations()
        return True
    normal = view.normal_inputs.get(op.KIND)
    if normal is None or (name is not None and not (normal.name == name and normal.is_distinct)) or (values := normal.values(op)) is None:
        return False
    # The attributes of the extractor stay readable.
    kept = {key: value for key, value in OperationAttributes(graph, op).items() if key in ("axis", "squeeze_dims", "k")}
    _connect(graph, op, dict(enumerate(values, 1)))
    for attribute in normal.properties:
        op.properties.pop(attribute, None)
    for key, value in kept.items():
        if not (key == "axis" and "axis" in op.properties):
            OperationAttributes(graph, op).set_hidden(key, value)
    op.attributes[NEWEST_VERSION] = UnitAttr()
    graph.operand_counts.pop(op, None)
    graph.forget_operations()
    return True


def restore_slice(graph: BlockView, op: Operation) -> None:
    """Turn a slice of the operation set into Model Optimizer's.

    %y = opset8.Slice(%x, %start, %stop, %step, %axes)  ->  %y = mo.Slice(%x, %start, %stop, %axes, %step)
    """
    if not isinstance(op, Slice):
        return
    data, start, stop, step, *axes = op.operands
    OperationAttributes(graph, op).make_mo_operation({"op": "Slice", "type": None, "version": "experimental"})
    op.operands = [data, start, stop, *(axes or [graph.sentinel(DISCONNECTED)]), step]


def _connect(graph: BlockView, op: Operation, values: Mapping[int, Any]) -> None:
    for number, value in values.items():
        constant = create_operation(graph, {"op": "Const", "name": f"{graph.id_of(op)}/input_{number}", "value": value})
        graph.set_operand(op, number, constant.results[0])
