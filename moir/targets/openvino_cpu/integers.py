"""Functions of integers that the CPU plugin computes in f32, or of the bounds of sizes; integers of sizes in f64."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.integral_bounds import integral_bounds
from moir.analysis.sources import is_computed_of
from moir.dialects.data import Array
from moir.dialects.element_types import INTEGER_TYPES, f64, si32
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

SIZES = 1 << 16
"""Sizes below this one are looked up."""

LONGEST_COMPUTATION = 32
"""The greatest number of operations that are followed from an integer to the size."""


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


class IntegersOfSizes(Pattern):
    """Looks up an integer that is computed from a size in f64.

        %1 = opset1.Multiply(opset1.Convert(%n), 0.1)                    // %n: si64, a scalar; f64
        %2 = opset1.Convert(opset1.Ceiling(opset1.Divide(%1, 0.1))) {destination_type = si64}
    ->  %3 = opset8.Gather([0, 1, 2, 4, …], opset1.Minimum(opset1.Maximum(%n, 0), 65535), 0)
        %2 = opset1.Select(opset1.Equal(%n, opset1.Minimum(…)), %3, %2)

    The plugin computes f64 in f32, in which 3 · 0.1 / 0.1 is 3 and not a little more. A computation that f32 does
    exactly for all these sizes is kept, and so is that of other sizes.
    """

    roots = (Convert,)

    def may_match(self, op: Operation) -> bool:
        return (
            element_of(op.operands[0]) == f64
            and element_of(op.results[0]) in INTEGER_TYPES
            and _is_single(op.results[0])
            and not any(use.index == 2 and use.operation.name == "opset1.Select" for use in op.results[0].uses)
        )

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        found = _computation(op.operands[0])
        if found is None:
            return
        size, operations = found
        table = _table(size, operations, op.operands[0])
        if table is None:
            return
        build, element = rewriter.op, element_of(op.results[0])
        place = build.Minimum(build.Maximum(size, 0), SIZES - 1)
        value = build.convert(build.Gather(build.constant(table, si32), place, 0), element)
        other = build.convert(op.operands[0], element)
        rewriter.replace_with(op, build.Select(build.Equal(place, size), value, other))


def _is_single(value: SSAValue) -> bool:
    return element_count(shape_of(value)) == 1


def _computation(result: SSAValue) -> tuple[SSAValue, list[OpsetOp]] | None:
    """The integer that a number of type f64 is computed from, and the operations that compute it, in order.

    None unless it is computed from one integer and constants, element by element.
    """
    sizes, operations, pending = dict[SSAValue, None](), list[OpsetOp](), [result]
    while pending:
        op = pending.pop().owner
        if not isinstance(op, OpsetOp) or len(operations) > LONGEST_COMPUTATION or not all(map(_is_single, (*op.operands, *op.results))):
            return None
        if constant_of(op.results[0]) is not None:
            continue
        if isinstance(op, Convert):
            if element_of(op.operands[0]) not in INTEGER_TYPES:
                return None
            sizes[op.operands[0]] = None
        elif element_of(op.results[0]) != f64 or not (op.POINTWISE or op.BROADCASTS):
            return None
        else:
            pending += op.operands
        if op in operations:
            operations.remove(op)
        operations.append(op)
    return (next(iter(sizes)), operations[::-1]) if len(sizes) == 1 else None


def _table(size: SSAValue, operations: list[OpsetOp], result: SSAValue) -> Array | None:
    """The integers for all sizes; None if f32 computes them exactly, too, or they cannot be computed."""
    values: dict[SSAValue, Array] = {size: np.arange(SIZES)}
    is_exact = True
    with np.errstate(all="ignore"):
        for op in operations:
            operands: list[Array] = []
            for each in op.operands:
                known = values.get(each, constant_of(each))
                if known is None:
                    return None
                operands.append(known.reshape(-1))
                # The plugin multiplies by the reciprocal of a constant divisor.
                is_exact &= _fits(1 / known if op.KIND == "Divide" and each not in values and each is op.operands[1] else known)
            found = op.evaluate(*operands)
            if found is None:
                return None
            values[op.results[0]] = np.asarray(found[0])
            is_exact &= _fits(values[op.results[0]])
        numbers = values[result]
        limits = np.iinfo(np.int32)
        known = np.isfinite(numbers) & (numbers >= limits.min) & (numbers <= limits.max)
    return None if is_exact else np.where(known, numbers, 0).astype(np.int32)


def _fits(numbers: Array) -> bool:
    """Whether f32 holds numbers exactly."""
    return bool(np.array_equal(numbers.astype(np.float32).astype(np.float64), numbers.astype(np.float64), equal_nan=True))


FORMS = (
    Form("look-up-sizes", (IntegersOfSizes,)),
    Form("bound-integers", (FunctionOfIntegers,)),
    Form("compute-remainders", (RemainderOfSizes,)),
)
