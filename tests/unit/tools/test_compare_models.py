"""`moir diff` as a command: the exit status, and what it prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from moir.tools.convert import main
from tests.unit.small_models import matmul_model, save


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = matmul_model()
    save(model, tmp_path / "a.onnx")
    (weights,) = model.graph.initializer
    array = numpy_helper.to_array(weights)
    weights.CopyFrom(numpy_helper.from_array(array * np.float32(1.001), weights.name))
    onnx.save(model, tmp_path / "b.onnx")


@pytest.mark.parametrize(
    ("arguments", "status", "prints"),
    [
        (["a.onnx", "a.onnx"], 0, False),
        (["a.onnx", "b.onnx"], 1, True),
        (["a.onnx", "b.onnx", "--quiet"], 1, False),
        (["a.onnx", "b.onnx", "--tolerance", "0.01"], 0, False),
        (["a.onnx", "b.onnx", "--tolerance", "1e-5", "-q"], 1, False),
    ],
)
def test_the_exit_status_says_whether_models_differ(
    capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, prints: bool
) -> None:
    assert main(["diff", *arguments]) == status
    printed = capsys.readouterr()
    assert bool(printed.out) == prints
    assert printed.err == ""


def test_a_model_that_cannot_be_read_is_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    save(matmul_model(), Path("folder/model.onnx"))
    assert main(["diff", "a.onnx", "folder/modl.onnx"]) == 2
    expected = "moir diff: error: folder/modl.onnx: cannot be read: No such file or directory; did you mean folder/model.onnx?\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(("arguments", "usage"), [(["help"], "usage: moir [options] MODEL"), (["help", "diff"], "usage: moir diff ")])
def test_help_is_a_command(capsys: pytest.CaptureFixture[str], arguments: list[str], usage: str) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith(usage)
