"""`fuse-gelu`: x * Φ(x), Φ the normal distribution by erf or its approximation by tanh, becomes one operation.

    %d = opset1.Divide(%x, 1.4142135)
    %e = opset1.Erf(%d)
    %a = opset1.Add(%e, 1.0)
    %m = opset1.Multiply(%x, %a)
    %y = opset1.Multiply(%m, 0.5)
->  %y = opset7.Gelu(%x)

The product x · ½ · (1 + …) is recognized in any order, and as x · ½ · (1 - erf(-…)), which is what erfc becomes. So is
the polynomial under tanh, √(2/π) (x + 0.044715 x³): both are read as polynomials, from Erf or Tanh up to x and down
along its uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from moir.analysis.constants import TOLERANCES
from moir.analysis.polynomials import Polynomial, PolynomialReader, combined, negative, operands_of, possible_variables, total
from moir.dialects.opset.elementwise import Erf, Tanh
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter
from moir.rewriting.rules import has_outside_uses, is_refinement, replace_matched, take_back

ERF_ARGUMENT: Polynomial = {1: math.sqrt(0.5)}
TANH_ARGUMENT: Polynomial = {1: math.sqrt(2 / math.pi), 3: math.sqrt(2 / math.pi) * 0.044715}
HALF: Polynomial = {1: 0.5}

MAXIMUM_STEPS = 4
"""Operations from Erf or Tanh to the result: + 1, times ½, times x, and one to spare."""

ROUNDINGS = 3
"""A coefficient is the product of so many constants, each of which is rounded."""


class GeluPattern(Pattern):
    """Starts at Erf or Tanh, of which `argument` is the polynomial of x that it should be applied to."""

    def __init__(self, root: type[Operation], argument: Polynomial, mode: str) -> None:
        self.roots = (root,)
        self.argument = argument
        self.mode = mode

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(rewriter, Rewriter)
        element = element_of(op.operands[0])
        if element not in TOLERANCES:
            return
        for x in possible_variables(op.operands[0]):
            reader = PolynomialReader(x)
            argument = reader.read(op.operands[0])
            sign = 0.0 if argument is None else self._sign(argument, element)
            if sign:
                operations = half_of_x_times_one_plus(op, sign, reader, element)
                if operations is not None and not has_outside_uses(operations):
                    self._replace(operations, x, rewriter)
                    return

    def _sign(self, argument: Polynomial, element: Attribute) -> float:
        """1 if the root is applied to the polynomial it should be, -1 if to its negative, which makes the result
        negative; 0 if neither.
        """
        if are_about(argument, self.argument, element):
            return 1.0
        return -1.0 if are_about(negative(argument), self.argument, element) else 0.0

    def _replace(self, operations: Sequence[Operation], x: SSAValue, rewriter: Rewriter) -> None:
        value = rewriter.op.Gelu(x, approximation_mode=self.mode)
        if is_refinement(value.type, operations[0].results[0].type):
            replace_matched(operations, value, rewriter)
        else:
            take_back(rewriter.op)


def are_about(polynomial: Polynomial, expected: Polynomial, element: Attribute) -> bool:
    """Whether coefficients made of constants of an element type are the expected ones, up to rounding."""
    return all(
        abs(polynomial.get(power, 0.0) - expected.get(power, 0.0)) <= ROUNDINGS * TOLERANCES[element] * abs(expected.get(power, 0.0))
        for power in {*polynomial, *expected}
    )


def half_of_x_times_one_plus(op: Operation, sign: float, reader: PolynomialReader, element: Attribute) -> list[Operation] | None:
    """The operations that make ½ x (1 + f), `sign` · f the result of `op` and x the variable of the reader; the last
    one first.
    """
    # The value so far is `constant` + `factor` · f.
    constant: Polynomial = {0: 0.0}
    factor: Polynomial = {0: sign}
    chain = [op]
    for _ in range(MAXIMUM_STEPS):
        value = chain[0].results[0]
        users = [use.operation for use in value.uses]
        operands = operands_of(users[0].results[0]) if len(users) == 1 and users[0].results else None
        if operands is None:
            return None
        user, a, b = operands
        other = reader.read(b if a is value else a)
        if other is None or (user.name == "opset1.Divide" and a is not value):
            return None
        sums = _next(user.name, constant, factor, other, is_first=a is value)
        if sums is None:
            return None
        constant, factor = sums
        chain.insert(0, user)
        if are_about(constant, HALF, element) and are_about(factor, HALF, element):
            return [*chain, *reader.operations]
    return None


def _next(
    name: str, constant: Polynomial, factor: Polynomial, other: Polynomial, *, is_first: bool
) -> tuple[Polynomial, Polynomial] | None:
    """`constant` + `factor` · f after one more operation, of which it is the first or second operand and a polynomial
    the other one.
    """
    match name:
        case "opset1.Add":
            return total(constant, other), factor
        case "opset1.Subtract" if is_first:
            return total(constant, negative(other)), factor
        case "opset1.Subtract":
            return total(other, negative(constant)), negative(factor)
        case "opset1.Multiply" | "opset1.Divide":
            both = combined(name, constant, other), combined(name, factor, other)
            return None if both[0] is None or both[1] is None else (both[0], both[1])
        case _:
            return None


@dataclass(frozen=True)
class FuseGeluPass(PatternPass):
    """Fuses the Gaussian error linear unit, Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016."""

    name = "fuse-gelu"

    def patterns(self) -> Sequence[RewritePattern]:
        return (GeluPattern(Erf, ERF_ARGUMENT, "ERF"), GeluPattern(Tanh, TANH_ARGUMENT, "TANH"))
