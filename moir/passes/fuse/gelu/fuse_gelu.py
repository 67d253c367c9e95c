"""`fuse-gelu`: x · Φ(x) becomes one operation, Φ being the normal distribution by erf or its approximation by tanh.

    %d = opset1.Divide(%x, 1.4142135)
    %e = opset1.Erf(%d)
    %a = opset1.Add(%e, 1.0)
    %m = opset1.Multiply(%x, %a)
    %y = opset1.Multiply(%m, 0.5)
->  %y = opset7.Gelu(%x)

    %c = erfc(opset1.Multiply(opset1.Negative(%x), 0.70710677))    // polynomials of dozens of operations, as in JAX
    %y = opset1.Multiply(opset1.Multiply(%x, 0.5), %c)
->  %y = opset7.Gelu(%x)

The factors of x · ½ · (1 + …) may stand in any order, and x · ½ · (1 - erf(-…)), the lowered form of erfc, is matched
as well. For tanh the argument is √(2/π) (x + 0.044715 x³). The argument is read as a polynomial of x by following
operands upwards from Erf or Tanh, and the product by following uses downwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from moir.analysis.constants import TOLERANCES
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.comparison import Select
from moir.dialects.opset.elementwise import Abs, Erf, Exp, Tanh
from moir.dialects.shapes import element_of
from moir.passes.fuse.gelu.elementwise_functions import is_complement_of_error_function, operations_between
from moir.passes.fuse.gelu.polynomials import Polynomial, PolynomialReader, combined, negative, operands_of, possible_variables, total
from moir.rewriting.driver import Pattern, PatternPass, Rewriter
from moir.rewriting.reporting_pass import Roots
from moir.rewriting.rules import has_outside_uses, is_refinement, replace_matched, take_back

ERF_ARGUMENT: Polynomial = {1: math.sqrt(0.5)}
TANH_ARGUMENT: Polynomial = {1: math.sqrt(2 / math.pi), 3: math.sqrt(2 / math.pi) * 0.044715}
HALF: Polynomial = {1: 0.5}

MAXIMUM_STEPS = 4
"""The maximum number of operations from Erf or Tanh to the result: + 1, times ½, times x, and a spare one."""

ROUNDINGS = 3
"""The maximum number of rounded constants whose product is a coefficient, which determines the tolerance."""


class GeluPattern(Pattern):
    """Replaces x · Φ(x) by a Gelu, matched from Erf or Tanh, where `argument` is the expected polynomial of x."""

    companions: tuple[Roots, ...] = ((Multiply, Divide),)

    def __init__(self, root: type[Operation], argument: Polynomial, mode: str) -> None:
        self.roots = (root,)
        self.argument = argument
        self.mode = mode

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        element = element_of(op.operands[0])
        if element not in TOLERANCES:
            return
        for x in possible_variables(op.operands[0]):
            reader = PolynomialReader(x)
            argument = reader.read(op.operands[0])
            sign = 0.0 if argument is None else self._sign(argument, element)
            if sign:
                operations = half_of_x_times_one_plus(op, {0: 0.0}, sign, reader, element)
                if operations is not None and not has_outside_uses(operations):
                    self._replace(operations, x, rewriter)
                    return

    def _sign(self, argument: Polynomial, element: Attribute) -> float:
        """The sign of the argument of Erf or Tanh: 1 for the expected polynomial, -1 for its negative, 0 for any other.

        Erf and Tanh are odd functions, so a negative argument gives a negative result.
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
    """Whether the coefficients of a polynomial equal the expected ones, up to rounding errors of an element type."""
    return all(
        abs(polynomial.get(power, 0.0) - expected.get(power, 0.0)) <= ROUNDINGS * TOLERANCES[element] * abs(expected.get(power, 0.0))
        for power in {*polynomial, *expected}
    )


class ComplementPattern(GeluPattern):
    """Replaces x · Φ(x) by a Gelu, matched from the Select between the approximations of erfc for small and for large
    arguments.
    """

    companions = ((Multiply,), (Abs,), (Exp,))

    def __init__(self) -> None:
        super().__init__(Select, ERF_ARGUMENT, "ERF")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        element, condition = element_of(op.results[0]), op.operands[0].owner
        if element not in TOLERANCES or not isinstance(condition, Operation):
            return
        magnitudes = [each.owner.operands[0] for each in condition.operands if isinstance(each.owner, Abs)]
        inner = operations_between(op.results[0], magnitudes[0]) if len(magnitudes) == 1 else None
        if inner is None or not is_complement_of_error_function(inner, magnitudes[0]):
            return
        for x in possible_variables(magnitudes[0]):
            reader = PolynomialReader(x)
            argument = reader.read(magnitudes[0])
            sign = 0.0 if argument is None else self._sign(argument, element)
            operations = half_of_x_times_one_plus(op, {0: 1.0}, -sign, reader, element) if sign else None
            if operations is not None:
                # Operands with other uses, such as -x, are computed again for these uses alone.
                self._replace(list(dict.fromkeys([*operations, *reversed(inner), *reader.operations])), x, rewriter)
                return


def half_of_x_times_one_plus(
    op: Operation, constant: Polynomial, sign: float, reader: PolynomialReader, element: Attribute
) -> list[Operation] | None:
    """The operations that compute ½ x (1 + f), the last one first; None if there is no such chain.

    Args:
        op: the operation whose result is `constant` + `sign` · f.
        constant: a polynomial of x.
        sign: 1 or -1.
        reader: reads polynomials of its variable x.
        element: the element type, which determines the tolerance.
    """
    # The current value of the chain is `constant` + `factor` · f.
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
    """The terms `constant` and `factor` of the result, constant + factor · f, of an operation on such a value and a
    polynomial `other`.

    Returns None if the result does not have this form. `is_first` is whether constant + factor · f is the first
    operand.
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


class FuseGeluPass(PatternPass):
    """Fuses the Gaussian error linear unit, Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016."""

    name = "fuse-gelu"

    KEEPS_DIMENSIONS = True

    def patterns(self) -> Sequence[Pattern]:
        return (GeluPattern(Erf, ERF_ARGUMENT, "ERF"), GeluPattern(Tanh, TANH_ARGUMENT, "TANH"), ComplementPattern())
