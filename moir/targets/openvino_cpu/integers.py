"""Functions of integers that the CPU plugin computes in f32, or of the bounds of sizes."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from moir.analysis.integral_bounds import integral_bounds
from moir.analysis.sources import is_computed_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class FunctionOfIntegers(Pattern):
    """Replaces functions of integers that the plugin computes in f32 by exact integer operations.

        %1 = opset1.Relu(%x)                                 // si32
    ->  %1 = opset1.Maximum(%x, 0)

    Floor and Ceiling of integers are replaced by their operand.
    """

    roots = ("opset1.Relu", "opset1.Floor", "opset1.Ceiling")

    def may_match(self, op: Operation) -> bool:
        return type(element_of(op.results[0])) is IntegerType

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x = op.operands[0]
        rewriter.replace_with(op, rewriter.op.Maximum(x, rewriter.op.constant_like(0, x)) if op.name == "opset1.Relu" else x)


class RemainderOfSizes(Pattern):
    """Computes remainders of sizes by operations that the runtime does not fold, without FloorMod.

        %1 = opset1.FloorMod(%size, %n)
    ->  %2 = opset1.Mod(%size, %n)
        %1 = opset1.Mod(opset1.Add(%2, %n), %n)

    Where neither number is negative, the first remainder is that of FloorMod.

    If the result is used as a size, the runtime replaces FloorMod of a dimension by a constant if the remainders of
    both bounds are equal, although sizes between the bounds have other remainders.
    """

    roots = ("opset1.FloorMod",)

    def may_match(self, op: Operation) -> bool:
        return type(element_of(op.results[0])) is IntegerType and is_computed_of(op.operands[0], "ShapeOf", _is_list, is_end=True)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (size, divisor) = rewriter.op, op.operands
        bounds = [integral_bounds(value) for value in (size, divisor)]
        remainder = build.Mod(size, divisor)
        if any(each is None or each[0] < 0 for each in bounds):
            remainder = build.Mod(build.Add(remainder, divisor), divisor)
        rewriter.replace_with(op, remainder)


def _is_list(op: OpsetOp) -> bool:
    """Whether the first result of an operation is a list or a scalar."""
    return bool(op.results) and rank_of(op.results[0]) in (0, 1)


FORMS = (
    Form("bound-integers", (FunctionOfIntegers,)),
    Form("compute-remainders", (RemainderOfSizes,)),
)
