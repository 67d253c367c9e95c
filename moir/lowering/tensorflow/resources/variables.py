"""Variables: constants in most models for inference, values that are threaded through those that write them."""

from __future__ import annotations

from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si32
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.indexing import as_indices
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("VarHandleOp", "VariableV2", "Variable")
def variable(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.VarHandleOp() {value} -> opset1.Constant() {value}"""
    value = node.op.properties.get("value")
    if not isinstance(value, DataAttr):
        node.fail(
            "the variable has no value",
            hint="give the checkpoint the model belongs to (--checkpoint), or freeze the model",
        )
    return op.constant(value.array, value.element)


@tf.lowers("ReadVariableOp")
def read_variable(node: LoweringNode, _: OpBuilder) -> SSAValue:
    """tf.ReadVariableOp(variable) -> variable"""
    return node.operand(0)


@tf.lowers("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(_: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.VarIsInitializedOp(variable) -> true"""
    return op.constant(np.array(True))


@tf.lowers("VariableShape")
def variable_shape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.VariableShape(variable) {out_type} -> opset3.ShapeOf(variable) {output_type}"""
    return op.ShapeOf(node.operand(0), output_type=node.element_attribute("out_type", si32))


# Writes, whose result is the next value. Operand 0 is the value before it.


@tf.lowers("Assign", "AssignVariableOp")
def assign(node: LoweringNode, _: OpBuilder) -> SSAValue:
    """tf.AssignVariableOp(variable, value) -> value"""
    return node.operand(1)


_STEPS = {"AssignAdd": "Add", "AssignAddVariableOp": "Add", "AssignSub": "Subtract", "AssignSubVariableOp": "Subtract"}


@tf.lowers(*_STEPS)
def assign_step(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.AssignAddVariableOp(variable, value) -> opset1.Add(variable, value)"""
    return getattr(op, _STEPS[node.op.KIND])(node.operand(0), node.operand(1))


_ROW_KINDS = {"Add": "sum", "Sub": "sub", "Mul": "prod", "Min": "min", "Max": "max", "Update": "none"}
_ROW_UPDATES = {f"{prefix}{kind}": reduction for prefix in ("Scatter", "ResourceScatter") for kind, reduction in _ROW_KINDS.items()}


@tf.lowers(*_ROW_UPDATES)
def update_rows(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.ResourceScatterAdd(variable, indices, rows)
    -> opset15.ScatterNDUpdate(variable, opset1.Unsqueeze(indices, -1), rows) {reduction = sum}
    """
    data, updates = node.operand(0), node.operand(2)
    indices = as_indices(op, node.operand(1))
    if rank_of(updates) is None or (rank_of(updates) == 0 and node.rank(0) != 0):
        # A scalar stands for all elements of the rows.
        updates = op.Broadcast(updates, op.Concat(op.ShapeOf(indices), op.Slice(op.ShapeOf(data), [1], [2**31 - 1], [1], [0]), axis=0))
    update = partial(op.ScatterNDUpdate, reduction=_ROW_UPDATES[node.op.KIND])
    return update(data, op.Unsqueeze(indices, [-1]), updates)
