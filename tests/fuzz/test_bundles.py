"""Several models as one: names, results of the parts, and what is judged again alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tests.fuzz.draw import Array
from tests.fuzz.fusions import search
from tests.fuzz.fusions.bundles import LARGEST_BUNDLE, alike, bundle
from tests.fuzz.fusions.execution import Switches
from tests.fuzz.fusions.judging import Conversion, Model, Verdict, model_of_onnx, results_of
from tests.fuzz.fusions.search import Item, run
from tests.numerical.outcomes import Judgement, Outcome

SEED = 6


def model(kind: str, size: int) -> Model:
    """A model of one operation whose input has a symbolic dimension."""
    declared = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n"])]
    graph = helper.make_graph([helper.make_node(kind, ["x"], ["y"])], "case", declared, [helper.make_empty_tensor_value_info("y")])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model_of_onnx(proto, {"x": np.linspace(-1, 1, size, dtype=np.float32)})


def with_branches() -> Model:
    """A model whose bodies read a value and a constant of the graph."""
    then, otherwise = (
        helper.make_graph([helper.make_node(kind, ["x", "c"], ["r"])], kind, [], [helper.make_empty_tensor_value_info("r")])
        for kind in ("Add", "Mul")
    )
    declared = [
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2]),
        helper.make_tensor_value_info("b", onnx.TensorProto.BOOL, []),
    ]
    node = helper.make_node("If", ["b"], ["y"], then_branch=then, else_branch=otherwise)
    constant = numpy_helper.from_array(np.array([2, 3], np.float32), "c")
    graph = helper.make_graph([node], "case", declared, [helper.make_empty_tensor_value_info("y")], [constant])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model_of_onnx(proto, {"x": np.array([1, 2], np.float32), "b": np.array(False)})


def test_parts_keep_their_sizes_and_results() -> None:
    together = bundle([model("Relu", 3), with_branches(), model("Neg", 5)])
    assert [value.name for value in together.whole.proto.graph.input] == ["g0_x", "g1_x", "g1_b", "g2_x"]
    results = results_of(together.whole, Conversion(), Switches())
    assert results is not None
    assert not together.differing(results)
    assert [each[0].shape for each in together.results_of_parts(results)] == [(3,), (2,), (5,)]
    assert together.differing([results[0], results[1] + 1, results[2]]) == [1]


def test_only_models_of_the_same_switches_are_bundled() -> None:
    models = [(index, model("Relu", 2), "AVX2" if index % 2 else "") for index in range(2 * LARGEST_BUNDLE + 2)]
    groups = sorted(alike(models))
    assert sorted(index for group in groups for index in group) == list(range(len(models)))
    assert all(len({index % 2 for index in group}) == 1 and len(group) <= LARGEST_BUNDLE for group in groups)


def test_a_model_that_differs_is_judged_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the whole model does not run: then both halves are judged."""
    cases = [
        (Item("networks", SEED, number, reduces=False), kind, model(kind, 3), Switches())
        for number, kind in enumerate(("Relu", "Neg", "Abs"))
    ]
    alone: list[str] = []

    def judge(part: Model, *_: object) -> Verdict:
        (kind,) = (node.op_type for node in part.proto.graph.node)
        alone.append(kind)
        return Verdict(Judgement(Outcome.CRASH if kind == "Neg" else Outcome.EQUAL))

    def compute(part: Model, *_: object) -> Sequence[Array] | None:
        return None if any(node.op_type == "Neg" for node in part.proto.graph.node) else part.expected

    monkeypatch.setattr(search, "judged", judge)
    monkeypatch.setattr(search, "results_of", compute)
    findings = search.judged_together(cases, lambda _: None)
    assert [(each.subject, each.judgement.outcome) for each in findings] == [
        ("Relu", Outcome.EQUAL),
        ("Neg", Outcome.CRASH),
        ("Abs", Outcome.EQUAL),
    ]
    assert "Neg" in alone


def test_what_no_part_shows_is_reported_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(Item("networks", SEED, number, reduces=False), "Relu", model("Relu", 3), Switches()) for number in range(2)]

    def judge(part: Model, *_: object) -> Verdict:
        return Verdict(Judgement(Outcome.EQUAL if len(part.outputs) == 1 else Outcome.WRONG))

    monkeypatch.setattr(search, "judged", judge)
    monkeypatch.setattr(search, "results_of", lambda *_: None)
    assert [each.judgement.outcome for each in search.judged_together(cases, lambda _: None)] == [Outcome.WRONG, Outcome.EQUAL]


def test_a_sample_has_the_same_outcomes_together() -> None:
    items = [Item("combinations", SEED, number, instructions=("",), reduces=False) for number in range(24)]
    outcomes = [{each.item.number: each.judgement.outcome for each in run(items, together=together)} for together in (False, True)]
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) == len(items)
