"""`moir-opt` with model files, its exit statuses and its effects on the process."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.ir import Attribute

from moir.tools.opt import main
from tests.unit.small_models import loop_model, matmul_model, save


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save(matmul_model(), tmp_path / "m.onnx")


def test_a_model_file_is_an_input(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(model)]) == 0
    assert "onnx.MatMul(" in capsys.readouterr().out
    assert main([str(model), "-p", "lower-onnx"]) == 0
    assert "opset1.MatMul(" in capsys.readouterr().out


def test_the_default_pipeline_is_that_of_moir(tmp_path: Path) -> None:
    from moir.tools.convert import main as moir

    model = save(loop_model(), tmp_path / "m.onnx")
    assert moir([str(model), "-o", str(tmp_path / "a.xml"), "--silent"]) == 0
    assert main([str(model), "-p", "default", "-t", "ir", "-o", str(tmp_path / "b.xml")]) == 0
    assert (tmp_path / "a.xml").read_bytes() == (tmp_path / "b.xml").read_bytes()
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()


def test_a_frontend_can_be_chosen(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = model.rename(model.with_name("model.dat"))
    assert main([str(other), "-f", "onnx"]) == 0
    assert "onnx.MatMul(" in capsys.readouterr().out
    assert main([str(other)]) == 0
    assert "onnx.MatMul(" in capsys.readouterr().out
    assert main([str(other), "-f", "mlir"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["absent.mlir"], 1), (["absent.onnx"], 1), (["--resume-after", "nothing"], 2), (["-p", "nothing"], 2)],
)
def test_exit_statuses(
    arguments: list[str], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"moir.model @m { %x = opset1.Parameter() : tensor<f32> }")))
    assert main(arguments) == status
    printed = capsys.readouterr().err
    assert printed.startswith("moir-opt: error: ")
    assert printed.count("\n") == 1


def test_text_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.mlir").write_bytes(b"moir.model @m {}\xff")
    assert main([str(tmp_path / "a.mlir")]) == 1
    assert capsys.readouterr().err == f"moir-opt: error: {tmp_path / 'a.mlir'}: byte 16 is not UTF-8 text\n"


def test_deep_nesting_is_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    depth = 5000
    (tmp_path / "a.mlir").write_text(f"moir.model @m {{ onnx.A() {{v = {'[' * depth}{']' * depth}}} }}")
    assert main([str(tmp_path / "a.mlir")]) == 1
    assert capsys.readouterr().err.endswith(":1:229: the text is nested too deeply: more than 200 brackets are open\n")


def test_output_is_written_as_a_whole_or_not_at_all(tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "a.mlir"
    output.write_text("old")
    assert main([str(model), "-p", "check-lowered", "-o", str(output)]) == 1
    assert output.read_text() == "old"
    assert main([str(model), "-o", str(output), "--weights-file", str(tmp_path / "a.bin")]) == 0
    assert '"a.bin", 0>' in output.read_text()
    assert main([str(output), "-p", "lower-onnx", "-o", str(output)]) == 0
    assert 'elided "' in output.read_text()
    assert capsys.readouterr().out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "a.mlir", "m.onnx"]


def test_disabled_verification_ends_with_the_run(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Attribute.__post_init__
    assert main([str(model), "--disable-verify"]) == 0
    assert Attribute.__post_init__ is before
    assert capsys.readouterr().err == ""


def test_verify_each_names_the_pass(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: Path) -> None:
    from xdsl.dialects.builtin import ModuleOp

    from moir.analysis.analyses import Analyses
    from moir.pipeline import load_pass

    def break_module(_: object, module: ModuleOp, __: Analyses) -> bool:
        op = next(op for op in module.walk() if op.name == "opset1.Parameter")
        op.operands = [op.results[0]]
        return True

    monkeypatch.setattr(load_pass("deduplicate"), "run", break_module)
    assert main([str(model), "-p", "deduplicate,eliminate-dead", "--verify-each"]) == 1
    assert capsys.readouterr().err.startswith("moir-opt: error: after deduplicate: opset1.Parameter 'x': ")


def test_verify_each_names_the_pass_that_changes_more_than_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from moir.analysis.analyses import Analyses
    from moir.pipeline import load_pass

    def lie(_: object, __: ModuleOp, analyses: Analyses) -> bool:
        last = list(analyses.operations(Operation))[-1]
        last.detach()
        last.erase()
        return False

    monkeypatch.setattr(load_pass("deduplicate"), "run", lie)
    assert main([str(model), "-p", "deduplicate,eliminate-dead", "--verify-each"]) == 1
    message = capsys.readouterr().err
    assert message.startswith("moir-opt: error: after deduplicate: builtin.module: ")
    assert message.endswith("the pass says that it changed nothing\n")


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    text = "\n".join(f"%x{index} = opset1.Parameter() : tensor<1xf32>" for index in range(3000))
    (tmp_path / "a.mlir").write_text(f"moir.model @m {{ {text} }}")
    command = f"{sys.executable} -m moir.tools.opt {tmp_path / 'a.mlir'} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "builtin.module {\n"
    assert done.stderr == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("moir-opt, built on xdsl ")
