"""`moir prove --graphs`: also rules that have graphs of their own, and fusion rules, are proved on the graphs of a user."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("z3")

from moir.proofs.outcomes import Status
from moir.proofs.proving import prove_on_graphs
from moir.tools.commands.prove import main, read_graphs

LIT_TESTS = Path(__file__).parents[2] / "filecheck" / "passes"


def test_a_pattern_with_a_family_is_proved_on_other_graphs_too() -> None:
    graphs = list(read_graphs(LIT_TESTS / "canonicalize" / "cancel-transposes.mlir"))
    proofs = {each.rule: each.outcome for each in prove_on_graphs("cancel-transposes", graphs)}
    assert list(proofs) == ["TransposeOfTranspose on your graphs", "SplitAndMerged on your graphs"]
    assert all(each.status is Status.BOUNDED and each.obligations for each in proofs.values())


def test_the_command_says_which_rules_change_the_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    graphs = str(LIT_TESTS / "fold" / "fold-negations.mlir")
    assert main(["fold-negations", "--graphs", graphs]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "fold-negations: bounded: Subtract(x, Negative(y)) on your graphs" in [each.split(" (")[0] for each in lines]
    assert main(["reshape-unit-transposes", "--graphs", graphs]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "reshape-unit-transposes: note: the pass changes none of the graphs of --graphs"
