"""Whether a model is defined where another one is: whether what it requires follows from what the other one requires.

A divisor is not 0 if all its factors are factors of divisors of the other model; a root is defined where the other
model has the same root. Other requirements are checked by z3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from moir.proofs.polynomials import Normalizer, Polynomial, argument_of, number, primitive, times
from moir.proofs.scalars import UnprovableError
from moir.proofs.smt import z3
from moir.proofs.solver import PROVED, EqualityProver, Verdict
from moir.support.records import Record

_FOLLOWING: set[str] = set()
"""Keys of conditions that are known to follow from others, since several shapes of one rule lead to the same ones."""


class Definedness:
    """What follows from the conditions that a model requires.

    Args:
        known: the conditions.
        premises: what else is known, of sizes.
        milliseconds: the time for a question to z3.
    """

    def __init__(self, known: Sequence[Any], premises: Sequence[Any], milliseconds: int) -> None:
        self.known = known
        self.premises = premises
        self.milliseconds = milliseconds
        self._ids = {each.get_id() for each in known}
        self._requirements = [each for each in map(requirement_of, known) if each is not None]
        self._normalizer = Normalizer()
        self._facts: dict[int, Facts] = {}

    def follows(self, condition: Any, bounds: Sequence[Any]) -> Verdict:
        """Whether a condition follows; `bounds` are what is known of the indices in it."""
        if condition.get_id() in self._ids:
            return PROVED
        wanted = requirement_of(condition)
        if wanted is not None and self._facts_where(wanted.guard).contain(wanted):
            return PROVED
        assumed = [*self.premises, *bounds, *self.known]
        key = " ".join(each.sexpr() for each in (condition, *assumed))
        if key in _FOLLOWING:
            return PROVED
        verdict = EqualityProver(assumed, self.milliseconds).decided(condition)
        if verdict == PROVED:
            _FOLLOWING.add(key)
        return verdict

    def _facts_where(self, guard: Any) -> Facts:
        """The facts that hold everywhere, and those required under this guard; None for the former alone."""
        key = -1 if guard is None else guard.get_id()
        if key not in self._facts:
            requirements = [each for each in self._requirements if each.guard is None or (guard is not None and each.guard.eq(guard))]
            self._facts[key] = Facts(requirements, self._normalizer)
        return self._facts[key]


class Requirement(Record):
    """What is required of a real number.

    Args:
        guard: where it is required; None for everywhere.
        relation: "!=", ">=" or ">", whose right side is 0.
        value: the number, as a term.
    """

    guard: Any
    relation: str
    value: Any


def requirement_of(condition: Any) -> Requirement | None:
    """The requirement that a condition states, possibly under a guard; None if it does not compare real numbers."""
    guard = None
    if z3.is_implies(condition):
        guard, condition = condition.children()
    elif z3.is_or(condition):
        # A simplified implication: the last alternative is its conclusion.
        *others, condition = condition.children()
        guard = z3.simplify(z3.Not(z3.Or(*others)))
    is_negated = z3.is_not(condition)
    condition = condition.arg(0) if is_negated else condition
    relation = RELATIONS.get((condition.decl().kind(), is_negated))
    if relation is None or not z3.is_real(condition.arg(0)):
        return None
    a, b = condition.children()
    if relation in REVERSED:
        relation, a, b = REVERSED[relation], b, a
    return Requirement(guard, relation, a - b)


RELATIONS = {
    (z3.Z3_OP_DISTINCT, False): "!=",
    (z3.Z3_OP_EQ, True): "!=",
    (z3.Z3_OP_GE, False): ">=",
    (z3.Z3_OP_LT, True): ">=",
    (z3.Z3_OP_GT, False): ">",
    (z3.Z3_OP_LE, True): ">",
    (z3.Z3_OP_LE, False): "<=",
    (z3.Z3_OP_GT, True): "<=",
    (z3.Z3_OP_LT, False): "<",
    (z3.Z3_OP_GE, True): "<",
}
"""The relation that each comparison, or negated comparison, of z3 states."""

REVERSED = {"<=": ">=", "<": ">"}


class Facts:
    """Requirements on real numbers as facts in normal form: which atoms and sums are not 0, and which have a sign.

    Args:
        requirements: what holds.
        normalizer: what brings terms into normal form.
    """

    def __init__(self, requirements: Iterable[Requirement], normalizer: Normalizer) -> None:
        self._normalizer = normalizer
        self.factors: set[Hashable] = set()
        """Atoms and sums that are not 0."""
        self.signs: dict[Polynomial, str] = {}
        """Numbers that are positive, or not negative, up to a positive factor."""
        for each in requirements:
            try:
                value = normalizer.normal(each.value)
            except UnprovableError:
                continue
            if each.relation != ">=":
                self.factors |= factors_of(value)
            if each.relation != "!=" and self.signs.get(unscaled(value)) != ">":
                self.signs[unscaled(value)] = each.relation

    def contain(self, wanted: Requirement) -> bool:
        """Whether a requirement is among the facts."""
        try:
            value = self._normalizer.normal(wanted.value)
        except UnprovableError:
            return False
        sign = self.signs.get(unscaled(value))
        if wanted.relation == ">=":
            return sign is not None
        is_nonzero = all(map(self._is_nonzero, factors_of(value)))
        return is_nonzero if wanted.relation == "!=" else sign == ">" or (sign == ">=" and is_nonzero)

    def _is_nonzero(self, factor: Hashable) -> bool:
        radicand = argument_of(factor, "sqrt")
        return factor in self.factors or (radicand is not None and all(map(self._is_nonzero, factors_of(radicand))))


def unscaled(value: Polynomial) -> Polynomial:
    """A normal form without positive factors and exponentials, so that terms of equal sign have one form."""
    if not value:
        return value
    content, lead, rest = primitive(value)
    kept = frozenset(pair for pair in content if argument_of(pair[0], "exp") is None)
    return times(frozenset([(kept, lead / abs(lead))]), rest)


def factors_of(value: Polynomial) -> frozenset[Hashable]:
    """The factors of a normal form that may be 0: its atoms and its remaining sum, without numbers and exponentials."""
    if not value:
        return frozenset([value])
    content, _, rest = primitive(value)
    atoms: set[Hashable] = {key for key, _ in content if argument_of(key, "exp") is None}
    return frozenset(atoms if rest == number(1) else {*atoms, rest})
