"""Errors about operations of a text say where these are."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.errors import ConversionError
from moir.pipeline import load_pass
from moir.tools.opt import main
from tests.unit.moir_frames import of_moir

TEXT = """moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %y = onnx.Softplus(%x) {name = "y"} : tensor<2xf32>
    %z = onnx.Softmax(%y) {name = "z", axis = 7} : tensor<2xf32>
  opset1.Result(%z) {name = "r"}
}
"""


def error_of(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str) -> str:
    (tmp_path / "a.mlir").write_text(text)
    assert main([str(tmp_path / "a.mlir"), *options]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return message.removeprefix(f"moir-opt: error: {tmp_path}/")


def test_lowering(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(tmp_path, capsys, TEXT, "-p", "lower-onnx").startswith("a.mlir:4:5: onnx.Softmax 'z': ")


def test_an_operation_that_replaced_one_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object, module: ModuleOp, __: Analyses) -> bool:
        assert any(op.name == "opset4.SoftPlus" for op in module.walk())
        raise ConversionError("it is wrong", operation="opset4.SoftPlus", node="y")

    monkeypatch.setattr(load_pass("deduplicate"), "run", fail)
    message = error_of(tmp_path, capsys, TEXT.replace("axis = 7", "axis = 0"), "-p", "lower-onnx,deduplicate")
    assert message == "a.mlir:3:3: opset4.SoftPlus 'y': it is wrong\n"


def test_a_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    @of_moir
    def fail(_: object, module: ModuleOp, __: Analyses) -> bool:
        op = next(op for op in module.walk() if op.name == "onnx.Softmax")
        raise ValueError(f"no idea about {op.name}")

    monkeypatch.setattr(load_pass("deduplicate"), "run", fail)
    message = error_of(tmp_path, capsys, TEXT, "-p", "deduplicate")
    assert message.startswith("a.mlir:4:5: internal error in pass deduplicate on onnx.Softmax 'z': ValueError")


def test_emission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """moir.model @m {
      %e = opset1.Constant() {value = #moir.data<tensor<99xf32>, elided "0">, name = "e"} : tensor<99xf32>
      opset1.Result(%e) {name = "r"}
    }"""
    assert error_of(tmp_path, capsys, text, "-t", "ir").startswith("a.mlir:2:7: opset1.Constant 'e': the value ")


def test_an_order_that_is_wrong_after_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def turn(_: object, module: ModuleOp, __: Analyses) -> bool:
        op = next(op for op in module.walk() if op.name == "opset1.Parameter")
        op.operands = [op.results[0]]
        return True

    monkeypatch.setattr(load_pass("deduplicate"), "run", turn)
    message = error_of(tmp_path, capsys, TEXT, "-p", "deduplicate", "--verify-each")
    assert message.startswith("a.mlir:2:3: after deduplicate: opset1.Parameter 'x': ")


def test_the_first_of_several_errors_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "moir.model @m {\n %x = opset1.Parameter() : tensor<2xf32>\n" + " opset1.Result(%x, %x)\n" * 5 + "}"
    assert error_of(tmp_path, capsys, text).startswith("a.mlir:3:2: opset1.Result: Expected 1 operand")
