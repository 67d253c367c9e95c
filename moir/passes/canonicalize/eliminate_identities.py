"""`eliminate-identities`: operations whose result equals their operand are removed.

    %1 = opset1.Transpose(%0, [0, 1, 2])
    %2 = opset1.Reshape(%1, [0, 0, 0])                // special_zero
    %3 = opset1.Multiply(%2, 1.0)
    opset1.Result(%3)
->  opset1.Result(%0)

    %1 = opset1.Select(true, %0, %nan)                // JAX checks divisors that are constant
->  %0

An operation is removed only if its result equals the operand for all sizes of the dimensions. `x + 0` counts as equal
to the float x, although -0 + 0 is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import Commutative

from moir.analysis.analyses import Analyses
from moir.analysis.constants import scalar_of, values_of
from moir.analysis.dimensions import Dimensions
from moir.analysis.known_values import KnownValues
from moir.dialects.large_arrays import ComputedArray, pieces
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, is_static, refines, shape_of
from moir.dialects.symbols import same
from moir.rewriting.dimension_patterns import DimensionsPattern
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.rewriting.reporting_pass import Needs, ReportingPass, either


def _is_neutral(constant: SSAValue, other: SSAValue, number: float) -> bool:
    values, shape = values_of(constant), shape_of(other)
    if values is None or shape is None or values.ndim > len(shape) or values.dtype.kind not in "fiubV" or values.size == 0:
        return False
    aligned = shape[len(shape) - values.ndim :]
    if any(size not in (1, d) for size, d in zip(values.shape, aligned, strict=True)):
        return False
    neutral = np.asarray(number).astype(values.dtype)
    # The first element decides most cases, so a large weight is seldom compared as a whole, or computed.
    first = values.elements(0, 1)[0] if isinstance(values, ComputedArray) else values.flat[0]
    return first == number and all(bool(np.all(piece == neutral)) for piece in pieces(values))


NOTHING_KNOWN = KnownValues()


def moves_data(operation: type[Operation]) -> bool:
    """Whether dimensions decide if operations of this class are identities."""
    return issubclass(operation, OpsetOp) and operation.gives_back_operand is not OpsetOp.gives_back_operand


def identity(op: OpsetOp, known: KnownValues) -> SSAValue | None:
    """The operand that the result of an operation equals; None if the result may differ."""
    if op.NEUTRAL is not None:
        return _other_than_neutral(op, op.NEUTRAL)
    return op.operands[0] if _fits(op.operands[0], op.results[0]) and op.gives_back_operand(known) else None


def _other_than_neutral(op: OpsetOp, neutral: float) -> SSAValue | None:
    first, second = op.operands
    # Few operands are constants, so this is checked first.
    for kept, other in ((first, second), (second, first)):
        if (
            _is_neutral(other, kept, neutral)
            and _fits(kept, op.results[0])
            and (kept is first or op.has_trait(Commutative))
            and op.text("auto_broadcast") == "numpy"
        ):
            return kept
    return None


def _fits(value: SSAValue, result: SSAValue) -> bool:
    """Whether a value has the element type of a result and a shape that is at least as precise."""
    return value.type is result.type or (element_of(value) == element_of(result) and refines(shape_of(value), shape_of(result)))


class ResultEqualToOperand(Pattern):
    """Replaces an operation by the operand that its result equals."""

    roots = (OpsetOp,)

    def may_start_at(self, operation: type[Operation]) -> bool:
        return moves_data(operation) or (issubclass(operation, OpsetOp) and operation.NEUTRAL is not None)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, OpsetOp)
        return _fits(op.operands[0], op.results[0]) if op.NEUTRAL is None else identity(op, NOTHING_KNOWN) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        value = identity(op, rewriter.known)
        if value is not None:
            rewriter.replace_with(op, value)


SELECT = "opset1.Select"


class DecidedSelect(DimensionsPattern):
    """Replaces a Select whose condition is true everywhere, or nowhere, by the value that it chooses.

    The value stays where the condition or the other value may broadcast it to a larger shape.
    """

    # By its name: few models have one, and its class would be imported for all.
    roots = (SELECT,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        condition = values_of(op.operands[0])
        if condition is None or condition.size == 0 or op.text("auto_broadcast") != "numpy":
            return
        truths = np.asarray(condition)
        if truths.all() or not truths.any():
            chosen, shape = op.operands[1 if truths.flat[0] else 2], shape_of(op.results[0])
            if _fits(chosen, op.results[0]) and self._keeps_shape(chosen, op):
                rewriter.replace_with(op, chosen)
            elif scalar_of(chosen) is not None and is_static(shape):
                rewriter.replace_with(op, rewriter.op.Broadcast(chosen, list(shape or ())))

    def _keeps_shape(self, chosen: SSAValue, op: OpsetOp) -> bool:
        """Whether the result of a Select has the shape of the value `chosen`, whatever the sizes are."""
        tokens, result = self.known.tokens(chosen), self.known.tokens(op.results[0])
        if tokens is not None and result is not None and len(tokens) == len(result) and all(map(same, tokens, result)):
            return True
        own, others = shape_of(chosen), [shape_of(operand) for operand in op.operands if operand is not chosen]
        return own is not None and all(shape is not None and fits_into(shape, own) for shape in others)


def fits_into(shape: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether a shape that can be broadcast with the shape `whole` always gives the shape `whole`.

    A dimension that is above 1 in `whole` can only be 1 or equal.
    """
    return len(shape) <= len(whole) and all(
        size == 1 or other not in (-1, 1) for size, other in zip(shape[::-1], whole[::-1], strict=False)
    )


class EliminateIdentitiesPass(ReportingPass):
    """Removes operations that return their operand unchanged."""

    name = "eliminate-identities"

    KEEPS_DIMENSIONS = True

    @classmethod
    def needs(cls) -> Needs | None:
        return either(each.needs() for each in (ResultEqualToOperand(), DecidedSelect(Dimensions())))

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        # The analysis of dimensions walks over the module; skipped if no operation that moves data needs it.
        known = analyses.dimensions() if any(moves_data(each) or each.name == SELECT for each in analyses.classes) else None
        patterns: list[Pattern] = [ResultEqualToOperand(), *([] if known is None else [DecidedSelect(known)])]
        return rewrite(module, patterns, fixpoint=True, known=known, analyses=analyses)
