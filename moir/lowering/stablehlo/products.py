"""Products over any dimensions, and convolutions in any layout.

    %y = stablehlo.dot_general(%a, %b) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}
->  %y = opset1.MatMul(%a, %b)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, f32, si8, si32, ui8
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.shape import result_element
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.convolution import convolved
from moir.lowering.xla.products import equation_of
from moir.rewriting.builder import OpBuilder

WIDENED = (boolean, si8, ui8)
"""Element types whose products are summed in 32 bits, because the runtime limits sums of 8 bits."""


def _matrix_product(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue | None:
    """A product that is one of matrices: one dimension of both summed over, batches in front; None for any other."""
    sides = [[list(node.integers(f"{side}_{what}_dimensions", ())) for what in ("batching", "contracting")] for side in ("lhs", "rhs")]
    ranks = [node.known_rank(0), node.known_rank(1)]
    batch = len(sides[0][0])
    if any(side[0] != list(range(batch)) or len(side[1]) != 1 for side in sides):
        return None
    places = [side[1][0] for side in sides]
    if batch == 0 and ranks[1] == 2 and ranks[0] >= 2 and places[0] == ranks[0] - 1:
        return op.MatMul(a, b, transpose_a=False, transpose_b=places[1] == 1)
    if batch == 0 and ranks == [2, 2]:
        return op.MatMul(a, b, transpose_a=places[0] == 0, transpose_b=places[1] == 1)
    if batch and ranks == [batch + 2, batch + 2]:
        return op.MatMul(a, b, transpose_a=places[0] == batch, transpose_b=places[1] == batch + 1)
    return None


@stablehlo.lowers("dot_general", "dot")
def dot_general(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """stablehlo.dot_general(a, b) {dimension numbers} -> opset1.MatMul(a, b), or opset7.Einsum(a, b) {equation}

    The result has the batch dimensions, then those of a that are not summed over, then those of b.
    """
    element = result_element(node)
    computed = si32 if element in WIDENED else element
    factors = [op.convert(each, computed) for each in (lhs, rhs)]
    found = _matrix_product(node, op, *factors)
    if found is None:
        equation = equation_of(node, [node.known_rank(0), node.known_rank(1)], ("batching", "contracting"))
        found = op.Einsum(*factors, equation=equation)
    return op.convert(found, element)


@stablehlo.lowers("convolution")
def convolution(
    node: LoweringNode,
    op: OpBuilder,
    lhs: SSAValue,
    rhs: SSAValue,
    *,
    input_spatial_dimensions: tuple[int, ...] = (),
    window_strides: tuple[int, ...] = (),
    padding: tuple[int, ...] = (),
    lhs_dilation: tuple[int, ...] = (),
    rhs_dilation: tuple[int, ...] = (),
    window_reversal: tuple[int, ...] = (),
    feature_group_count: int = 1,
) -> SSAValue:
    """stablehlo.convolution(x, w) {dimension numbers} -> Transpose(opset1.Convolution(Transpose(x), Transpose(w)))"""
    axes = len(input_spatial_dimensions)
    ones = (1,) * axes
    pads = padding or (0,) * 2 * axes
    if len(pads) != 2 * axes:
        node.fail(f"its padding has {len(pads)} entries for {axes} axes")
    window = SlidingWindow(window_strides or ones, rhs_dilation or ones, tuple(pads[::2]), tuple(pads[1::2]), "explicit")
    places = node.integers("kernel_spatial_dimensions", ())
    turned = [place for place, is_turned in zip(places, window_reversal, strict=False) if is_turned]
    if turned:
        count = len(turned)
        rhs = op.Slice(rhs, [-1] * count, [-(2**31)] * count, [-1] * count, turned)
    element = result_element(node)
    data, filters = (op.convert(each, element if element in REAL_TYPES else f32) for each in (lhs, rhs))
    return op.convert(convolved(node, op, data, filters, window, lhs_dilation or ones, feature_group_count), element)
