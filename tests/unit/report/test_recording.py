"""What a report records of a conversion: stages, states that share records, rewrites, operations at fault."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from moir.conversion import convert
from moir.errors import ConversionError
from moir.options import ConversionOptions
from moir.report_page.recording import ReportRecorder
from tests.unit.small_models import loop_model


def recorded(path: Path) -> tuple[dict[str, Any], ConversionError | None]:
    """The content of a report, and the error of the conversion."""
    recorder, failure = ReportRecorder(), None
    try:
        convert(path, ConversionOptions(), observers=[recorder])
    except ConversionError as error:
        failure = error
    finally:
        recorder.close()
    return recorder.content(failure), failure


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("report") / "loop.onnx"
    onnx.save(loop_model(), path)
    return recorded(path)[0]


def kinds(content: dict[str, Any], state: int) -> list[str]:
    (model,) = content["states"][state]
    return [content["records"][number]["kind"] for number in model["operations"]]


def test_a_state_is_recorded_after_each_stage_that_changed_something(content: dict[str, Any]) -> None:
    stages = content["stages"]
    assert [stage["number"] for stage in stages] == list(range(len(stages)))
    assert [stage["state"] for stage in stages if stage["changed"]] == list(range(len(content["states"])))
    assert all(stage["changed"] == (stage["state"] != before["state"]) for before, stage in itertools.pairwise(stages))
    assert 1 < len(content["states"]) < len(stages)
    assert "onnx.MatMul" in kinds(content, 0)
    assert "opset4.Swish" in kinds(content, -1)


def test_operands_of_a_state_are_operations_of_the_same_block(content: dict[str, Any]) -> None:
    records = content["records"]
    # A Result stays when what it returns is replaced: its record must be another one then.
    for state in content["states"]:
        blocks = [model["operations"] for model in state]
        while blocks:
            block = blocks.pop()
            ids = {records[number]["id"] for number in block}
            for number in block:
                blocks.extend(records[number].get("bodies", ()))
                if state is content["states"][-1]:
                    assert {producer for producer, _ in records[number]["operands"]} <= ids, records[number]


def test_an_operation_that_stays_the_same_has_one_record(content: dict[str, Any]) -> None:
    last, before = (set(model["operations"]) for state in content["states"][-1:-3:-1] for model in state)
    assert last & before
    described = [str(sorted(record.items())) for record in content["records"]]
    assert len(described) - len(set(described)) <= len(described) // 10


def test_a_fused_operation_names_its_rewrite(content: dict[str, Any]) -> None:
    (swish,) = (record for record in content["records"] if record["kind"] == "opset4.Swish")
    (rewrite,) = (content["rewrites"][number] for number in content["origins"][swish["id"]])
    assert [text.split("(")[0].split(" = ")[1] for text in rewrite["before"]] == ["opset1.Multiply", "opset1.Sigmoid"]
    assert "opset4.Swish" in rewrite["after"][0]
    assert content["stages"][rewrite["stage"]]["name"] == "fuse-swish"
    assert swish["name"] == "swish"
    assert swish["tensors"] == ["swish, b"]
    assert sorted(swish["sources"]) == [["sigmoid", "onnx.Sigmoid"], ["swish", "onnx.Mul"]]


def test_a_failed_conversion_is_recorded_with_the_operations_at_fault(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["a"], name="act"), helper.make_node("HardTanh", ["a"], ["y"], name="tanh", domain="com.example")],
        "custom",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    path = tmp_path / "custom.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]), path)
    content, failure = recorded(path)
    assert failure is not None
    assert content["error"] == str(failure)
    named = {record["id"]: record["name"] for record in content["records"]}
    assert [named[number] for number in content["unsupported"]] == ["tanh"]
