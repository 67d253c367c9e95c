"""Proofs of fusion rules: for all their alternatives, element types and ranks, and for any sizes and numbers.

The rule itself is applied to a model of its pattern; the model before and the model after are evaluated symbolically.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from moir.analysis.known_values import KnownValues
from moir.dialects.data import Array
from moir.dialects.element_types import f32
from moir.errors import InferenceError
from moir.proofs.equivalence import VACUOUS, compare
from moir.proofs.graph_proofs import block_of, failure_of
from moir.proofs.instances import (
    ELEMENTS,
    Instance,
    Roles,
    Shapes,
    instance_of,
    number_names,
    property_choices,
    roles_of,
    shapes_of,
    with_operands,
)
from moir.proofs.marked_numbers import SEED, Trace, paths, values_for
from moir.proofs.outcomes import Failure, Outcome, Status, outcome_with
from moir.proofs.scalars import UnprovableError
from moir.proofs.solver import Answer
from moir.rewriting.driver import Rewriter
from moir.rewriting.rules import FusionRule, Match
from moir.rewriting.terms import Expression, OneOf, Term
from moir.support.records import Record

FEW_MILLISECONDS = 300
"""The time for the question whether alternatives are equal, in milliseconds; they need not be."""


FEW_SCENARIOS = 8
"""The number of shapes for which a rule declines integers, after which integers are not tried any more."""


MOST_FAILURES = 12
"""The number of models that cannot be proved after which the proof of a rule is given up."""

LIKELY_NUMBERS = (3.0, -2.0, 0.5, -1.0, 2.0, 1.0, -0.5)


class MarkedMatch(Match):
    """A match whose constants are arrays of marked numbers, so that what the rewrite computes from them is a term,
    too.
    """

    def __init__(self, trace: Trace, root: Operation, bound: dict[str, SSAValue], operations: list[Operation]) -> None:
        super().__init__(root, bound, operations)
        self.trace = trace

    def constant(self, name: str) -> Array:
        return self.trace.marked_array(super().constant(name))

    def scalar(self, name: str) -> float | None:
        value = super().scalar(name)
        return None if value is None else self.trace.marked(value)

    def number(self, op: Operation, name: str) -> float:
        return self.trace.marked(super().number(op, name))


class MarkedRule(FusionRule):
    """A rule whose rewrite gets marked numbers."""

    def __init__(self, rule: FusionRule, trace: Trace) -> None:
        vars(self).update(vars(rule))
        self.trace = trace

    def bind(self, op: Operation, bound: dict[str, SSAValue], operations: list[Operation]) -> Match:
        return MarkedMatch(self.trace, op, bound, operations)


class Rewritten(Record):
    """A model before and after a rule, None if the rule declines it."""

    before: ModuleOp
    after: ModuleOp


def rewritten(rule: FusionRule, instance: Instance, trace: Trace) -> Rewritten | None:
    """The model of an instance before and after a rule; None if the rule declines it.

    `trace` has the marked numbers that the rule gets.
    """
    before = instance.module.clone()
    rewriter = Rewriter(instance.root, KnownValues())
    MarkedRule(rule, trace).match_and_rewrite(instance.root, rewriter)
    return Rewritten(before, instance.module) if rewriter.has_done_action else None


class Scenario:
    """An element type, shapes and properties for the models of a pattern."""

    def __init__(self, roles: Roles, element: Attribute, shapes: Shapes, properties: dict[tuple[str, str], Any]) -> None:
        self.roles = roles
        self.element = element
        self.shapes = shapes
        self.properties = properties
        self.names = number_names(roles, shapes)
        self._trace = Trace(values_for(self.names, (), random.Random(SEED)) or {})
        self._alternatives: dict[Term, list[Term]] = {}

    def instance(self, term: Term, trace: Trace) -> Instance | None:
        """The model of a term without choices, with the values of `trace` as its constants.

        Returns None if its operations do not accept the element type or the shapes.
        """
        return instance_of(self.roles, term, self.element, self.shapes, trace.values, self.properties)

    def alternatives(self, term: Term) -> list[Term]:
        """The terms without choices that represent all terms that a pattern with choices admits.

        Alternatives of a choice that are proved equal, for all numbers, are represented by the first one, since equal
        operands of equal operations have equal results.
        """
        kept = self._alternatives.get(term)
        if kept is None:
            kept = list[Term]()
            if isinstance(term, OneOf):
                kept = self._different([each for option in term.terms for each in self.alternatives(option)])
            elif isinstance(term, Expression):
                kept += [with_operands(term, operands) for operands in product(*map(self.alternatives, term.operands))]
            else:
                kept.append(term)
            self._alternatives[term] = kept
        return kept

    def _different(self, terms: Sequence[Term]) -> list[Term]:
        different: list[Term] = []
        blocks: list[Any] = []
        for term in terms:
            instance = self.instance(term, self._trace)
            if instance is None:
                continue
            block = block_of(instance.module)
            if not any(self._is_equal(block, each) for each in blocks):
                different.append(term)
                blocks.append(block)
        return different

    def _is_equal(self, a: Any, b: Any) -> bool:
        return compare(a, b, self._trace.terms, milliseconds=FEW_MILLISECONDS, is_checked=False).answer is Answer.PROVED


class RuleProver:
    """Proves one rule.

    Args:
        rule: the rule.
        status: the status of a rule that is proved for real numbers, too: PROVED if it does not compute with them.
        seconds: the time of the processor after which the proof is given up.
    """

    def __init__(self, rule: FusionRule, status: Status = Status.REALS, seconds: float = 60.0) -> None:
        self.rule = rule
        self.status = status
        self.roles: Roles = roles_of(rule)
        self.deadline = time.process_time() + seconds
        self.counts: Counter[str] = Counter()

    def prove(self) -> Outcome:
        """The outcome: what is proved, or the first model for which it is not."""
        elements: set[Attribute] = set()
        failures: list[Failure] = []
        for element in ELEMENTS:
            for number, (properties, shapes) in enumerate(self._scenarios()):
                if element not in elements and element is not f32 and number >= FEW_SCENARIOS:
                    break
                before = self.counts["obligations"]
                scenario = Scenario(self.roles, element, shapes, properties)
                if element is not f32 and not self._is_rewritten(scenario):
                    continue
                for term in scenario.alternatives(self.rule.term):
                    failures += self._obligations(term, scenario)
                    if any(each.is_refuted for each in failures) or len(failures) >= MOST_FAILURES:
                        return self._failed(failures)
                    if time.process_time() > self.deadline:
                        return self._failed([*failures, Failure("the time is over", None, None, None)])
                if self.counts["obligations"] > before:
                    elements.add(element)
        if failures:
            return self._failed(failures)
        if not self.counts["obligations"]:
            reason = f"{VACUOUS}: it declines all {self.counts['declined']} models of its pattern"
            return self._failed([Failure(reason, None, None, None, is_vacuous=self.counts["declined"] > 0)])
        return Outcome(self.status if f32 in elements else Status.PROVED, self.counts["obligations"], [])

    def _failed(self, failures: list[Failure]) -> Outcome:
        return outcome_with(failures, self.counts["obligations"])

    def _is_rewritten(self, scenario: Scenario) -> bool:
        """Whether the rule rewrites the model in which each choice of its pattern is the first alternative, for at
        least one value of its constants.
        """
        run = partial(self._rewritten, first_of(self.rule.term), scenario)
        return any(path.result is not None for path in paths(scenario.names, run))

    def _scenarios(self) -> Iterator[tuple[dict[tuple[str, str], Any], Shapes]]:
        """The properties and shapes: static ones for a rule of reductions only if it declines dynamic ones."""
        start = self.counts["obligations"]
        yield from product(property_choices(self.roles), shapes_of(self.roles, True))
        if not self.roles.reduces or self.counts["obligations"] == start:
            yield from product(property_choices(self.roles), shapes_of(self.roles, False))

    def _obligations(self, term: Term, scenario: Scenario) -> list[Failure]:
        """The models of a term in a scenario that are not proved equal, one for each set of constants; empty if all
        are.
        """
        try:
            for path in paths(scenario.names, partial(self._rewritten, term, scenario)):
                if path.result is None:
                    self.counts["declined"] += 1
                    continue
                self.counts["obligations"] += 1
                failure = obligation(path.result, path.trace)
                if failure is not None:
                    is_certain = failure.is_refuted or failure.is_vacuous
                    return [failure] if is_certain else [failure, *self._with_other_numbers(term, scenario, failure.reason)]
        except (UnprovableError, LookupError) as error:
            return [Failure(str(error), None, None, None)]
        return []

    def _with_other_numbers(self, term: Term, scenario: Scenario, reason: str) -> Iterator[Failure]:
        """Failures with models of a term whose constants are likely to show what is wrong: whole, halves, of either
        sign.

        Yields those that the rule rewrites, each with `reason`.
        """
        for start in range(len(LIKELY_NUMBERS)) if scenario.names else ():
            values = {name: LIKELY_NUMBERS[(start + number) % len(LIKELY_NUMBERS)] for number, name in enumerate(scenario.names)}
            pair = self._rewritten(term, scenario, Trace(values))
            if pair is not None:
                yield Failure(reason, pair.before, pair.after, None)

    def _rewritten(self, term: Term, scenario: Scenario, trace: Trace) -> Rewritten | None:
        instance = scenario.instance(term, trace)
        if instance is None:
            return None
        try:
            return rewritten(self.rule, instance, trace)
        except (VerifyException, InferenceError, ValueError) as error:
            raise UnprovableError(str(error)) from error


def first_of(term: Term) -> Term:
    """A term with the first alternative of each choice."""
    if isinstance(term, OneOf):
        return first_of(term.terms[0])
    return with_operands(term, tuple(map(first_of, term.operands))) if isinstance(term, Expression) else term


def obligation(pair: Rewritten, trace: Trace) -> Failure | None:
    """The failure of a model before and after a rule that are not proved equal under the conditions of `trace`; else
    None.
    """
    verdict = compare(block_of(pair.before), block_of(pair.after), trace.terms, trace.conditions)
    if verdict.answer is Answer.PROVED:
        return None
    return failure_of(verdict, pair.before, pair.after)
