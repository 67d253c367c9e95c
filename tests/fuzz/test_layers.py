"""Random networks of MXNet and Caffe of a fixed seed: none is a defect but those that are known."""

from __future__ import annotations

from tests.fuzz.known_defects import KNOWN_LAYER_DEFECTS, LAYER_COUNT, SEED
from tests.fuzz.runner import GENERATOR_FAILED, LAYER_GENERATORS, run, tickets
from tests.numerical.outcomes import DEFECTS, Outcome


def test_no_network_is_a_defect_but_those_known() -> None:
    reports = list(run(tickets(SEED, LAYER_COUNT, tuple(LAYER_GENERATORS))))
    failed = [report for report in reports if report.judgement.message.startswith(GENERATOR_FAILED)]
    defects = {report.ticket.number: report for report in reports if report.judgement.outcome in DEFECTS}
    unknown = [report for number, report in defects.items() if number not in KNOWN_LAYER_DEFECTS]
    assert not failed + unknown, "\n".join(f"{each.ticket.command()}: {each.judgement.message}" for each in failed + unknown)
    # Whoever mends one takes its line out of the list.
    assert {number: defects[number].subject if number in defects else "" for number in KNOWN_LAYER_DEFECTS} == {
        number: subject for number, (subject, _) in KNOWN_LAYER_DEFECTS.items()
    }
    equal = [report for report in reports if report.judgement.outcome == Outcome.EQUAL]
    assert len(equal) > 0.9 * LAYER_COUNT
