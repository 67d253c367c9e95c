"""Elementwise functions of one operand."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.arithmetic import scaled
from moir.lowering.caffe.layer_parameters import LayerParameters, parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("AbsVal", "TanH")
def function(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """caffe.TanH(x) -> opset1.Tanh(x), and so on"""
    return operation(op, node.op.KIND)(x)


@caffe.lowers("Exp")
def exp(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """caffe.Exp(x) {base = -1, scale = 1, shift = 0} -> base ^ (shift + scale · x), where base = -1 means e"""
    parameter = parameters(node, "exp_param")
    exponent = scaled(op, x, parameter)
    logarithm = _logarithm_of_base(node, parameter)
    return op.Exp(exponent if logarithm == 1 else op.Multiply(exponent, logarithm))


@caffe.lowers("Log")
def log(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """caffe.Log(x) {base = -1, scale = 1, shift = 0} -> logarithm of shift + scale · x, where base = -1 means e"""
    parameter = parameters(node, "log_param")
    result = op.Log(scaled(op, x, parameter))
    logarithm = _logarithm_of_base(node, parameter)
    return result if logarithm == 1 else op.Multiply(result, 1 / logarithm)


def _logarithm_of_base(node: LoweringNode, parameter: LayerParameters) -> float:
    """The natural logarithm of the parameter `base`; 1 for -1, which means e. Raises ConversionError for any other base
    below or equal to 0.
    """
    base = parameter.number("base", -1.0)
    if base == -1:
        return 1.0
    if base <= 0:
        node.fail(f"the base {base} is not positive")
    return math.log(base)
