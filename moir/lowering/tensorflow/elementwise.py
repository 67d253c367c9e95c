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
from moir.lowering.complex.kinds import PAIRS, by_function
from moir.lowering.ranks import as_result
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_FUNCTIONS = "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Log Sign Sin Sinh Sqrt Tan Tanh"
_FORMULAS = "Expm1 Inv Log1p Reciprocal Rsqrt Square"


@tf.lowers("Abs", "Ceil", "Erf", "Floor", "Invert", rank=as_result)
@tf.lowers("Neg", rank=as_result, complex=PAIRS)
@tf.lowers(*_FUNCTIONS.split(), rank=as_result, complex=by_function())
def renamed(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Ceil(x) -> opset1.Ceiling(x); likewise the other functions that the operation sets have"""
    return operation(op, node.op.KIND)(x)


@tf.lowers("Erfc", "Erfinv", "Ndtri", rank=as_result)
@tf.lowers(*_FORMULAS.split(), rank=as_result, complex=by_function())
def formula(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Log1p(x) -> opset1.Log(opset1.Add(x, 1)); likewise the other functions, by `moir.expansions.formulas`"""
    return FORMULAS[node.op.KIND.lower()](op, x)


@tf.lowers("Round", "Rint", rank=as_result)
def rounded(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Round(x) -> opset5.Round(x) {mode = "half_to_even"}; x itself for integers; likewise Rint"""
    return x if element_of(x) in INTEGER_TYPES else op.Round(x, mode="half_to_even")
