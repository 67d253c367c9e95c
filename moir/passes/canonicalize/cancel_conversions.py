"""`cancel-conversions`: conversions to integers and back are removed if the numbers are integers already, and those of
truth values to numbers if they are compared with 0 or 1.

    %1 = opset1.Clamp(opset5.Round(%0)) {min = 0.0, max = 255.0}
    %2 = opset1.Convert(%1) {destination_type = u8}
    %3 = opset1.Convert(%2) {destination_type = f32}
->  %3 = %1

    %1 = opset1.Convert(%0) {destination_type = f32}      // %0: truth values
    %2 = opset1.NotEqual(%1, 0.0)
    %3 = opset1.Less(%1, 1.0)
->  %2 = %0
    %3 = opset1.LogicalNot(%0)

Networks that quantize while they run (`DynamicQuantizeLinear`, `MatMulInteger`) convert each value twice. Beyond 2²⁴,
where sums may be rounded in floats, this holds only for numbers up to half of the largest one of the integer type.
Truth values of masks are often converted to numbers and compared with 0, as flax does.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.index_ranges import number_of
from moir.analysis.integral_bounds import integral_bounds
from moir.dialects.element_types import boolean, f32, f64
from moir.dialects.opset.comparison import ComparisonOp
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.bounds import integer_limits
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, PatternPass, Rewriter
from moir.rewriting.rules import FusionRule, Match

EXACT = 1 << 24
"""Integers up to this number have no rounding error in f32."""


def without_conversions(_op: OpBuilder, match: Match) -> SSAValue | None:
    """The float that is converted to integers and back; None unless all are known to be integers in the range."""
    value, (back, there) = match["x"], match.operations
    limits, bounds = integer_limits(element_of(there.results[0])), integral_bounds(value)
    if element_of(back.results[0]) not in (f32, f64) or limits is None or bounds is None:
        return None
    share = 1 if max(map(abs, bounds)) <= EXACT else 0.5
    return value if limits[0] * share <= bounds[0] and bounds[1] <= limits[1] * share else None


INTEGERS_ANYWAY = FusionRule(
    name="IntegersAnyway",
    pattern=lambda op, x: op.Convert(op.Convert(x)),
    rewrite=without_conversions,
    shared=True,
)
"""Removes the conversion of a float to integers and back, if all elements are known to be integers in the range of the
type.
"""


class TruthAnyway(Pattern):
    """Replaces a comparison of a boolean, also one converted to numbers, with a constant by the boolean or its
    negation.
    """

    roots = (ComparisonOp,)

    def may_start_at(self, operation: type[Operation]) -> bool:
        return issubclass(operation, ComparisonOp)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.operands[0]) == boolean or any(isinstance(operand.owner, Convert) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ComparisonOp)
        for index, (numbers, limit) in enumerate((op.operands, reversed(op.operands))):
            truth = numbers.owner.operands[0] if isinstance(numbers.owner, Convert) else numbers
            number = number_of(limit)
            if number is None or element_of(truth) != boolean or (rank_of(limit) or 0) > (rank_of(truth) or 0):
                continue
            pairs = [(each, number) if index == 0 else (number, each) for each in (0, 1)]
            false, true = (bool(op.FUNCTION(*pair)) for pair in pairs)
            if false != true:
                rewriter.replace_with(op, truth if true else rewriter.op.LogicalNot(truth))
                return


class CancelConversionsPass(PatternPass):
    """Removes conversions of integers to integers and back, and comparisons of converted booleans."""

    name = "cancel-conversions"

    KEEPS_DIMENSIONS = True

    PATTERNS = (INTEGERS_ANYWAY, TruthAnyway)
