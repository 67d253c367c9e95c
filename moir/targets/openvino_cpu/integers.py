"""Functions of integers that the CPU plugin computes in f32, or evaluates for the bounds of a dynamic dimension only;
and integers computed from dimensions in f64.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.integral_bounds import integral_bounds
from moir.analysis.sources import is_computed_of
from moir.dialects.data import Array
from moir.dialects.element_types import INTEGER_TYPES, describe, f64, si8, si16, si32, si64, ui64
from moir.dialects.opset.arithmetic import Divide
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.dialects.symbols import Symbol
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

SIZES = 1 << 16
"""Dimensions below this bound are looked up in a table."""

MOST_PLACES = 31
"""The largest number of bits by which an integer of 32 bits is shifted."""

LONGEST_COMPUTATION = 32
"""The maximum number of operations between the dimension and the integer that is computed from it."""


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


_SIGNED = frozenset((si8, si16, si32, si64))


class FlooredQuotient(Pattern):
    """Rounds the quotient of integers down by subtracting the remainder from the dividend.

        %q = opset1.Divide(%a, %b)                           // si32, m_pythondiv = true
    ->  %r = opset1.FloorMod(%a, %b)
        %q = opset1.Divide(opset1.Subtract(%a, %r), %b) {m_pythondiv = false}

    The plugin rounds towards zero whatever `m_pythondiv` says. Declines where neither number can be negative. Integers
    of fewer than 32 bits are widened to 32 bits, since their difference may not fit into their type.
    """

    roots = (Divide,)
    elements = _SIGNED

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) in _SIGNED

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Divide)
        if not op.flag("m_pythondiv") or all(_is_not_negative(each, rewriter) for each in op.operands):
            return
        build, element = rewriter.op, element_of(op.results[0])
        properties = {"auto_broadcast": op.text("auto_broadcast")}
        a, b = (build.convert(each, si32) if describe(element).bits < 32 else each for each in op.operands)
        whole = build.Subtract(a, build.FloorMod(a, b, **properties), **properties)
        rewriter.replace_with(op, build.convert(build.Divide(whole, b, m_pythondiv=False, **properties), element))


def _is_not_negative(value: SSAValue, rewriter: Rewriter) -> bool:
    """Whether no element of a tensor of integers can be negative, as far as constants, dimensions and bounds tell."""
    bounds = integral_bounds(value)
    if bounds is not None and bounds[0] >= 0:
        return True
    elements = rewriter.known.elements(value)
    return elements is not None and all(each.dimension if isinstance(each, Symbol) else each >= 0 for each in elements.flat)


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
    """Whether the first result of an operation has rank 0 or 1."""
    return bool(op.results) and rank_of(op.results[0]) in (0, 1)


class IntegersOfSizes(Pattern):
    """Looks up an integer that is computed from a size in f64.

        %1 = opset1.Multiply(opset1.Convert(%n), 0.1)                    // %n: si64, a scalar; f64
        %2 = opset1.Convert(opset1.Ceiling(opset1.Divide(%1, 0.1))) {destination_type = si64}
    ->  %3 = opset8.Gather([0, 1, 2, 4, …], opset1.Minimum(opset1.Maximum(%n, 0), 65535), 0)
        %2 = opset1.Select(opset1.Equal(%n, opset1.Minimum(…)), %3, %2)

    The plugin computes f64 in f32, in which 3 · 0.1 / 0.1 is 3 and not a little more. A computation that f32 does
    exactly for all these sizes is kept, and so is the result of the computation for sizes beyond the table.
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
        computation = _computation(op.operands[0])
        if computation is None:
            return
        size, operations = computation
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
    """The integer from which a scalar of type f64 is computed, and the operations that compute it, in order.

    None unless one integer and constants are the only operands, and every operation is elementwise.
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
    """The integer that a computation gives for each size 0 … SIZES - 1, as si32; 0 where it does not fit.

    Returns None if f32 computes all of them exactly, too, or an operation cannot be evaluated.

    Args:
        size: the operand that is the size.
        operations: the operations, in order.
        result: the result of the last one.
    """
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
            evaluated = op.evaluate(*operands)
            if evaluated is None:
                return None
            values[op.results[0]] = np.asarray(evaluated[0])
            is_exact &= _fits(values[op.results[0]])
        numbers = values[result]
        limits = np.iinfo(np.int32)
        known = np.isfinite(numbers) & (numbers >= limits.min) & (numbers <= limits.max)
    return None if is_exact else np.where(known, numbers, 0).astype(np.int32)


def _fits(numbers: Array) -> bool:
    """Whether all numbers are exact in f32."""
    return bool(np.array_equal(numbers.astype(np.float32).astype(np.float64), numbers.astype(np.float64), equal_nan=True))


class ShiftBeyondWord(Pattern):
    """Limits the shifts of 64-bit integers to 31 bits; a left shift by more gives 0.

        %1 = opset15.BitwiseRightShift(%x, %n)               // si64
    ->  %1 = opset15.BitwiseRightShift(%x, opset1.Minimum(%n, 31))
        %2 = opset15.BitwiseLeftShift(%x, %n)
    ->  %2 = opset1.Select(opset1.Greater(%n, 31), 0, opset15.BitwiseLeftShift(%x, opset1.Minimum(%n, 31)))

    The plugin computes with the lower 32 bits, the highest of which equals all higher bits, and shifts by the count
    modulo 32.
    """

    roots = ("opset15.BitwiseRightShift", "opset15.BitwiseLeftShift")
    elements = frozenset((si64, ui64))

    def may_match(self, op: Operation) -> bool:
        if element_of(op.results[0]) not in (si64, ui64):
            return False
        bounds = integral_bounds(op.operands[1])
        return bounds is None or bounds[1] > MOST_PLACES

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (x, counts) = rewriter.op, op.operands
        known = constant_of(counts)
        if known is None:
            most, is_far = build.Minimum(counts, build.constant_like(MOST_PLACES, counts)), None
        else:
            most, is_far = build.constant(np.minimum(known, MOST_PLACES), element_of(counts)), build.constant(known > MOST_PLACES)
        if op.name == "opset15.BitwiseRightShift":
            rewriter.replace_with(op, build.BitwiseRightShift(x, most))
        else:
            is_far = build.Greater(counts, build.constant_like(MOST_PLACES, counts)) if is_far is None else is_far
            rewriter.replace_with(op, build.Select(is_far, build.constant_like(0, x), build.BitwiseLeftShift(x, most)))


FORMS = (
    Form(
        "shift-int64-as-int32",
        (ShiftBeyondWord,),
        faults=(
            Fault(
                "i64-shift", "BitwiseRightShift and BitwiseLeftShift of i64 and u64 by more than 31", "is shifted by the remainders of 32"
            ),
        ),
    ),
    Form(
        "look-up-sizes",
        (IntegersOfSizes,),
        faults=(Fault("f64-sizes", "an integer that is computed from a size in f64", "is computed in f32, and may differ by one"),),
    ),
    Form(
        "bound-integers",
        (FunctionOfIntegers,),
        faults=(
            Fault("i32-relu", "Relu of integers", "is computed in f32"),
            Fault("i32-floor", "Floor and Ceiling of integers", "are computed in f32"),
        ),
    ),
    Form(
        "floor-quotients",
        (FlooredQuotient,),
        faults=(
            Fault("floored-quotient", "Divide of integers with m_pythondiv, of operands with different signs", "is rounded towards zero"),
        ),
    ),
    Form(
        "compute-remainders",
        (RemainderOfSizes,),
        after=("floor-quotients",),
        faults=(
            Fault(
                "remainder-of-sizes",
                "FloorMod of a dimension with bounds, as a size",
                "is the remainder of the bounds if both have the same one",
            ),
        ),
    ),
)
