"""Whether two elements are equal under conditions: by cases, normal forms, and z3."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from moir.proofs.axioms import axioms, has_bound_indices, subterms
from moir.proofs.polynomials import Normalizer, is_variance, plus, scaled
from moir.proofs.scalars import Scalar, UnprovableError
from moir.proofs.smt import limited_solver, z3
from moir.proofs.term_tables import TermTable
from moir.support.records import Record

CASE_MILLISECONDS = 300
"""Time for the question whether a case is possible."""

MILLISECONDS = 4000
"""Time for the question whether two terms are equal."""

MOST_CASES = 600


class Answer(Enum):
    """The answer of the solver on an equation: whether it holds for all values."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"
    """No values satisfy what the equation assumes, so that it says nothing."""


class Verdict(Record):
    """An answer, and for a refutation a model of z3 in which the sides differ.

    Args:
        answer: the answer.
        model: the model.
    """

    answer: Answer
    model: Any = None


PROVED = Verdict(Answer.PROVED)


_CONDITIONS: TermTable[tuple[Scalar | None]] = TermTable()
_LIFTED: TermTable[Scalar] = TermTable()


def first_condition(term: Scalar) -> Scalar | None:
    """The outermost condition of a choice that depends on no index of a sum around it; None if a term has none."""
    known = _CONDITIONS.get(term)
    return (known or _CONDITIONS.put((_first_condition(term),), term))[0]


def _first_condition(term: Scalar) -> Scalar | None:
    if z3.is_quantifier(term):
        return first_condition(term.body())
    if z3.is_app_of(term, z3.Z3_OP_ITE) and not has_bound_indices(term.arg(0)):
        return term.arg(0)
    return next((condition for child in term.children() if (condition := first_condition(child)) is not None), None)


_PROVED: set[tuple[str, str, str]] = set()
"""Proved equations of symbols, with the conditions on them; several shapes of one rule lead to the same equations."""


_VACUOUS: TermTable[bool] = TermTable()
"""Whether conditions contradict each other."""


