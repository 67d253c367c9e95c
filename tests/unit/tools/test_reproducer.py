"""Reproducers: what they hold, and what they do not do."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.pipeline import load_pass
from moir.tools.opt import main
from tests.unit.moir_frames import of_moir
from tests.unit.small_models import loop_model, save


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save(loop_model(), tmp_path / "m.onnx")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a pass that changes a module and then fails with a bug."""

    @of_moir
    def fail(_: object, module: ModuleOp, __: Analyses) -> bool:
        next(op for op in module.walk() if op.name == "opset1.Result").attributes.clear()
        raise ValueError("a bug")

    monkeypatch.setattr(load_pass("deduplicate"), "run", fail)
    return "deduplicate"


def test_it_fails_in_the_same_way_with_the_weights(model: Path, broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crash = tmp_path / "sub folder" / "crash.mlir"
    crash.parent.mkdir()
    assert main([str(model), "-p", "default", f"--crash-reproducer={crash}"]) == 1
    first = capsys.readouterr().err.splitlines()
    assert first[0] == f"moir-opt: {crash} reproduces the following error"
    assert f"internal error in pass {broken}" in first[1]
    assert sorted(path.name for path in crash.parent.iterdir()) == ["crash.mlir", "crash.mlir.bin"]
    model.unlink()
    assert main([str(crash), "--run-reproducer"]) == 1
    assert capsys.readouterr().err.splitlines() == first[1:]
    # The module is the one before the pass.
    assert main([str(crash)]) == 0
    assert "elided" in (text := capsys.readouterr().out)
    assert "opset1.Result" in text
    assert 'name = "' in next(line for line in text.splitlines() if line.startswith("    opset1.Result"))


def test_verification_after_a_pass_belongs_to_it(monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path) -> None:
    def break_module(_: object, module: ModuleOp, __: Analyses) -> bool:
        op = next(op for op in module.walk() if op.name == "opset1.Parameter")
        op.operands = [op.results[0]]
        return True

    monkeypatch.setattr(load_pass("deduplicate"), "run", break_module)
    crash = tmp_path / "crash.mlir"
    assert main([str(model), "-p", "default", "--verify-each", f"--crash-reproducer={crash}"]) == 1
    header = crash.read_text().splitlines()[:2]
    assert header[0].startswith("// Pass deduplicate failed: after deduplicate: opset1.Parameter")
    assert header[1] == "// reproduce: moir-opt crash.mlir '--pass-pipeline=builtin.module(deduplicate)' --verify-each"
    assert main([str(crash), "--run-reproducer"]) == 1


def test_options_of_passes_are_kept(monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(load_pass("fold-constants"), "run", fail)
    assert main([str(model), "-p", "lower-onnx,fold-constants{static-shape=true}", f"--crash-reproducer={tmp_path / 'crash.mlir'}"]) == 1
    assert "'--pass-pipeline=builtin.module(fold-constants{static_shape=true})'" in (tmp_path / "crash.mlir").read_text()


def test_emission_has_a_reproducer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.mlir").write_text('moir.model @m { %x = onnx.A() {name = "a"} : tensor<f32> }')
    crash = tmp_path / "crash.mlir"
    assert main([str(tmp_path / "a.mlir"), "-t", "ir", f"--crash-reproducer={crash}"]) == 1
    capsys.readouterr()
    assert crash.read_text().splitlines()[1] == "// reproduce: moir-opt crash.mlir --target=ir"
    assert main([str(crash), "--run-reproducer"]) == 1
    assert "onnx.A" in capsys.readouterr().err


def test_a_reproducer_loads_no_extension_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evil").mkdir()
    crash = tmp_path / "crash.mlir"
    crash.write_text(f"// reproduce: moir-opt crash.mlir '--pass-pipeline=builtin.module(deduplicate)' --extensions={tmp_path / 'evil'}\n")
    assert main([str(crash), "--run-reproducer"]) == 2
    assert f"--extensions={tmp_path / 'evil'}" in capsys.readouterr().err


def test_other_options_of_the_file_have_no_effect(tmp_path: Path) -> None:
    crash = tmp_path / "crash.mlir"
    crash.write_text(f"// reproduce: moir-opt crash.mlir -o {tmp_path / 'stolen'} --dump-ir {tmp_path / 'dumps'}\nmoir.model @m {{}}\n")
    assert main([str(crash), "--run-reproducer"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crash.mlir"]


@pytest.mark.parametrize("name", ["crash.mlir", "crash.mlir.bin"])
def test_the_input_is_not_replaced(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"// reproduce: moir-opt {name}\nmoir.model @m {{ onnx.A() }}"
    (tmp_path / "crash.mlir").write_text(text)
    (tmp_path / name).write_text(text)
    assert main([str(tmp_path / name), "-p", "check-lowered", f"--crash-reproducer={tmp_path / 'crash.mlir'}"]) == 1
    assert "this file belongs to the model that is converted" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == text


@pytest.mark.usefixtures("broken")
def test_weights_of_the_input_are_not_replaced(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "crash.mlir", tmp_path / "moved.mlir"
    assert main([str(model), "-p", "default", f"--crash-reproducer={first}"]) == 1
    second.write_text(first.read_text())
    before = {path: path.read_bytes() for path in (first, tmp_path / "crash.mlir.bin")}
    assert main([str(second), "--run-reproducer", f"--crash-reproducer={first}"]) == 1
    assert "this file belongs to the model that is converted" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before


def test_a_reproducer_that_cannot_be_written_hides_nothing(
    model: Path, broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(model), "-p", "default", f"--crash-reproducer={tmp_path / 'absent' / 'crash.mlir'}"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert "the reproducer cannot be written" in lines[0]
    assert f"internal error in pass {broken}" in lines[1]


@pytest.mark.parametrize("name", ["crash.mlir", "crash.mlir.bin"])
def test_other_files_are_not_replaced(tmp_path: Path, name: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text("mine")
    assert main([str(model), "-p", "default", f"--crash-reproducer={tmp_path / 'crash.mlir'}"]) == 2
    assert f"would replace {tmp_path / name}, which is not a reproducer" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"


def test_an_older_reproducer_is_replaced(model: Path, broken: str, tmp_path: Path) -> None:
    crash = tmp_path / "crash.mlir"
    for passes in ("default", f"lower-onnx,{broken}"):
        assert main([str(model), "-p", passes, f"--crash-reproducer={crash}"]) == 1
    assert crash.is_file()


def test_a_command_that_cannot_be_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crash.mlir").write_text("// reproduce: moir-opt crash.mlir 'open\n")
    assert main([str(tmp_path / "crash.mlir"), "--run-reproducer"]) == 2
    assert "cannot be read" in capsys.readouterr().err


OF_MODEL_OPTIMIZER = """
from mo.middle.replacement import MiddleReplacementPattern


class Failing(MiddleReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph):
        raise ValueError(f"layout {graph.graph['cmd_params'].extension_layout}")
"""


def test_the_layout_of_extensions_is_kept(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine" / "middle").mkdir(parents=True)
    (tmp_path / "mine" / "middle" / "failing.py").write_text(OF_MODEL_OPTIMIZER)
    crash, extensions = tmp_path / "crash.mlir", f"--extensions={tmp_path / 'mine'}"
    arguments = [str(model), "-p", "default", extensions, "--extension-layout=framework", f"--crash-reproducer={crash}"]
    assert main(arguments) == 1
    assert "layout framework" in capsys.readouterr().err
    assert "--extension-layout=framework" in crash.read_text().splitlines()[1]
    assert main([str(crash), "--run-reproducer", extensions]) == 1
    assert "layout framework" in capsys.readouterr().err
