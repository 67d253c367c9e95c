"""Variables, which are constants in a model for inference."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si32
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
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
