"""Axioms about uninterpreted functions that z3 needs: facts about their applications in the terms of a question.

Terms share parts, and cases repeat conditions: what is known of a part is kept (`TermTable`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from moir.proofs.polynomials import Normalizer, argument_of
from moir.proofs.scalars import FUNCTIONS, Scalar, UnprovableError
from moir.proofs.smt import z3
from moir.proofs.term_tables import TermTable

_DEPTHS: TermTable[int] = TermTable()
_FACTS: TermTable[list[Any]] = TermTable()


def open_indices(term: Scalar) -> int:
    """The number of enclosing sums whose indices may occur in a term, counted from the innermost; 0 for a closed term.

    It is one more than the largest de Bruijn index of a free variable.
    """
    known = _DEPTHS.get(term)
    if known is not None:
        return known
    if z3.is_var(term):
        depth = z3.get_var_index(term) + 1
    elif z3.is_quantifier(term):
        depth = max(0, open_indices(term.body()) - term.num_vars())
    else:
        depth = max(map(open_indices, term.children()), default=0)
    return _DEPTHS.put(depth, term)


def has_bound_indices(term: Scalar) -> bool:
    """Whether a term depends on an index of a sum around it."""
    return open_indices(term) > 0


def signs_of_sum(term: Any) -> list[Any]:
    """Facts about the sign of a sum.

    It is not negative if its summands are products of even powers and exponentials, and positive if a summand has
    exponentials alone and there is at least one summand.
    """
    *sizes, function = term.children()
    body = z3.substitute_vars(function.body(), *(z3.FreshInt() for _ in range(function.num_vars())))
    try:
        summands = Normalizer().normal(body)
    except UnprovableError:
        return []
    others = [{key: exponent for key, exponent in monomial if argument_of(key, "exp") is None} for monomial, _ in summands]
    if any(coefficient < 0 for _, coefficient in summands) or any(exponent % 2 for each in others for exponent in each.values()):
        return []
    is_positive = any(not each for each in others)
    return [term >= 0, *([z3.Implies(z3.And(*(size >= 1 for size in sizes)), term > 0)] if is_positive else [])]


def axioms(terms: Sequence[Any]) -> list[Any]:
    """The axioms, as z3 conditions, of the uninterpreted functions that are applied in some terms."""
    facts: list[Any] = []
    seen: set[int] = set()
    for term in terms:
        if not z3.is_expr(term):
            continue
        known = _FACTS.get(term)
        for fact in known if known is not None else _FACTS.put(_facts_in(term), term):
            if fact.get_id() not in seen:
                seen.add(fact.get_id())
                facts.append(fact)
    return facts


def _facts_in(term: Any) -> list[Any]:
    """The axioms of the function applications in a term, except those inside of sums."""
    facts: list[Any] = []
    for each, operands in subterms(term):
        if operands and z3.is_app(each) and not has_bound_indices(each):
            facts += _facts_of(each, operands)
    return facts


def subterms(term: Any) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Yields a term and all its subterms with their operands, each once; the inside of sums is left out."""
    seen: set[int] = set()
    pending = [term]
    while pending:
        each = pending.pop()
        if each.get_id() in seen or z3.is_quantifier(each):
            continue
        seen.add(each.get_id())
        operands = each.children()
        pending.extend(operands)
        yield each, operands


def _facts_of(term: Any, operands: Sequence[Any]) -> list[Any]:
    """The axioms of one application of a function to `operands`; empty if the function has none."""
    name = term.decl().name()
    if name == "exp":
        return [term > 0, (operands[0] >= 0) == (term >= 1), (operands[0] == 0) == (term == 1)]
    if name.startswith("sum") and z3.is_quantifier(operands[-1]):
        return signs_of_sum(term)
    if name == "sqrt":
        return [z3.Implies(operands[0] >= 0, z3.And(term >= 0, term * term == operands[0]))]
    if name == "rint":
        return [z3.IsInt(term), operands[0] - term <= z3.Q(1, 2), term - operands[0] <= z3.Q(1, 2)]
    if name == "floor":
        return [z3.IsInt(term), term <= operands[0], operands[0] - term < 1]
    if name == "tanh":
        return [z3.And(term > -1, term < 1)]
    if name == "log":
        return [z3.Implies(operands[0] > 0, FUNCTIONS["exp"](term) == operands[0])]
    return []
