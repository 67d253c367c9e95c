"""Proofs of passes on single graphs: a pass is applied to a model, which is evaluated before and after it.

Inputs may have any values, and dynamic dimensions any sizes; what is static in the graph stays so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.moir import ModelOp
from moir.pipeline import load_pass
from moir.proofs.equivalence import Comparison, compare
from moir.proofs.families import FAMILIES
from moir.proofs.outcomes import Failure, Outcome, Status, outcome_with
from moir.proofs.solver import Answer
from moir.rewriting.events import RewriteEvent, traced
from moir.rewriting.rules import FusionRule, RulePass
from moir.support.records import Record

LEAST_SIZES = {"simplify-reshape": 1, "cancel-reshapes": 1}
"""The smallest size of dynamic dimensions for passes whose documentation excludes empty data, since a -1 in the target
of a Reshape is ambiguous for them.
"""


class GraphProof(Record):
    """The proof for one graph.

    Args:
        patterns: the patterns that were applied; empty if the pass did not change the graph.
        before: the graph.
        after: the graph after the pass.
        comparison: whether both have equal results.
    """

    patterns: tuple[str, ...]
    before: ModuleOp
    after: ModuleOp
    comparison: Comparison


def models_of(module: ModuleOp) -> Iterator[ModuleOp]:
    """The models of a module, each in a module of its own."""
    for op in module.body.block.ops:
        if isinstance(op, ModelOp):
            yield ModuleOp([op.clone()])


def block_of(module: ModuleOp) -> Any:
    """The block of the only model of a module."""
    return cast(ModelOp, next(iter(module.body.block.ops))).block


def is_changed(before: ModuleOp, after: ModuleOp) -> bool:
    """Whether two modules differ in their operations, or in the types of values."""
    if not before.is_structurally_equivalent(after):
        return True
    return any(
        [a.type for a in one.results] != [b.type for b in other.results] for one, other in zip(before.walk(), after.walk(), strict=True)
    )


def apply_pass(name: str, before: ModuleOp) -> tuple[tuple[str, ...], ModuleOp]:
    """Apply a pass to a copy of a graph.

    Returns the names of the patterns that were applied, and the graph after it. The names are that of the pass if it
    does not report patterns, none if it changed nothing.
    """
    from moir.dialects.context import MoirContext

    after = before.clone()
    events: list[RewriteEvent] = []
    instance = load_pass(name)()
    with traced(events.append, has_texts=False), np.errstate(all="ignore"):
        instance.apply(MoirContext(), after)
    patterns = tuple(dict.fromkeys(each.pattern for each in events if each.reason is None))
    if not patterns and is_changed(before, after):
        patterns = (name,)  # Not all passes report what they do.
    return patterns, after


def prove_graph(name: str, before: ModuleOp, *, each_element: bool = False) -> GraphProof:
    """Apply a pass to a graph, and prove that the graph computes the same after it.

    Args:
        name: the name of the pass.
        before: the graph.
        each_element: whether the elements of results of static shape are compared one by one.

    Returns the graphs before and after, the result of the proof, and the names of the patterns, as `apply_pass` does.
    """
    patterns, after = apply_pass(name, before)
    if not patterns:
        return GraphProof((), before, after, Comparison(Answer.PROVED))
    comparison = compare(block_of(before), block_of(after), least=LEAST_SIZES.get(name, 0), each_element=each_element)
    return GraphProof(patterns, before, after, comparison)


def failure_of(comparison: Comparison, before: ModuleOp, after: ModuleOp) -> Failure:
    """The failure record of a comparison whose answer is not "proved", with the models before and after."""
    answer = comparison.answer
    return Failure(comparison.reason, before, after, comparison.values, answer is Answer.REFUTED, answer is Answer.VACUOUS)


def outcome_of(proofs: Iterable[GraphProof], status: Status) -> Outcome:
    """The outcome of the proofs of one pattern: `status` if all graphs that it changed are proved, else that of the
    failures.

    Graphs to which no pattern was applied do not count.
    """
    count, failures = 0, list[Failure]()
    for each in proofs:
        if not each.patterns:
            continue
        count += 1
        if each.comparison.answer is not Answer.PROVED:
            failures.append(failure_of(each.comparison, each.before, each.after))
    if failures:
        return outcome_with(failures, count)
    return Outcome(status if count else Status.OPEN, count, [])


def patterns_of(name: str) -> dict[str, FusionRule | None]:
    """The patterns that a pass has by their names, or those with a family of graphs; the pass itself if it has none.

    The value is the rule of a pattern that is a fusion rule, and None of one that is written by hand.
    """
    kind: Any = load_pass(name)
    if issubclass(kind, RulePass) and kind.RULES:
        return {str(rule): rule for rule in kind.RULES}
    patterns: Any = getattr(kind, "PATTERNS", ())
    with_families = tuple(pattern for each, pattern in FAMILIES if each == name)
    named = {str(each): each for each in patterns if isinstance(each, FusionRule)}
    names = tuple(str(each) if isinstance(each, FusionRule) else each.__name__ for each in patterns) or with_families or (name,)
    return {each: named.get(each) for each in names}
