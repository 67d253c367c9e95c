"""The bounded checks: their graphs are small, their passes change some of them, and a wrong pass is refuted by them."""

from __future__ import annotations

from itertools import islice
from typing import Any, cast

import pytest

pytest.importorskip("z3")

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import shape_of
from moir.passes.fold import fold_scales
from moir.proofs.counterexamples import counterexample
from moir.proofs.families import BOUNDED, FAMILIES, family_of
from moir.proofs.families.folded_constants import scales_after
from moir.proofs.graph_proofs import outcome_of, patterns_of, prove_graph
from moir.proofs.outcomes import Status
from moir.proofs.solver import Answer

FEW = 3
"""How many graphs are checked by a wrong pass."""


def _operations(module: ModuleOp) -> list[Operation]:
    return [op for model in module.body.block.ops for op in cast(ModelOp, model).block.ops]


@pytest.mark.parametrize(("name", "pattern"), BOUNDED)
def test_the_first_graph_that_changes_is_proved(name: str, pattern: str) -> None:
    assert (name, pattern) not in FAMILIES
    assert pattern in patterns_of(name)
    family = family_of(name, pattern)
    assert family is not None
    answers = (prove_graph(name, module, each_element=True) for module in family())
    changed = next(each for each in answers if pattern in each.patterns or (each.patterns and pattern == name))
    assert changed.comparison.answer is Answer.PROVED, changed.comparison.reason
    shapes = [shape_of(op.results[0]) for op in _operations(changed.before) if isinstance(op, Parameter)]
    assert all(shape is not None and len(shape) <= 5 for shape in shapes)


def test_wrong_factors_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_term(_function: Any, a: Any, _b: Any, _value: Any) -> Any:
        return a

    monkeypatch.setattr(fold_scales, "combined", without_term)
    graphs = (module for module in scales_after() if any(op.name == "opset1.Add" for op in _operations(module)))
    proofs = [prove_graph("fold-scales", module, each_element=True) for module in islice(graphs, FEW)]
    outcome = outcome_of(proofs, Status.BOUNDED)
    assert outcome.status is not Status.BOUNDED
    assert counterexample(outcome.failures[0]) is not None
