"""The results of conversions: `moir --json`, the fields of exceptions, and the notes as warnings."""

from __future__ import annotations

import json
import logging
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import moir
from moir.conversion_result import ConversionResult, FailureDescription, TensorInterface
from moir.errors import ConversionWarning, InternalError, MissingLoweringError, ModelFileError, MoirError
from moir.tools.convert import main
from tests.unit.moir_frames import of_moir
from tests.unit.small_models import matmul_model, save


def results(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(matmul_model(), tmp_path / "m.onnx")
    save(matmul_model("HardTanh", "com.example"), tmp_path / "custom.onnx")
    (tmp_path / "damaged.onnx").write_bytes(b"\x08\x08garbage")


def test_the_result_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["m.onnx", "-o", "out", "--json"]) == 0
    (result,) = results(capsys)
    assert (result["model"], result["status"], result["framework"], result["error"]) == ("m.onnx", "converted", "onnx", None)
    assert result["files"] == [{"path": path, "bytes": Path(path).stat().st_size} for path in ("out/m.xml", "out/m.bin")]
    assert result["inputs"] == [{"name": "x", "element_type": "f32", "shape": [2, 8]}]
    assert result["outputs"] == [{"name": "y", "element_type": "f32", "shape": [2, 8]}]
    assert result["source_operations"] == result["operations"] == {"MatMul": 1}
    assert result["weights_bytes"] == 256
    assert list(result["seconds"]) == ["start", "import", "passes", "emission", "total"]
    assert result["seconds"]["total"] == pytest.approx(sum(list(result["seconds"].values())[:-1]), abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (
            ["custom.onnx"],
            1,
            {
                "class": "MissingLoweringError",
                "operation": "onnx.com.example.HardTanh",
                "kind": "com.example.HardTanh",
                "location": "custom.onnx",
            },
        ),
        (["damaged.onnx"], 1, {"class": "ModelFileError", "operation": None}),
        (["missing.onnx"], 1, {"class": "ModelFileError", "location": "missing.onnx"}),
        (["m.onnx", "--input", "z"], 1, {"location": "m.onnx"}),
        (["m.onnx", "--no-such-option"], 2, {"class": "UsageError", "location": None}),
        (["m.onnx", "-o", "-"], 2, {"class": "UsageError"}),
    ],
)
def test_the_result_of_a_failure(capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, expected: dict[str, Any]) -> None:
    assert main([*arguments, "--json"]) == status
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert result["status"] == "failed"
    assert result["error"].items() >= expected.items()
    assert result["error"]["exit_status"] == status
    assert printed.err == f"moir: error: {result['error']['message']}\n"


def test_the_results_of_several_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["m.onnx", "custom.onnx", "-o", "out", "--json", "--cache", "cache"]) == 1
    by_model = {each["model"]: each for each in results(capsys)}
    assert {name: each["status"] for name, each in by_model.items()} == {"m.onnx": "converted", "custom.onnx": "failed"}
    assert by_model["custom.onnx"]["error"]["kind"] == "com.example.HardTanh"
    assert main(["m.onnx", "-o", "again", "--json", "--cache", "cache"]) == 0
    (cached,) = results(capsys)
    assert cached["status"] == "cached"
    for field in ("inputs", "outputs", "operations", "source_operations", "weights_bytes"):
        assert cached[field] == by_model["m.onnx"][field]


def group(reason: str, kind: str | None = None, location: str | None = None) -> str:
    return FailureDescription("ConversionError", reason, reason, kind=kind, location=location).group


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("offset 3 of 'a' is outside of the file", "offset 1,200 of 'weights' is outside of the file"),
        ("no lowering for 1 kind of operation: tf.A ('x')", "no lowering for 1 kind of operation: tf.A ('x', \"'\", 'z', … 5 in all)"),
        ("the node's shape 4x3xf32 does not fit", "the node's shape ?x4x5xf32 does not fit"),
    ],
)
def test_failures_of_the_same_cause_are_of_one_group(first: str, second: str) -> None:
    assert group(first) == group(second)
    assert group(first, "Conv") != group(first, "Pool")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("no lowering for 1 kind of operation: tf.Conv2D ('x')", "no lowering for 1 kind of operation: tf.Conv3D ('x')"),
        ("the node's input is 'a' and must be f32", "the node's output is 'a' and must be f32"),
        ("f16 is refused", "f32 is refused"),
    ],
)
def test_failures_of_different_causes_are_of_different_groups(first: str, second: str) -> None:
    assert group(first) != group(second)


def test_the_group_of_a_failure_does_not_name_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert group("cannot read a.onnx", location="a.onnx") == group("cannot read b.onnx", location="b.onnx")
    main(["custom.onnx", "--json"])
    assert results(capsys)[0]["error"]["group"].startswith("com.example.HardTanh: no lowering for … kind of operation")


def test_results_are_sent_between_processes() -> None:
    failure = FailureDescription.of(ModelFileError("it is cut off", location="a.onnx:12"), "a.onnx:12: it is cut off", 1)
    result = ConversionResult("a.onnx", "failed", inputs=(TensorInterface("x", "f32", (2, "n")),), failure=failure)
    assert pickle.loads(pickle.dumps(result)) == result
    assert str(result.inputs[0]) == "x: f32[2,n]"


def test_an_error_names_operation_node_and_model() -> None:
    with pytest.raises(MissingLoweringError) as raised:
        moir.convert_model("custom.onnx")
    error = raised.value
    assert (error.operation, error.node, error.model) == ("onnx.com.example.HardTanh", "the node", "custom.onnx")
    assert error.operations == {"onnx.com.example.HardTanh": ["the node"]}
    assert str(error).startswith("no lowering for 1 kind of operation: onnx.com.example.HardTanh ('the node')")


def test_an_error_about_bytes_names_no_temporary_file() -> None:
    with pytest.raises(ModelFileError, match="<bytes>") as raised:
        moir.convert_model(Path("damaged.onnx").read_bytes())
    assert "/tmp" not in str(raised.value)
    assert raised.value.model == "<bytes>"


def test_an_internal_error_is_of_the_family(monkeypatch: pytest.MonkeyPatch) -> None:
    @of_moir
    def fail(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("moir.pipeline.schedule.PassSchedule.run", fail)
    with pytest.raises(MoirError, match=r"internal error in pass .*: ZeroDivisionError: division by zero") as raised:
        moir.convert_model("m.onnx")
    assert isinstance(raised.value, InternalError)


def test_notes_are_warnings_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    options: dict[str, Any] = {"target_layout": "nc"}
    with caplog.at_level(logging.INFO, "moir"), pytest.warns(ConversionWarning) as warned:
        moir.convert_model("m.onnx", **options)
    assert [Path(each.filename) for each in warned] == [Path(__file__)] * len(warned)
    assert {str(each.message) for each in warned} <= set(caplog.messages)


def test_a_conversion_without_notes_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moir.convert_model("m.onnx")