class EqualityProver:
    """Proves equations under conditions.

    Args:
        conditions: what is assumed.
        milliseconds: the time for a question to z3.
    """

    def __init__(self, conditions: Sequence[Any], milliseconds: int = MILLISECONDS) -> None:
        self.conditions = list(conditions)
        self.milliseconds = milliseconds
        self.cases = 0

    def equal(self, a: Scalar, b: Scalar) -> Verdict:
        """Whether two elements of one sort are equal wherever the conditions hold."""
        if a.eq(b):
            return PROVED
        a, b = lifted(a), lifted(b)
        if a.eq(b):
            return PROVED
        first, second = abstracted(a, b)
        if not (first.eq(a) and second.eq(b)) and self._are_equal_in_general(first, second):
            return PROVED
        return self._equal(a, b, self.conditions)

    def _are_equal_in_general(self, a: Scalar, b: Scalar) -> bool:
        """Whether terms are equal for all elements of tensors and all sizes."""
        conditions = [each for each in self.conditions if not has_sizes(each)]
        key = (a.sexpr(), b.sexpr(), " ".join(each.sexpr() for each in conditions))
        if key not in _PROVED and self._equal(a, b, conditions).answer is not Answer.PROVED:
            return False
        _PROVED.add(key)
        return True

    def _equal(self, a: Scalar, b: Scalar, conditions: list[Any]) -> Verdict:
        if not z3.is_real(a):
            return self.decided(a == b, conditions)
        self.cases = 0
        return self._by_cases(a, b, conditions, Cases(conditions))

    def _by_cases(self, a: Scalar, b: Scalar, conditions: list[Any], cases: Cases) -> Verdict:
        a, b = lifted(a), lifted(b)
        if a.eq(b):
            return PROVED
        self.cases += 1
        if self.cases > MOST_CASES:
            return Verdict(Answer.UNKNOWN)
        condition = first_condition(a)
        condition = first_condition(b) if condition is None else condition
        if condition is None:
            return self._leaf(a, b, conditions)
        for each, value in ((condition, True), (z3.Not(condition), False)):
            if not cases.enter(each):
                continue
            replaced = [z3.substitute(term, (condition, z3.BoolVal(value))) for term in (a, b)]
            known = [z3.simplify(z3.substitute(term, *_equation(condition))) if value else term for term in replaced]
            verdict = self._by_cases(known[0], known[1], [*conditions, each], cases)
            cases.leave()
            if verdict.answer is not Answer.PROVED:
                return verdict
        return PROVED

    def _leaf(self, a: Scalar, b: Scalar, conditions: list[Any]) -> Verdict:
        """Whether terms without choices are equal under conditions: by normal forms, by exponentials of both sides, or
        by z3.
        """
        normalizer = Normalizer()
        try:
            first, second = normalizer.normal(a), normalizer.normal(b)
            if first == second:
                return PROVED
            if "log" in a.sexpr() + b.sexpr() and normalizer.exponential(first) == normalizer.exponential(second):
                return PROVED
        except UnprovableError:
            pass
        return self.decided(a == b, conditions)

    def is_vacuous(self) -> bool:
        """Whether no values satisfy the conditions, as far as z3 finds out."""
        known = _VACUOUS.get(*self.conditions)
        if known is None:
            solver = limited_solver(CASE_MILLISECONDS)
            solver.add(*self.conditions, *axioms(self.conditions))
            known = _VACUOUS.put(solver.check() == z3.unsat, *self.conditions)
        return known

    def decided(self, statement: Any, conditions: list[Any] | None = None) -> Verdict:
        """The answer of z3 to whether a statement follows from conditions, by default from those that are assumed."""
        solver = limited_solver(self.milliseconds)
        assumed = self.conditions if conditions is None else conditions
        solver.add(*assumed, *axioms([statement, *assumed]))
        solver.add(z3.Not(statement))
        match solver.check():
            case z3.unsat:
                return PROVED
            case z3.sat if not has_symbols(statement):
                return Verdict(Answer.REFUTED, solver.model())
            case _:
                return Verdict(Answer.UNKNOWN)


def has_sizes(term: Any) -> bool:
    """Whether a condition is about sizes, indices or elements at indices."""
    return z3.is_int(term) or z3.is_quantifier(term) or any(map(has_sizes, term.children()))


def has_symbols(term: Any) -> bool:
    """Whether a term has functions of which z3 knows too little to refute an equation."""
    if z3.is_quantifier(term):
        return True
    if term.decl().kind() == z3.Z3_OP_UNINTERPRETED and term.num_args() and not is_element(term):
        return True
    return any(map(has_symbols, term.children()))


