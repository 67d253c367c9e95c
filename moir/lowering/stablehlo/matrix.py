"""Products over any dimensions.

    %y = stablehlo.dot_general(%a, %b) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}
->  %y = opset1.MatMul(%a, %b)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32
from moir.expansions.linear_algebra.einstein_sums import einstein_sum
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.shape import result_element
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.products import equation_of
from moir.rewriting.builder import OpBuilder


def _matrix_product(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue | None:
    """A MatMul, for products that sum over one dimension and whose batch dimensions come first; None for other
    products.
    """
    sides = [[list(node.integers(f"{side}_{what}_dimensions", ())) for what in ("batching", "contracting")] for side in ("lhs", "rhs")]
    ranks = [node.known_rank(0), node.known_rank(1)]
    batch = len(sides[0][0])
    if any(side[0] != list(range(batch)) or len(side[1]) != 1 for side in sides):
        return None
    axes = [side[1][0] for side in sides]
    if batch == 0 and ranks[1] == 2 and ranks[0] >= 2 and axes[0] == ranks[0] - 1:
        return op.MatMul(a, b, transpose_a=False, transpose_b=axes[1] == 1)
    if batch == 0 and ranks == [2, 2]:
        return op.MatMul(a, b, transpose_a=axes[0] == 0, transpose_b=axes[1] == 1)
    if batch and ranks == [batch + 2, batch + 2]:
        return op.MatMul(a, b, transpose_a=axes[0] == batch, transpose_b=axes[1] == batch + 1)
    return None


@stablehlo.lowers("dot_general", "dot")
def dot_general(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """stablehlo.dot_general(a, b) {dimension numbers} -> opset1.MatMul(a, b), or opset7.Einsum(a, b) {equation}

    The result has the batch dimensions, then those of a that are not summed over, then those of b.
    """
    element = result_element(node)
    # Booleans are multiplied as 0 and 1.
    computed = si32 if element is boolean else element
    factors = [op.convert(each, computed) for each in (lhs, rhs)]
    product = _matrix_product(node, op, *factors)
    if product is None:
        equation = equation_of(node, [node.known_rank(0), node.known_rank(1)], ("batching", "contracting"))
        product = op.Einsum(*factors, equation=equation)
    return op.convert(product, element)


@stablehlo.lowers("einsum")
def einsum(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue, *, einsum_config: str) -> SSAValue:
    """stablehlo.einsum(a, b) {einsum_config = "ij,jk->ik"} -> opset7.Einsum(a, b) {equation}"""
    return op.convert(einstein_sum(op, einsum_config, lhs, rhs), result_element(node))


@stablehlo.lowers("unary_einsum")
def unary_einsum(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, einsum_config: str) -> SSAValue:
    """stablehlo.unary_einsum(a) {einsum_config = "ij->i"} -> opset7.Einsum(a) {equation}"""
    return op.convert(einstein_sum(op, einsum_config, operand), result_element(node))
