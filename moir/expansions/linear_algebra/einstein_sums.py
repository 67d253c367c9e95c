"""Einstein sums, whose equations have the same syntax in all frameworks."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.opset.matrix import Equation
from moir.errors import InferenceError, UnsupportedOperationError
from moir.rewriting.builder import OpBuilder


def einstein_sum(op: OpBuilder, equation: str, *operands: SSAValue) -> SSAValue:
    """Build opset7.Einsum from a framework's equation: blanks are removed, and an implicit result is made explicit.

    Raises UnsupportedOperationError for an equation that is malformed or has another number of operands.
    """
    try:
        parsed = Equation.parse("".join(equation.split()))
    except InferenceError as error:
        raise UnsupportedOperationError(error.reason) from error
    if len(parsed.inputs) != len(operands):
        raise UnsupportedOperationError(f"the equation is of {len(parsed.inputs)} operands, {len(operands)} are given")
    return op.Einsum(*operands, equation=parsed.text)
