"""Products of XLA over any dimensions.

    %y = tf.XlaDotV2(%a, %b) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}
->  %y = opset7.Einsum(%a, %b) {equation = "ab,bc->ac"}

Which dimension is what, the frontend reads from the attribute `dimension_numbers`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import boolean, si8, si32, ui8
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.lowering.xla.products import equation_of
from moir.rewriting.builder import OpBuilder

WIDENED = (boolean, si8, ui8)
"""Element types whose products are summed in 32 bits, because the runtime limits sums of 8 bits."""


def result_element(node: LoweringNode) -> Attribute:
    """The element type of a product: `preferred_element_type`, or that of the operands."""
    element = node.element_attribute("preferred_element_type", node.element(0))
    if isinstance(element, ComplexType):
        node.fail("products of complex numbers are not supported", hint="export the model with enable_xla=False")
    return element


@tf.lowers("XlaDot", "XlaDotV2")
def product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.XlaDotV2(a, b) {dimension numbers} -> opset7.Einsum(a, b) {equation}

    The result has the batch dimensions, then those of a that are not summed over, then those of b.
    """
    element = result_element(node)
    factors = [op.convert(node.operand(index), si32 if element in WIDENED else element) for index in (0, 1)]
    equation = equation_of(node, [node.known_rank(0), node.known_rank(1)])
    return op.convert(op.Einsum(*factors, equation=equation), element)
