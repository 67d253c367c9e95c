"""`moir` and `moir-opt` with an ONNX model as output."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from moir.tools import opt
from moir.tools.convert import main
from tests.unit.small_models import matmul_model, save


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model file."""
    return save(matmul_model(), tmp_path / "m.onnx")


def version(path: Path) -> int:
    """The version of the operator set of an ONNX model."""
    return onnx.load(path).opset_import[0].version


def test_the_suffix_selects_the_form(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    back = tmp_path / "out" / "back.onnx"
    assert main([str(model), "-o", str(back), "--opset", "18"]) == 0
    assert f"files       {back}\n" in capsys.readouterr().out
    assert version(back) == 18
    assert sorted(path.name for path in back.parent.iterdir()) == ["back.onnx"]


def test_the_way_back_from_ir(model: Path, tmp_path: Path) -> None:
    assert main([str(model), "-o", str(tmp_path / "m.xml"), "--silent"]) == 0
    assert main([str(tmp_path / "m.xml"), "--output-model", str(tmp_path / "back.onnx"), "--silent"]) == 0
    onnx.checker.check_model(onnx.load(tmp_path / "back.onnx"), full_check=True)


def test_the_result_as_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    back = tmp_path / "back.onnx"
    assert main([str(model), "-o", str(back), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["files"] == [{"path": str(back), "bytes": back.stat().st_size}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "back.onnx", "--opset", "12"], "version 12 of ONNX's operator set cannot be written"),
        (["-o", "back.xml", "--opset", "18"], "--opset is the version of an ONNX model"),
        (["--opset", "18"], "--opset is the version of an ONNX model"),
        (["--matmul-nbits"], "--matmul-nbits is a form of an ONNX model"),
        (["-o", "back.onnx", "--target", "openvino-cpu"], "leave out --target"),
        (["-o", "back.onnx", "--cache", "cache"], "leave out --cache"),
    ],
)
def test_options_of_the_other_form(
    arguments: list[str], message: str, model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    assert main([str(model), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in model.parent.iterdir()) == ["m.onnx"]


def test_the_model_is_not_overwritten(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = model.read_bytes()
    assert main([str(model), "-o", str(model)]) == 1
    assert str(model) in capsys.readouterr().err
    assert model.read_bytes() == before


def test_opt_writes_modules_of_both_kinds(model: Path, tmp_path: Path) -> None:
    """A module in the onnx dialect keeps the version of its operator set."""
    copy, converted = tmp_path / "copy.onnx", tmp_path / "converted.onnx"
    assert opt.main([str(model), "-t", "onnx", "-o", str(copy)]) == 0
    assert version(copy) == version(model)
    assert opt.main([str(model), "-p", "default,lower-to-onnx{opset=20}", "-t", "onnx", "-o", str(converted)]) == 0
    assert version(converted) == 20


def test_opt_needs_a_file(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main([str(model), "-t", "onnx"]) == 2
    assert "give -o model.onnx" in capsys.readouterr().err
