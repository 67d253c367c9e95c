"""Every outcome is told from the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper

import moir
from tests.numerical.outcomes import Outcome, counts, died, interface_difference, judge, mismatch
from tests.numerical.runtime import Array, core, unpacked
from tests.numerical.workers import Died

X = np.array([1.0, -2.0], np.float32)


def saved(folder: Path, kind: str = "Relu") -> Path:
    """A model of one node with the input x and the output y."""
    graph = helper.make_graph(
        [helper.make_node(kind, ["x"], ["y"])],
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_empty_tensor_value_info("y")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), folder / "model.onnx")
    return folder / "model.onnx"


def judged(path: Path, text: str = "", **inputs: Array) -> tuple[Outcome, str, list[str]]:
    """Outcome, message, and the stages that were reached, with a comparison that says a text."""
    stages: list[str] = []
    judgement = judge(path, inputs or {"x": X}, lambda _model, _results: text, stages.append)
    return judgement.outcome, judgement.message, stages


def test_equal_and_wrong(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert judged(path) == (Outcome.EQUAL, "", ["convert", "read", "compile", "run", "compare"])
    assert judged(path, "y differs")[:2] == (Outcome.WRONG, "y differs")
    assert judged(path, x=X, z=X)[:2] == (Outcome.WRONG, "inputs lost or added: z")


def test_refused(tmp_path: Path) -> None:
    outcome, message, stages = judged(saved(tmp_path, "ImageDecoder"))
    assert (outcome, stages) == (Outcome.REFUSED, ["convert"])
    assert "ImageDecoder" in message


def branching(folder: Path, decide: str, shape: list[str] | None) -> Path:
    """A model whose result has one dimension or two, which a node decides for the input x."""
    value = helper.make_empty_tensor_value_info
    axis = onnx.numpy_helper.from_array(np.array([0]), "axis")
    bodies = [
        helper.make_graph([helper.make_node(kind, operands, ["z"])], kind, [], [value("z")])
        for kind, operands in (("Relu", ["x"]), ("Unsqueeze", ["x", "axis"]))
    ]
    nodes = [
        helper.make_node(decide, ["x"], ["n"], **({"keepdims": 0} if decide == "ReduceSum" else {})),
        helper.make_node("Cast", ["n"], ["c"], to=TensorProto.BOOL),
        helper.make_node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1]),
    ]
    graph = helper.make_graph(nodes, "test", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [value("y")], [axis])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "model.onnx")
    return folder / "model.onnx"


def test_ranks_that_depend_on_sizes_or_values(tmp_path: Path) -> None:
    """The sizes are not known while converting, and for values not even the rank, with which the model is refused."""
    outcome, message, _ = judged(branching(tmp_path, "Size", ["n", "m"]), x=np.ones((1, 2), np.float32))
    assert (outcome, message.partition(":")[0]) == (Outcome.FAULT, "compiles with known sizes only")
    assert judged(branching(tmp_path, "Size", ["n", "m"]), "y differs", x=np.ones((1, 2), np.float32))[0] == Outcome.UNCOMPILED
    outcome, message, _ = judged(branching(tmp_path, "ReduceSum", None), x=np.ones((1, 2), np.float32))
    assert outcome == Outcome.REFUSED
    assert message.startswith("with known ranks: onnx.If")


def test_what_says_its_ranks_and_does_not_compile_is_a_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it were refused without its sizes."""

    def fail(*_: object) -> None:
        raise RuntimeError("operation with dynamic rank")

    path = saved(tmp_path, "Det")
    model = onnx.load(path)
    model.graph.input[0].type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, [2, 2]))
    onnx.save(model, path)
    monkeypatch.setattr("tests.numerical.outcomes.prepared", fail)
    monkeypatch.setattr("tests.numerical.outcomes.runs_with_sizes", lambda *_: False)
    assert judged(path, x=np.ones((2, 2), np.float32))[0] == Outcome.UNCOMPILED


def test_internal_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("nothing")

    monkeypatch.setattr(moir, "convert_model", fail, raising=False)
    outcome, message, _ = judged(saved(tmp_path))
    assert outcome == Outcome.INTERNAL
    assert message.startswith("KeyError: 'nothing' (test_outcomes.py:")


