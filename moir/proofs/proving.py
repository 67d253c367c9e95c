"""The proofs of the rules of a pass, and the committed table of the proofs of all passes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from moir.pipeline.pass_index import PASS_MODULES
from moir.proofs.families import BOUNDED, family_of
from moir.proofs.graph_proofs import GraphProof, models_of, outcome_of, patterns_of, prove_graph
from moir.proofs.outcomes import Outcome, Status
from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

FOLDERS = ("moir.passes.canonicalize.", "moir.passes.fold.", "moir.passes.fuse.", "moir.passes.layout.")
"""The packages of the passes that must not change the meaning of a model."""

EXACT = frozenset(
    (
        *("TransposeOfTranspose", "UnitTranspose", "InsertedAndRemoved", "ReshapeOfReshape", "ResizedReshape", "GatherOfInsertedDimension"),
        *("UnsqueezedBroadcast", "ConcatOfConcats", "SliceOfSlice", "PartsOfWhole", "ElementOfSlice", "ElementOfConcat", "DecidedSelect"),
        *("NegativeNumber", "PositiveRemainder", "NeedlessLimit", "ConstantSelect", "WrappedIndex", "WrappedRange", "TruthAnyway"),
        *(
            "SplitAndMerged",
            "BlocksToSpace",
            "SpaceToBlocks",
            "ShuffledChannels",
            "deduplicate",
            "eliminate-dead",
            "simplify-shape-of",
            "FlattenedTranspose",
        ),
        *("ComparedPositions", "RedundantBroadcast", "ConstantTarget", "UnsqueezedScalar", "ConcatOfElements"),
    )
)
"""Patterns that only move elements, or compute integers and truth values: their proofs hold for floats, too."""


class RuleProof(Record):
    """The proof of a rule of a pass.

    Args:
        name: the pass.
        rule: the expression of a fusion rule, the class of a pattern, or the pass.
        outcome: its outcome.
        seconds: the duration of the proof.
    """

    name: str
    rule: str
    outcome: Outcome
    seconds: float


def passes_to_prove() -> list[str]:
    """The names of the passes of FOLDERS, in order."""
    return [name for name, module in PASS_MODULES.items() if module.startswith(FOLDERS)]


def prove_pass(name: str, graphs: Sequence[ModuleOp] = ()) -> Iterator[RuleProof]:
    """The proofs of the rules of a pass.

    Args:
        name: the pass.
        graphs: modules with graphs of its patterns. A pattern without a family is checked on those of them that it
            changes.
    """
    bounded: list[GraphProof] | None = None
    for pattern, rule in patterns_of(name).items():
        start = time.process_time()
        family = family_of(name, pattern)
        exact = Status.PROVED if pattern in EXACT else Status.REALS
        if family is not None:
            is_bounded = (name, pattern) in BOUNDED
            answers = (prove_graph(name, each, each_element=is_bounded) for each in family())
            outcome = outcome_of(changed_by(name, pattern, answers), Status.BOUNDED if is_bounded else exact)
        elif rule is not None:
            from moir.proofs.rule_proofs import RuleProver

            outcome = RuleProver(rule, exact).prove()
        else:
            if bounded is None:
                bounded = list(prove_graphs(name, graphs))
            outcome = bounded_outcome(name, pattern, bounded)
        yield RuleProof(name, pattern, outcome, time.process_time() - start)


def prove_on_graphs(name: str, graphs: Sequence[ModuleOp]) -> Iterator[RuleProof]:
    """The proofs, on graphs that a user has, of rules that `prove_pass` proves without these: fusion rules, and
    patterns with a family. Rules that change none of the graphs are left out.

    Args:
        name: the pass.
        graphs: modules with graphs of its patterns.
    """
    rules = [each for each, rule in patterns_of(name).items() if rule is not None or family_of(name, each) is not None]
    start = time.process_time()
    proofs = list(prove_graphs(name, graphs)) if rules else []
    for rule in rules:
        outcome = outcome_of(changed_by(name, rule, proofs), Status.BOUNDED)
        if outcome.obligations:
            yield RuleProof(name, f"{rule} on your graphs", outcome, time.process_time() - start)
            start = time.process_time()


def changed_by(name: str, pattern: str, proofs: Iterable[GraphProof]) -> Iterator[GraphProof]:
    """The proofs of graphs that a pattern changes; all of them if the pattern has the name of the pass."""
    return (each for each in proofs if pattern in each.patterns or pattern == name)


def prove_graphs(name: str, graphs: Iterable[ModuleOp]) -> Iterator[GraphProof]:
    """Apply a pass to each graph of some modules, and prove that it computes the same; graphs that the pass does not
    change are left out.
    """
    for module in graphs:
        for model in models_of(module):
            proof = prove_graph(name, model)
            if proof.patterns:
                yield proof


def bounded_outcome(name: str, pattern: str, proofs: Iterable[GraphProof]) -> Outcome:
    """The status of a pattern by the proofs of graphs: bounded if all graphs that the pattern changes are proved.

    Tested if the pattern changes no graph, or if proofs have no semantics for an operation of such a graph.
    """
    outcome = outcome_of(changed_by(name, pattern, proofs), Status.BOUNDED)
    return outcome if outcome.status is not Status.OPEN else Outcome(Status.TESTED, outcome.obligations, outcome.failures)
