"""The searches for graphs that the runtime fuses wrongly: a fixed sample of each, and their parts."""

from __future__ import annotations

import json
import mmap
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.fusions import __main__ as command
from tests.fuzz.fusions import execution
from tests.fuzz.fusions.combinations import FAMILIES, combination
from tests.fuzz.fusions.execution import Run, Switches
from tests.fuzz.fusions.judging import Conversion, Model, Verdict, is_rounded, judged, model_of_onnx, recorded
from tests.fuzz.fusions.kinds.every import KINDS
from tests.fuzz.fusions.reducing import smallest
from tests.fuzz.fusions.search import SEARCHES, Finding, Item, run
from tests.fuzz.fusions.transformations import TRANSFORMATIONS
from tests.numerical.outcomes import DEFECTS, Judgement, Outcome

SEED = 5
COUNT = 12
"""Cases of each search: seconds. The searches themselves draw tens of thousands."""


COUNTS = {search: COUNT for search in SEARCHES if not search.startswith("tf")} | {"tflite-architectures": 4}
"""Importing TensorFlow takes seconds, so one of the searches that do so stands for both: it draws the graphs of the other."""


@pytest.mark.parametrize(("search", "count"), COUNTS.items())
def test_a_sample_has_no_defect(search: str, count: int) -> None:
    """Under the instructions of the processor, which the runtime uses by default."""
    items = [Item(search, SEED, number, instructions=("",), reduces=False) for number in range(count)]
    findings = list(run(items))
    assert not [(each.judgement, each.item.command()) for each in findings if each.judgement.outcome in DEFECTS]
    assert sum(each.judgement.outcome == Outcome.EQUAL for each in findings) > count / 2


def model(*nodes: onnx.NodeProto, outputs: tuple[str, ...] = ("y",), **inputs: np.ndarray) -> Model:
    """A model of nodes with inputs of static shapes."""
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in inputs.items()
    ]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "case", declared, results)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model_of_onnx(proto, inputs)


X = np.array([[-1.5, 0.25, 2.0]], np.float32)


def test_a_model_runs_in_a_process_of_its_own() -> None:
    actual = judged(model(helper.make_node("Relu", ["x"], ["y"]), x=X), Conversion(), Switches("AVX2", "DISABLE"))
    assert actual.judgement == Judgement(Outcome.EQUAL)


def test_what_a_process_has_mapped_does_not_count() -> None:
    """Frameworks that other tests of this process imported map gigabytes."""
    with mmap.mmap(-1, execution.MEMORY_LIMIT, prot=mmap.PROT_READ):
        actual = judged(model(helper.make_node("Relu", ["x"], ["y"]), x=X), Conversion(), Switches())
    assert actual.judgement == Judgement(Outcome.EQUAL)


def test_other_results_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    right = model(helper.make_node("Neg", ["x"], ["v"]), helper.make_node("Relu", ["v"], ["y"]), x=X)
    monkeypatch.setattr("tests.fuzz.fusions.judging.executed", lambda *_: Run(Outcome.EQUAL, "", [right.expected[0] + 1]))
    actual = judged(right, Conversion(), Switches())
    assert actual.judgement.outcome == Outcome.WRONG
    assert actual.of_floats
    assert actual.error == pytest.approx(1 / 1.5)


X_INPUTS = {"x": X}


@pytest.mark.parametrize(
    ("action", "outcome"), [("os.kill(os.getpid(), 9)", Outcome.CRASH), ("time.sleep(60)", Outcome.HANG), ("1 / 0", Outcome.CRASH)]
)
def test_the_end_of_a_process_is_an_outcome(action: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "_run", lambda *_: eval(action, {"os": __import__("os"), "time": __import__("time")}))
    actual = execution.executed(Path("none.xml"), X_INPUTS, ["y"], [X], Switches(), limit=1.0)
    assert actual.outcome == outcome


def test_a_level_beside_a_tie_is_rounding() -> None:
    """0.25 / 0.5 is between two levels: either is right for it, and no other one."""
    tie = model(
        helper.make_node("Abs", ["x"], ["v"]),
        helper.make_node("QuantizeLinear", ["v", "s"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s"], ["y"]),
        x=X,
        s=np.array(0.5, np.float32),
    )
    (expected,) = tie.expected
    assert is_rounded(tie, [expected + np.array([[0, 0.5, 0]], np.float32)])
    assert not is_rounded(tie, [expected + np.array([[0, 1.0, 0]], np.float32)])
    assert not is_rounded(tie, [expected + np.array([[0.5, 0, 0]], np.float32)])


def test_a_model_is_reduced_to_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the operations that the judgement needs, here Sigmoid and Tanh."""
    names = ["Relu", "Neg", "Sigmoid", "Tanh", "Abs", "Sqrt"]
    values = ["x", *(f"v{number}" for number in range(5)), "y"]
    whole = model(*(helper.make_node(name, [values[i]], [values[i + 1]]) for i, name in enumerate(names)), x=X)
    wrong = Verdict(Judgement(Outcome.WRONG), 0.5, of_floats=True)

    def judge(part: Model, *_: object) -> Verdict:
        kinds = [node.op_type for node in part.proto.graph.node]
        return wrong if {"Sigmoid", "Tanh"} <= set(kinds) else Verdict(Judgement(Outcome.EQUAL))

    monkeypatch.setattr("tests.fuzz.fusions.reducing.judged", judge)
    actual = smallest(whole, Conversion(), Switches(), wrong)
    assert [node.op_type for node in actual.proto.graph.node] == ["Sigmoid", "Tanh"]
    np.testing.assert_array_equal(actual.inputs["v1"], recorded(whole.proto, X_INPUTS)["v1"])


def test_each_transformation_has_kinds() -> None:
    for name, rows in TRANSFORMATIONS.items():
        for glob in (glob for row in rows for glob in row):
            assert glob == "?" or glob[1:] in FAMILIES or any(fnmatch(kind, glob) for kind in KINDS), (name, glob)


def test_a_place_takes_the_kinds_that_are_asked_for() -> None:
    drawn = 0
    for number in range(20):
        try:
            case = combination(Draw(1, number), "Conv,MaxPool,Gelu")
        except NoCase:
            continue
        drawn += 1
        assert case.subject == "Conv+MaxPool+Gelu"
    assert drawn > 5


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    item = Item("combinations", 7, 0, without=("widen-kernels",))
    actual = [
        Finding(item, "Conv+Relu", Judgement(Outcome.WRONG, "y differs"), "all instructions", "Conv Relu", "y = …"),
        Finding(item, "Conv+Abs", Judgement(Outcome.EQUAL)),
        Finding(item, "", Judgement(Outcome.INAPPLICABLE, "too many attempts")),
    ]
    monkeypatch.setattr(command, "run", lambda *_, **__: actual)
    arguments = ["combinations", "--seed", "7", "--count", "3", "--without", "widen-kernels", "--json", str(tmp_path / "found.json")]
    assert command.main(arguments) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Conv Relu: wrong (1)"
    assert "    python -m tests.fuzz.fusions combinations --seed 7 --case 0 --without widen-kernels" in lines
    assert [each["kinds"] for each in json.loads((tmp_path / "found.json").read_text())["found"]] == ["Conv Relu", ""]


def test_what_becomes_of_an_ir_is_told() -> None:
    assert Run(Outcome.EQUAL).results == ()
    assert str(Switches()) == "all instructions, snippets ENABLE"
    assert Switches("AVX2", "DISABLE", floats=True).properties == {"SNIPPETS_MODE": "DISABLE", "LP_TRANSFORMS_MODE": "NO"}
