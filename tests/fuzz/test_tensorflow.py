"""Random graphs of TensorFlow of a fixed seed: none is a defect but those that are known."""

from __future__ import annotations

from tests.fuzz.runner import GENERATOR_FAILED, TENSORFLOW_GENERATORS, run, tickets
from tests.numerical.outcomes import DEFECTS

SEED, COUNT = 11, 100


def test_no_graph_is_a_defect() -> None:
    reports = list(run(tickets(SEED, COUNT, tuple(TENSORFLOW_GENERATORS))))
    failed = [report for report in reports if report.judgement.message.startswith(GENERATOR_FAILED)]
    defects = [report for report in reports if report.judgement.outcome in DEFECTS]
    assert not failed + defects, "\n".join(f"{each.ticket.command()}: {each.judgement.message}" for each in failed + defects)