@pytest.mark.parametrize(
    ("stage", "outcome"), [("read_model", Outcome.REJECTED), ("compile_model", Outcome.UNCOMPILED), ("infer", Outcome.FAILED)]
)
def test_the_runtime_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, outcome: Outcome) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("Exception from src/core.cpp:12:\n\nnot implemented\n")

    class Refusing:
        def __getattr__(self, name: str) -> Any:
            return fail if name == stage else getattr(core(), name)

    if stage == "infer":
        monkeypatch.setattr("tests.numerical.outcomes.infer", fail)
    else:
        place = "outcomes" if stage == "read_model" else "runtime"
        monkeypatch.setattr(f"tests.numerical.{place}.core", Refusing)
    assert judged(saved(tmp_path))[:2] == (outcome, "not implemented")


def test_death() -> None:
    assert died(Died("run", False, "SIGFPE")).outcome == Outcome.CRASH
    assert died(Died("run", False, "SIGFPE")).message == "SIGFPE during run"
    assert died(Died("compile", True, "no answer after 9 s")).outcome == Outcome.HANG
    assert counts([Outcome.WRONG, Outcome.EQUAL, Outcome.WRONG]) == {"equal": 1, "wrong": 2}


@pytest.mark.parametrize(
    ("result", "wanted", "text"),
    [
        ([1.0, np.nan], [1.0, np.nan], ""),
        ([1.0, np.nan], [1.0, 2.0], "1 of 2 elements, element 1 is nan instead of 2.0"),
        ([np.inf], [-np.inf], "1 of 1 elements, element 0 is inf instead of -inf"),
        ([1.0], [1.0005], ""),
        ([[1.0]], [1.0], "shape [1, 1] instead of [1]"),
    ],
)
def test_differences_of_floats(result: Any, wanted: Any, text: str) -> None:
    assert mismatch(np.array(result, np.float32), np.array(wanted, np.float32), 1e-3, 0.0) == text


def test_differences_of_other_types() -> None:
    assert mismatch(np.array([1]), np.array([1], np.int32), 0, 0) == "element type int64 instead of int32"
    assert mismatch(np.array([1, 3]), np.array([1, 2]), 1, 1) == "1 of 2 elements, element 1 is 3 instead of 2"
    assert mismatch(np.array(["a", "b"]), np.array(["a", "c"], object), 0, 0) == "1 of 2 elements, element 1 is b instead of c"


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected", "text"),
    [
        (["x"], ["y"], [X], ""),
        (["z"], ["y"], [X], "inputs are x instead of z"),
        (["x"], ["z"], [X], "an output is named y instead of z"),
        (["x"], ["y", "z"], [X, X], "1 outputs instead of 2"),
        (["x"], ["y"], [X[None]], "y: the IR says shape [?] where it is [1, 2]"),
        (["x"], ["y"], [X.astype(np.float16)], "y: the IR says element type f32 instead of float16"),
    ],
)
def test_differences_of_the_interface(tmp_path: Path, inputs: Sequence[str], outputs: Sequence[str], expected: Any, text: str) -> None:
    moir.save_model(moir.convert_model(saved(tmp_path)), tmp_path / "model.xml")
    model: openvino.Model = core().read_model(tmp_path / "model.xml")
    assert interface_difference(model, inputs, outputs, expected) == text


@pytest.mark.parametrize(
    ("bits", "dtype", "wanted"),
    [
        (4, ml_dtypes.int4, [-1, 2, -8]),
        (4, ml_dtypes.uint4, [15, 2, 8]),
        (2, ml_dtypes.uint2, [3, 3, 2]),
        (4, ml_dtypes.float4_e2m1fn, [-6, 1, -0.0]),
    ],
)
def test_elements_that_share_bytes(bits: int, dtype: Any, wanted: list[float]) -> None:
    actual = unpacked(np.array([0x2F, 0x08], np.uint8), bits, 3, np.dtype(dtype))
    assert actual.dtype == dtype
    assert [float(each) for each in actual] == wanted