def abstracted(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Two terms with each element of a tensor replaced by a symbol, whatever its index.

    If the results are equal for all values of the symbols, so are the terms; the converse does not hold.
    """
    replaced: list[tuple[Scalar, Scalar]] = []
    seen: set[int] = set()
    pending = [a, b]
    while pending:
        term = pending.pop()
        if term.get_id() in seen or z3.is_quantifier(term):
            continue
        seen.add(term.get_id())
        if is_element(term):
            replaced.append((term, z3.Const(f"element {len(replaced)}", term.sort())))
        else:
            pending.extend(term.children())
    return z3.substitute(a, *replaced), z3.substitute(b, *replaced)


def is_element(term: Scalar) -> bool:
    """Whether a term is an element of an arbitrary tensor."""
    if not z3.is_app(term) or term.decl().kind() != z3.Z3_OP_UNINTERPRETED or not term.num_args():
        return False
    return term.decl().name().startswith("x") and all(map(z3.is_int, term.children()))


def _equation(condition: Any) -> list[tuple[Any, Any]]:
    """The substitution of an integer symbol by a number, for a condition that they are equal; empty for other
    conditions.
    """
    if z3.is_eq(condition):
        a, b = condition.children()
        if z3.is_int(a) and z3.is_const(a) and a.decl().kind() == z3.Z3_OP_UNINTERPRETED and z3.is_int_value(b):
            return [(a, b)]
    return []


def contradicts_variance(condition: Any) -> bool:
    """Whether a condition states that a variance is negative, which is impossible."""
    inner = condition.arg(0) if z3.is_not(condition) else condition
    if inner.decl().kind() not in (z3.Z3_OP_LE, z3.Z3_OP_GE, z3.Z3_OP_LT, z3.Z3_OP_GT) or not z3.is_real(inner.arg(0)):
        return False
    is_upper = (inner.decl().kind() in (z3.Z3_OP_LE, z3.Z3_OP_LT)) != z3.is_not(condition)
    is_strict = (inner.decl().kind() in (z3.Z3_OP_LT, z3.Z3_OP_GT)) != z3.is_not(condition)
    low, high = inner.children() if is_upper else reversed(inner.children())
    try:
        normalizer = Normalizer()
        return is_strict and is_variance(plus(normalizer.normal(low), scaled(normalizer.normal(high), -1)))
    except UnprovableError:
        return False


class Cases:
    """Nested cases of a proof, with a solver that checks whether each is possible.

    Args:
        conditions: what is assumed in all cases.
    """

    def __init__(self, conditions: Sequence[Any]) -> None:
        self.solver = limited_solver(CASE_MILLISECONDS)
        self._facts: list[set[int]] = [set()]
        for condition in conditions:
            self._add(condition)

    def _add(self, condition: Any) -> None:
        self.solver.add(condition)
        for fact in axioms([condition]):
            if not any(fact.get_id() in known for known in self._facts):
                self._facts[-1].add(fact.get_id())
                self.solver.add(fact)

    def enter(self, condition: Any) -> bool:
        """Enter the case in which `condition` is also true, and return True; return False, entering nothing, if it is
        impossible.
        """
        if contradicts_variance(condition):
            return False
        self.solver.push()
        self._facts.append(set())
        self._add(condition)
        if self.solver.check() != z3.unsat:
            return True
        self.leave()
        return False

    def leave(self) -> None:
        """Leave the case that was entered last."""
        self.solver.pop()
        self._facts.pop()


def lifted(term: Scalar) -> Scalar:
    """Simplify a term by z3, and replace each square root of a square by the absolute value of its base."""
    known = _LIFTED.get(term)
    return _LIFTED.put(_lifted(term), term) if known is None else known


def _lifted(term: Scalar) -> Scalar:
    simple = z3.simplify(term)
    rounded = [(each, whole) for each in applications(simple, "rint") if (whole := rounded_number(each.arg(0))) is not None]
    if rounded:
        return _lifted(z3.substitute(simple, *rounded))
    roots = [each for each in applications(simple, "sqrt") if base_of_square(each.arg(0)) is not None]
    if not roots:
        return simple
    return z3.simplify(z3.substitute(simple, *((each, _magnitude(base_of_square(each.arg(0)))) for each in roots)))


def rounded_number(term: Scalar) -> Scalar | None:
    """A number rounded to the nearest integer, to the even one of two; None for a term that is no number."""
    return z3.Q(round(term.as_fraction()), 1) if z3.is_rational_value(term) else None


def base_of_square(term: Scalar) -> Scalar | None:
    """The base of a square; None for other terms."""
    parts = term.children()
    if z3.is_mul(term) and len(parts) == 2 and parts[0].eq(parts[1]):
        return parts[0]
    is_power = term.decl().kind() == z3.Z3_OP_POWER
    return parts[0] if is_power and z3.is_rational_value(parts[1]) and parts[1].as_fraction() == 2 else None


def _magnitude(term: Scalar) -> Scalar:
    return z3.If(term >= 0, term, -term)


def applications(term: Scalar, name: str) -> list[Scalar]:
    """The applications of a function in a term, without those inside of sums."""
    return [each for each, _ in subterms(term) if each.decl().name() == name]
