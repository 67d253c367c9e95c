"""Functions of single elements whose integer kernels and float kernels differ."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.tflite.fused_activation import rounding
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder


@tflite.lowers("LOG")
def log(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tflite.LOG(x) -> opset1.Log(x); where the result is rounded, opset1.Log(opset1.Maximum(x, 0))

    TensorFlow Lite looks up the logarithm of an integer in a table, which has the lowest number for 0 and negative
    numbers.
    """
    return op.Log(x if rounding(node) is None else op.Maximum(x, 0.0))
