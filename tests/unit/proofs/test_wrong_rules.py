"""Rules that are wrong on purpose: each is refuted by a model that runs, on OpenVINO Runtime's definitions or moir's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3")

from moir.execution.evaluation import EvaluationRunner
from moir.proofs.counterexamples import counterexample
from moir.proofs.proving import RuleProof
from moir.proofs.rule_proofs import RuleProver
from moir.rewriting.rules import FusionRule
from moir.tools.commands import prove
from moir.tools.commands.prove import read_graphs


def _operand(_: Any, match: Any) -> Any:
    return match["x"]


def _doubled_sum(op: Any, match: Any) -> Any:
    if not match.is_real("x"):
        return None
    return op.Multiply(op.ReduceSum(match["x"], match["axes"], keep_dims=match.operation("ReduceSum").flag("keep_dims")), 2)


def _relu_of_positive(op: Any, match: Any) -> Any:
    slope = match.scalar("slope")
    return None if slope is None or not match.is_real("x") else op.PRelu(match["x"], op.constant_like([slope], match["x"]))


def _clamp_without_order(op: Any, match: Any) -> Any:
    low, high = match.scalar("low"), match.scalar("high")
    if low is None or high is None or not match.is_real("x") or not low < high:
        return None
    return op.Clamp(match["x"], min=low, max=high + 1)


def _positive_eps(op: Any, match: Any) -> Any:
    eps = match.scalar("eps")
    if eps is None or not match.is_real("x") or not eps > 0:
        return None
    return op.NormalizeL2(match["x"], match["axes"], eps=eps, eps_mode="max")


def _where_real(op: Any, match: Any, build: Any) -> Any:
    return build(op, match["x"]) if match.is_real("x") else None


def _quotient(op: Any, x: Any) -> Any:
    return op.Subtract(op.Divide(x, x), 1)


def _squared_root(op: Any, x: Any) -> Any:
    return op.Multiply(op.Sqrt(x), op.Sqrt(x))


def _cube(op: Any, match: Any) -> Any:
    return op.Power(op.Abs(match["x"]), match["p"]) if match.is_real("x") else None


def _scaled_maximum(op: Any, match: Any) -> Any:
    if match.scalar("s") is None or not match.is_real("x"):
        return None
    return op.Multiply(op.ReduceMax(match["x"], match["axes"], keep_dims=True), match["s"])


WRONG = {
    "division by 0": FusionRule(lambda op, x: op.Subtract(x, x), lambda op, match: _where_real(op, match, _quotient)),
    "root of a negative number": FusionRule(lambda op, x: op.Multiply(x, 1), lambda op, match: _where_real(op, match, _squared_root)),
    "logarithm of a negative number": FusionRule(
        lambda op, x: op.Multiply(x, 1), lambda op, match: _where_real(op, match, lambda op, x: op.Exp(op.Log(x)))
    ),
    "power of a negative number": FusionRule(
        lambda op, x: op.Multiply(x, 1), lambda op, match: _where_real(op, match, lambda op, x: op.Power(op.Power(x, 0.5), 2.0))
    ),
    "lost condition of a division": FusionRule(
        lambda op, x, y: op.Select(op.NotEqual(y, 0), op.Divide(x, y), 0),
        lambda op, match: op.Divide(match["x"], match["y"]) if match.is_real("x") else None,
    ),
    "lost condition of a root": FusionRule(lambda op, x: op.Select(op.Greater(x, 0), op.Sqrt(x), 0), lambda op, match: op.Sqrt(match["x"])),
    "truth values": FusionRule(lambda op, x, y: op.LogicalAnd(x, y), lambda op, match: op.LogicalOr(match["x"], match["y"])),
    "negation": FusionRule(lambda op, x: op.LogicalNot(op.LogicalNot(x)), lambda op, match: op.LogicalNot(match["x"])),
    "odd exponent": FusionRule(lambda op, x: op.Power(x, op.constant("p")), _cube),
    "negative factor": FusionRule(
        lambda op, x, axes: op.ReduceMax(op.Multiply(x, op.constant("s")), axes, keep_dims=True), _scaled_maximum
    ),
    "scale of a softmax": FusionRule(
        lambda op, x: op.Softmax(op.Multiply(x, 2.0), axis=-1), lambda op, match: op.Softmax(match["x"], axis=-1)
    ),
    "minimum of negatives": FusionRule(
        lambda op, x, y: op.Negative(op.Maximum(x, y)), lambda op, match: op.Minimum(op.Negative(match["x"]), op.Negative(match["y"]))
    ),
    "first element": FusionRule(
        lambda op, x: op.Multiply(x, op.constant("c")),
        lambda op, match: op.Multiply(match["x"], float(np.ravel(match.constant("c"))[0])) if match.is_real("x") else None,
    ),
    "sign": FusionRule(lambda op, x, y: op.Add(op.Negative(x), y), lambda op, match: op.Subtract(match["x"], match["y"])),
    "order of operands": FusionRule(
        lambda op, x: op.Subtract(x, op.Sigmoid(x)), lambda op, match: op.Subtract(op.Sigmoid(match["x"]), match["x"])
    ),
    "broadcast": FusionRule(lambda op, x, y: op.Subtract(op.Add(x, y), y), _operand),
    "overflow": FusionRule(lambda op, x: op.Greater(op.Add(x, 1), x), lambda op, match: op.Equal(match["x"], match["x"])),
    "axis": FusionRule(
        lambda op, x: op.Divide(op.Exp(x), op.ReduceSum(op.Exp(x), op.constant("axis"), keep_dims=True)),
        lambda op, match: op.Softmax(match["x"], axis=0),
    ),
    "lost condition on a slope": FusionRule(lambda op, x: op.Maximum(x, op.Multiply(x, op.constant("slope"))), _relu_of_positive),
    "limit": FusionRule(lambda op, x: op.Minimum(op.Maximum(x, op.constant("low")), op.constant("high")), _clamp_without_order),
    "factor": FusionRule(
        lambda op, x: op.Multiply(op.Clamp(op.Add(x, 3), min=0.0, max=6.0), 1 / 3), lambda op, match: op.HSigmoid(match["x"])
    ),
    "mode": FusionRule(
        lambda op, x: op.Divide(
            x, op.Sqrt(op.Add(op.ReduceSum(op.Multiply(x, x), op.constant("axes"), keep_dims=True), op.constant("eps")))
        ),
        _positive_eps,
    ),
    "comparison": FusionRule(lambda op, x, y: op.LogicalNot(op.Less(x, y)), lambda op, match: op.Greater(match["x"], match["y"])),
    "alternative": FusionRule(
        lambda op, x: op.Add(op.Relu(x), op.one_of(op.Minimum(x, 0), op.Maximum(x, 0))), lambda op, match: op.Multiply(match["x"], 1.0)
    ),
    "rounding": FusionRule(lambda op, x: op.Divide(op.Multiply(x, 3), 3), _operand),
}
"""Rules by what is wrong with them."""


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rule_is_refuted_by_a_model_that_runs(name: str, tmp_path: Path) -> None:
    outcome = RuleProver(WRONG[name]).prove()
    assert outcome.failures, f"{outcome.status} after {outcome.obligations} equations"
    models = (counterexample(each) for each in outcome.failures)
    model = next((each for each in models if each is not None), None)
    assert model is not None
    path = tmp_path / "counterexample.mlir"
    path.write_text(str(model))
    (parsed,) = read_graphs(path)
    with np.errstate(all="ignore"):
        results = EvaluationRunner(parsed, alone=False).run({})
    before, after = results["before"], results["after"]
    assert before.shape != after.shape or not np.allclose(before, after, equal_nan=True)


def test_the_command_writes_a_counterexample_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = RuleProof("fuse-clamp", "rounding", RuleProver(WRONG["rounding"]).prove(), 0.0)
    monkeypatch.setattr(prove, "_proofs", lambda *_: [proof])
    path = tmp_path / "counterexample.mlir"
    assert prove.main(["fuse-clamp", "-o", str(path)]) == 1
    (parsed,) = read_graphs(path)
    assert EvaluationRunner(parsed, alone=False).run({}).keys() == {"before", "after"}


RIGHT = {
    "same divisor": FusionRule(
        lambda op, x, y: op.Multiply(op.Divide(x, y), 2),
        lambda op, match: op.Divide(op.Multiply(match["x"], 2), match["y"]) if match.is_real("x") else None,
    ),
    "same condition": FusionRule(
        lambda op, x, y: op.Select(op.NotEqual(y, 0), op.Divide(x, y), 0),
        lambda op, match: (
            op.Select(op.NotEqual(match["y"], 0), op.Negative(op.Divide(op.Negative(match["x"]), match["y"])), 0)
            if match.is_real("x")
            else None
        ),
    ),
    "truth values": FusionRule(
        lambda op, x, y: op.LogicalNot(op.LogicalAnd(x, y)),
        lambda op, match: op.LogicalOr(op.LogicalNot(match["x"]), op.LogicalNot(match["y"])),
    ),
    "order of a sum": FusionRule(lambda op, x, y: op.Add(op.Negative(x), y), lambda op, match: op.Subtract(match["y"], match["x"])),
    "integers": FusionRule(lambda op, x: op.Subtract(op.Add(x, 1), 1), _operand),
    "comparison": FusionRule(lambda op, x, y: op.LogicalNot(op.Less(x, y)), lambda op, match: op.GreaterEqual(match["x"], match["y"])),
    "sum": FusionRule(
        lambda op, x, axes: op.ReduceSum(op.Multiply(x, 2), axes),
        _doubled_sum,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_rule_is_proved(name: str) -> None:
    outcome = RuleProver(RIGHT[name]).prove()
    assert not outcome.failures, outcome.failures[0].reason
    assert outcome.obligations > 3


def test_prelu_of_a_scalar_is_a_scalar() -> None:
    from moir.proofs.families.graph import Graph

    graph = Graph()
    module = graph.module(graph.op.PRelu(graph.input(()), graph.op.constant(np.array([0.5], np.float32))))
    (result,) = EvaluationRunner(module, alone=False).run({"x0": np.array(-2.0, np.float32)}).values()
    assert result.shape == ()
    assert result == -1.0


def test_a_pass_that_changes_types_alone_changes_a_graph() -> None:
    from moir.dialects.element_types import f32
    from moir.dialects.inference import set_type
    from moir.dialects.shapes import tensor
    from moir.proofs.families.graph import Graph
    from moir.proofs.graph_proofs import block_of, is_changed

    graph = Graph()
    module = graph.module(graph.op.Relu(graph.input((2, 3))))
    other = module.clone()
    assert not is_changed(module, other)
    relu = list(block_of(other).ops)[1]
    set_type(relu.results[0], tensor((-1, 3), f32))
    assert is_changed(module, other)
