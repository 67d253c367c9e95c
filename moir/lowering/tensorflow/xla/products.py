"""Dot products of XLA, which contract any dimensions.

    %y = tf.XlaDotV2(%a, %b) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}
->  %y = opset7.Einsum(%a, %b) {equation = "ab,bc->ac"}

The frontend has decoded the attribute `dimension_numbers` into the roles of the dimensions.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import boolean, si32
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.lowering.xla.products import equation_of
from moir.rewriting.builder import OpBuilder


def result_element(node: LoweringNode) -> Attribute:
    """The element type of a product: `preferred_element_type`, or that of the operands.

    Raises ConversionError for complex numbers.
    """
    element = node.element_attribute("preferred_element_type", node.element(0))
    if isinstance(element, ComplexType):
        node.fail("products of complex numbers are not supported", hint="export the model with enable_xla=False")
    return element


@tf.lowers("XlaDot", "XlaDotV2")
def product(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """tf.XlaDotV2(a, b) {dimension numbers} -> opset7.Einsum(a, b) {equation}

    The dimensions of the result are the batch dimensions, then the other uncontracted ones of a, then those of b.
    """
    element = result_element(node)
    # Products of truth values are those of 0 and 1.
    factors = [op.convert(each, si32 if element is boolean else element) for each in (lhs, rhs)]
    equation = equation_of(node, [node.known_rank(0), node.known_rank(1)])
    return op.convert(op.Einsum(*factors, equation=equation), element)
