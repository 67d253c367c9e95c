"""Random cases of a fixed seed: none is a defect but those that are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz import __main__ as command
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.known_defects import COUNT, KNOWN_DEFECTS, SEED
from tests.fuzz.nodes import names
from tests.fuzz.runner import GENERATOR_FAILED, GENERATORS, Report, Ticket, drawn, run, tickets
from tests.numerical.outcomes import DEFECTS, Judgement, Outcome


@pytest.fixture(scope="module")
def reports() -> Mapping[int, Report]:
    return {report.ticket.number: report for report in run(tickets(SEED, COUNT))}


def told(report: Report) -> str:
    return f"{report.ticket.command()}: {report.subject}: {report.judgement.outcome}: {report.judgement.message}"


def test_the_defects_are_those_known(reports: Mapping[int, Report]) -> None:
    """None but those in the list, and of those in the list none is mended."""
    actual = {number: each for number, each in reports.items() if each.judgement.outcome in DEFECTS}
    assert not [told(each) for number, each in actual.items() if number not in KNOWN_DEFECTS]
    assert {number: actual[number].subject if number in actual else "mended: take it out" for number in KNOWN_DEFECTS} == {
        number: subject for number, (subject, _) in KNOWN_DEFECTS.items()
    }


def test_most_draws_are_cases(reports: Mapping[int, Report]) -> None:
    """No generator fails, and the references compute nearly everything that is drawn."""
    unused = [report.judgement.message for report in reports.values() if report.judgement.outcome == Outcome.INAPPLICABLE]
    assert not [message for message in unused if message.startswith(GENERATOR_FAILED)]
    assert len(unused) < COUNT / 50


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_case_is_drawn_again(kind: str) -> None:
    """Seed and number say which case it is."""
    (first, _, expected), (second, _, again) = (drawn(Ticket(5, 3, (kind,)), lambda _: None) for _ in range(2))
    assert first.source.describe() == second.source.describe()
    assert first.subject == second.subject
    for left, right in zip([*first.inputs.values(), *expected], [*second.inputs.values(), *again], strict=True):
        np.testing.assert_array_equal(left, right)


def test_another_operation_changes_only_its_own_cases() -> None:
    every = names("*")
    fewer = [name for name in every if name != "Add"]
    assert len(every) > 150
    for number in range(300):
        chosen = Draw(1, number).subject(every)
        assert Draw(1, number).subject(fewer) == chosen or chosen == "Add"
    with pytest.raises(NoCase, match="nothing of that name"):
        Draw(1, 0).subject(names("NoSuch*"))


def report(number: int, outcome: Outcome, message: str = "") -> Report:
    return Report(Ticket(7, number, only="Re*"), "Relu", Judgement(outcome, message), "y = Relu(x)", "onnxruntime")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    actual = [report(1, Outcome.EQUAL), report(0, Outcome.WRONG, "y differs"), report(2, Outcome.INAPPLICABLE), report(3, Outcome.REFUSED)]
    monkeypatch.setattr(command, "run", lambda *_, **__: actual)
    assert command.main(["--seed", "7", "--count", "4", "--only", "Re*", "--json", str(tmp_path / "found.json")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["Relu: wrong (1)", "    y differs", "    python -m tests.fuzz --seed 7 --case 0 --only 'Re*'"]
    assert lines[3] == "refused: Relu 1"
    assert lines[-1] == "1 draws were no cases: no reference computes them"
    written = json.loads((tmp_path / "found.json").read_text())
    assert list(written["cases"]) == ["0", "1", "2", "3"]
    assert written["cases"]["0"]["outcome"] == "wrong"
    actual[:] = [report(1, Outcome.EQUAL)]
    assert command.main(["--case", "1"]) == 0
    with pytest.raises(SystemExit):
        command.main(["--kinds", "others"])


def test_a_defect_is_kept(tmp_path: Path) -> None:
    """Model, inputs and expected results of a case that is a defect, and of no other."""
    (actual,) = run([Ticket(SEED, min(KNOWN_DEFECTS, default=0), folder=tmp_path)], workers=1)
    kept = tmp_path / str(actual.ticket.number)
    assert kept.exists() == (actual.judgement.outcome in DEFECTS)
    if kept.exists():
        assert {"case.txt", "model.onnx", "values.npz"} <= {path.name for path in kept.iterdir()}
