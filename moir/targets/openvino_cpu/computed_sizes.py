"""Integers that are computed from a size in f64, which the CPU plugin computes in f32."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.data import Array
from moir.dialects.element_types import INTEGER_TYPES, f64, si32
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_count, element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

SIZES = 1 << 16
"""Sizes below this one are looked up."""

LONGEST_COMPUTATION = 32
"""The greatest number of operations that are followed from an integer to the size."""


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


FORMS = (Form("look-up-sizes", (IntegersOfSizes,)),)
