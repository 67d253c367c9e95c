"""Variables: in a model for inference they are constants."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si32
from moir.passes.building import OpBuilder
from moir.passes.lower_tf.table import tf
from moir.passes.lowering import Node, Replacement


@tf.lowers("VarHandleOp", "VariableV2", "Variable")
def variable(node: Node, op: OpBuilder) -> Replacement:
    """tf.VarHandleOp() {value} -> opset1.Constant() {value}"""
    value = node.op.properties.get("value")
    if not isinstance(value, DataAttr):
        node.fail(
            "the variable has no value",
            hint="give the checkpoint the model belongs to (--checkpoint), or freeze the model",
        )
    return op.constant(value.array, value.element)


@tf.lowers("ReadVariableOp")
def read_variable(node: Node, _: OpBuilder) -> SSAValue:
    """tf.ReadVariableOp(variable) -> variable"""
    return node.operand(0)


@tf.lowers("VarIsInitializedOp", "IsVariableInitialized")
def is_initialized(_: Node, op: OpBuilder) -> SSAValue:
    """tf.VarIsInitializedOp(variable) -> true"""
    return op.constant(np.array(True))


@tf.lowers("VariableShape")
def variable_shape(node: Node, op: OpBuilder) -> SSAValue:
    """tf.VariableShape(variable) {out_type} -> opset3.ShapeOf(variable) {output_type}"""
    return op.ShapeOf(node.operand(0), output_type=node.element_attribute("out_type", si32))
