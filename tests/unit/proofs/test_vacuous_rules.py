"""Rules whose conditions admit no model: an equation with such a model says nothing, so that it counts as an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

from moir.proofs import families
from moir.proofs.outcomes import Status
from moir.proofs.rule_proofs import RuleProver
from moir.rewriting.rules import FusionRule
from moir.tools.commands.prove import main


def _clamp_within_contradictory_limits(op: Any, match: Any) -> Any:
    low, high = match.scalar("low"), match.scalar("high")
    if low is None or high is None or not match.is_real("x") or not (low < high and high < low):
        return None
    return op.Clamp(match["x"], min=low, max=high)


def _real(build: Any) -> Any:
    return lambda op, match: build(op, match["x"]) if match.is_real("x") else None


VACUOUS = {
    "contradictory condition": FusionRule(
        lambda op, x: op.Minimum(op.Maximum(x, op.constant("low")), op.constant("high")), _clamp_within_contradictory_limits
    ),
    "divisor of 0": FusionRule(lambda op, x: op.Divide(x, op.Subtract(x, x)), _real(lambda op, x: op.Negative(x))),
    "logarithm of a negative number": FusionRule(lambda op, x: op.Log(op.Negative(op.Abs(x))), _real(lambda op, x: op.Exp(x))),
}
"""Wrong rules that no input refutes: they rewrite no model, or models that are never defined."""


@pytest.mark.parametrize("name", VACUOUS)
def test_rule_whose_conditions_admit_no_model_is_an_error(name: str) -> None:
    outcome = RuleProver(VACUOUS[name]).prove()
    assert outcome.status is Status.VACUOUS
    assert outcome.failures[0].reason.startswith("its conditions admit no model")


GRAPH = """
builtin.module {
  moir.model @never_defined {
    %0 = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %1 = opset1.Subtract(%0, %0) : tensor<2x3xf32>
    %2 = opset1.Divide(%0, %1) : tensor<2x3xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %4 = opset1.Add(%2, %3) : tensor<2x3xf32>
    %5 = opset1.Add(%4, %3) : tensor<2x3xf32>
    opset1.Result(%5) {name = "y"}
  }
}
"""


def test_prove_ends_with_1_for_a_graph_that_is_never_defined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(families, "BOUNDED", {})
    path = tmp_path / "graph.mlir"
    path.write_text(GRAPH)
    assert main(["fold-scales", "--graphs", str(path)]) == 1
    assert "fold-scales: says nothing: TwoConstants" in capsys.readouterr().out


def test_prove_says_how_to_check_a_pattern_without_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuse-recurrent-cells"]) == 0
    printed = capsys.readouterr().out
    assert "fuse-recurrent-cells: tested" in printed
    assert "--graphs FILE checks it" in printed
