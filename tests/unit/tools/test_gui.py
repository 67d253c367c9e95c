"""xDSL's interactive application with the dialects and passes of moir."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from moir.tools.convert import main as moir
from moir.tools.gui import application, main
from tests.unit.small_models import loop_model, matmul_model, save

SWISH = """moir.model @m {
  %x = opset1.Parameter() {name = "größe"} : tensor<2xf32>
  %s = opset1.Sigmoid(%x) : tensor<2xf32>
  %y = opset1.Multiply(%x, %s) {name = "y"} : tensor<2xf32>
  opset1.Result(%y) {name = "r"}
}
"""


def output_after(path: Path, chosen: str = "", passes: str = "") -> tuple[str, str]:
    """The output at the start, with `passes`, and after a pass is chosen in the tree."""

    async def use() -> tuple[str, str]:
        with ExitStack() as stack:
            app = application(path, passes, stack)
            async with app.run_test() as pilot:
                await pilot.pause()
                before = app.output_text_area.text
                if chosen:
                    app.passes_tree.select_node(next(node for node in app.passes_tree.root.children if str(node.label) == chosen))
                    await pilot.pause()
                return before, app.output_text_area.text

    return asyncio.run(use())


def test_a_pass_is_applied_to_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text(SWISH, encoding="utf-8")
    before, after = output_after(tmp_path / "a.mlir", "fuse-swish")
    assert "opset1.Sigmoid" in before
    assert "opset4.Swish" in after
    assert "opset1.Sigmoid" not in after


def test_a_dump_has_its_weights(tmp_path: Path) -> None:
    model = save(loop_model(), tmp_path / "m.onnx")
    assert moir([str(model), "-o", str(tmp_path), "--silent", "--dump-ir", str(tmp_path / "dumps")]) == 0
    before, after = output_after(tmp_path / "dumps" / "000-import.mlir", "lower-onnx")
    assert "onnx.Loop" in before
    assert "opset5.Loop" in after


def test_a_model_file_with_passes_from_the_command_line(tmp_path: Path) -> None:
    before, _ = output_after(save(matmul_model(), tmp_path / "m.onnx"), passes="lower-onnx,eliminate-dead")
    assert "opset1.MatMul" in before


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(__import__("sys").modules, "xdsl.interactive.app", None)
    (tmp_path / "a.mlir").write_text(SWISH, encoding="utf-8")
    assert main([str(tmp_path / "a.mlir")]) == 2
    assert "pip install 'moir[gui]'" in capsys.readouterr().err
