"""Variables: constants in most models for inference, else values that are threaded through the operations that write
them.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si32
from moir.dialects.shapes import rank_of
from moir.expansions.functions import operation
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
def read_variable(resource: SSAValue) -> SSAValue:
    """tf.ReadVariableOp(variable) -> variable"""
    return resource


@tf.lowers("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(op: OpBuilder) -> SSAValue:
    """tf.VarIsInitializedOp(variable) -> true"""
    return op.constant(np.array(True))


@tf.lowers("VariableShape")
def variable_shape(op: OpBuilder, input: SSAValue, *, out_type: Attribute = si32) -> SSAValue:
    """tf.VariableShape(variable) {out_type} -> opset3.ShapeOf(variable) {output_type}"""
    return op.ShapeOf(input, output_type=out_type)


# Operations that write a variable; their result is its next value, operand 0 its present one.


@tf.lowers("Assign", "AssignVariableOp")
def assign(_variable: SSAValue, value: SSAValue) -> SSAValue:
    """tf.AssignVariableOp(variable, value) -> value"""
    return value


@tf.lowers("AssignAdd", "AssignAddVariableOp", "AssignSub", "AssignSubVariableOp")
def assign_step(node: LoweringNode, op: OpBuilder, variable: SSAValue, value: SSAValue) -> SSAValue:
    """tf.AssignAddVariableOp(variable, value) -> opset1.Add(variable, value); likewise AssignSubVariableOp"""
    return operation(op, node.op.KIND.removeprefix("Assign").removesuffix("VariableOp"))(variable, value)


_ROW_KINDS = {"Add": "sum", "Sub": "sub", "Mul": "prod", "Min": "min", "Max": "max", "Update": "none"}
_ROW_UPDATES = {f"{prefix}{kind}": reduction for prefix in ("Scatter", "ResourceScatter") for kind, reduction in _ROW_KINDS.items()}


@tf.lowers(*_ROW_UPDATES)
def update_rows(node: LoweringNode, op: OpBuilder, data: SSAValue, indices_: SSAValue, updates: SSAValue) -> SSAValue:
    """tf.ResourceScatterAdd(variable, indices, rows)
    -> opset15.ScatterNDUpdate(variable, opset1.Unsqueeze(indices, -1), rows) {reduction = sum}; likewise other
    reductions
    """
    indices = as_indices(op, indices_)
    if rank_of(updates) is None or (rank_of(updates) == 0 and rank_of(data) != 0):
        # A scalar update applies to all elements of the rows.
        updates = op.Broadcast(updates, op.Concat(op.ShapeOf(indices), op.Slice(op.ShapeOf(data), [1], [2**31 - 1], [1], [0]), axis=0))
    update = partial(op.ScatterNDUpdate, reduction=_ROW_UPDATES[node.op.KIND])
    return update(data, op.Unsqueeze(indices, [-1]), updates)
