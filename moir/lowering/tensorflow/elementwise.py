"""Elementwise functions of one operand.

    %y = tf.Log1p(%x)
->  %0 = opset1.Add(%x, 1.0)
    %y = opset1.Log(%0)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.shapes import element_of
from moir.expansions.formulas import FORMULAS
from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_SAME_MEANING = "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Floor Invert Log Neg Sign Sin Sinh Sqrt Tan Tanh"
_FORMULAS = "Erfc Erfinv Expm1 Inv Log1p Ndtri Reciprocal Rsqrt Square"


@tf.lowers(*_SAME_MEANING.split())
def renamed(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Ceil(x) -> opset1.Ceiling(x)"""
    return operation(op, node.op.KIND)(x)


@tf.lowers(*_FORMULAS.split())
def formula(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Log1p(x) -> opset1.Log(opset1.Add(x, 1)), and others of `moir.expansions.formulas`"""
    return FORMULAS[node.op.KIND.lower()](op, x)


@tf.lowers("Round", "Rint")
def rounded(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Round(x) -> opset5.Round(x) {mode = "half_to_even"}; x itself for integers"""
    return x if element_of(x) in INTEGER_TYPES else op.Round(x, mode="half_to_even")
