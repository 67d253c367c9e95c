"""What becomes of the operations of each framework, and `moir operations`."""

from __future__ import annotations

import json

import pytest

from moir.frameworks import FRAMEWORKS, lowered
from moir.frameworks.record import Framework
from moir.inspection.operations import operations_of
from moir.inspection.operations.microsoft_kinds import KINDS
from moir.inspection.operations.onnx import Schema, operation_of
from moir.inspection.operations.operation import DEFINED, IMPORTED, LOWERED, MISSING, RAISED, REFUSED, TREATMENTS, Operation
from moir.tools.convert import main
from scripts import microsoft_kinds


def by_kind(framework: str) -> dict[str, Operation]:
    return {each.kind: each for each in operations_of(FRAMEWORKS[framework]).operations}


@pytest.mark.parametrize("framework", lowered(), ids=lambda each: each.dialect)
def test_every_operation_is_listed_once_and_all_that_are_lowered_are(framework: Framework) -> None:
    kinds = [each.kind for each in operations_of(framework).operations]
    assert kinds == sorted(set(kinds))
    assert {each.treatment for each in operations_of(framework).operations} <= TREATMENTS.keys()
    assert LOWERED in {each.treatment for each in operations_of(framework).operations}


def test_operations_of_tensorflow() -> None:
    operations = by_kind("tf")
    assert operations["Placeholder"].treatment == IMPORTED
    assert (operations["Switch"].treatment, operations["Switch"].where) == (RAISED, "raise-while-frames")
    assert operations["Conv2D"].reads.startswith("input, filter")
    assert {"While", "LeakyRelu", "NonMaxSuppressionV5", "StridedSlice", "TensorArrayV3"} <= operations.keys()


def test_operations_of_other_domains_of_onnx_are_listed() -> None:
    operations = by_kind("onnx")
    assert operations["ai.onnx.ml.TreeEnsemble"].versions == (5,)
    assert operations["com.microsoft.QLinearAdd"].treatment == LOWERED


def test_all_operations_of_the_domain_of_onnx_runtime_are_listed() -> None:
    kinds = microsoft_kinds.kinds()
    assert KINDS.split() == kinds, "run `python -m scripts.microsoft_kinds`"
    operations = by_kind("onnx")
    assert {f"com.microsoft.{kind}" for kind in kinds} <= operations.keys()
    assert operations["com.microsoft.MoE"].treatment == LOWERED
    assert operations["com.microsoft.EPContext"].treatment == REFUSED
    assert operations["com.microsoft.LongformerAttention"].treatment == MISSING


def test_operations_before_onnx_had_a_standard_are_listed() -> None:
    assert by_kind("onnx")["ImageScaler"].treatment == LOWERED


@pytest.mark.parametrize(
    ("schema", "treatment", "since"),
    [
        (Schema("Relu", (1, 6, 13, 14), {}), LOWERED, 1),
        (Schema("Constant", (1, 9), {}), IMPORTED, 1),
        (Schema("Unheard", (7,), {7: frozenset(("Relu", "Constant"))}), DEFINED, 7),
        (Schema("Unheard", (7,), {7: frozenset(("Relu", "Unknown"))}), MISSING, 0),
        (Schema("Unheard", (7,), {}), MISSING, 0),
        (Schema("SequenceMap", (17,), {17: frozenset()}), LOWERED, 17),
    ],
)
def test_operation_of_a_schema(schema: Schema, treatment: str, since: int) -> None:
    operation = operation_of(schema)
    assert (operation.treatment, operation.since) == (treatment, since)


def test_an_operation_says_what_it_becomes() -> None:
    assert by_kind("onnx")["Clip"].becomes.startswith("onnx.Clip(x, min, max) -> opset1.Clamp(x)")
    assert by_kind("aten")["relu.default"].becomes == "op.Relu(self)"
    assert by_kind("tflite")["ADD"].also == "AddV2"


def test_the_text_of_a_handler_for_several_kinds_says_which_kind_it_is_about() -> None:
    assert by_kind("onnx")["Ceil"].becomes == "onnx.Ceil(x) -> opset1.Ceiling(x)"
    assert by_kind("onnx")["Abs"].becomes == "like onnx.Ceil(x) -> opset1.Ceiling(x)"


def test_a_refused_operation_says_why() -> None:
    refused = [each for framework in lowered() for each in operations_of(framework).operations if each.treatment == REFUSED]
    assert len(refused) > 50
    assert all(each.reason and each.since == 0 for each in refused)
    assert by_kind("onnx")["ai.onnx.contrib.BpeDecoder"].reason.startswith("texts of tokens come from a vocabulary")


def test_the_command_prints_an_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operations", "tensorflow", "conv2d"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("tf.Conv2D\n")
    assert "lowered" in printed


def test_the_command_looks_in_all_frameworks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operations", "Clip", "--json"]) == 0
    assert {each["framework"] for each in json.loads(capsys.readouterr().out)} == {"onnx", "caffe", "transformers"}


def test_the_command_counts_the_operations_of_all_frameworks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operations", "--json"]) == 0
    counts = {each["framework"]: each["operations"][LOWERED] for each in json.loads(capsys.readouterr().out)}
    assert counts.keys() == {each.dialect for each in lowered()}
    assert min(counts.values()) > 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["onnx", "Clp"], "did you mean moir operations onnx Clip"),
        (["onxx", "Clip"], "did you mean onnx"),
        (["Xyzzyx"], "moir operations FRAMEWORK lists all"),
    ],
)
def test_the_command_names_what_is_near(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operations", *arguments]) != 0
    assert message in capsys.readouterr().err
