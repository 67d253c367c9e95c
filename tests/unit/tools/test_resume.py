"""A dump taken between any two passes, fed back, ends in the same files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import openvino
import pytest

from moir.tools.convert import main as moir
from moir.tools.opt import main as moir_opt
from tests.unit.small_models import loop_model, save


@pytest.fixture(params=[False, True], ids=["f32", "f16"])
def compressed(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.fixture
def dumped(tmp_path: Path, compressed: bool) -> Path:
    """A folder with a model, its IR `m.xml`, `m.bin` and the dumps of its conversion."""
    model = save(loop_model(), tmp_path / "m.onnx")
    options = ["--compress-to-fp16"] if compressed else []
    assert moir([str(model), "-o", str(tmp_path), "--silent", "--dump-ir", str(tmp_path / "dumps"), *options]) == 0
    return tmp_path


def resumed(dump: Path, compressed: bool) -> list[str]:
    """Arguments that run the rest of the pipeline after a dump."""
    return ["-p", f"default{{after={dump.stem} compress-to-fp16={str(compressed).lower()}}}", "-t", "ir"]


def test_every_dump_ends_in_the_same_files(dumped: Path, compressed: bool) -> None:
    dumps = sorted((dumped / "dumps").glob("*.mlir"))
    assert dumps[0].name == "000-import.mlir"
    assert len(dumps) >= 4
    assert any("onnx.Loop" in dump.read_text("utf-8") for dump in dumps)
    assert any("opset5.Loop" in dump.read_text("utf-8") for dump in dumps)
    for dump in dumps:
        output = dumped / f"resumed-{dump.stem}.xml"
        assert moir_opt([str(dump), *resumed(dump, compressed), "-o", str(output)]) == 0, dump.name
        assert output.read_bytes() == (dumped / "m.xml").read_bytes(), dump.name
        assert output.with_suffix(".bin").read_bytes() == (dumped / "m.bin").read_bytes(), dump.name


def test_dumps_of_a_resumed_run_are_numbered_on_and_complete(dumped: Path, compressed: bool) -> None:
    first = dumped / "dumps" / "000-import.mlir"
    assert moir_opt([str(first), *resumed(first, compressed), "--dump-ir", str(dumped / "again"), "-o", str(dumped / "a.xml")]) == 0
    second = sorted((dumped / "again").glob("*.mlir"))[1]
    assert (dumped / "dumps" / second.name).exists()
    command = [sys.executable, "-m", "moir.tools.opt", str(second), *resumed(second, compressed), "-o", str(dumped / "b.xml")]
    subprocess.run(command, check=True, cwd=dumped)
    assert (dumped / "b.xml").read_bytes() == (dumped / "m.xml").read_bytes()
    assert (dumped / "b.bin").read_bytes() == (dumped / "m.bin").read_bytes()


def test_text_with_a_side_file_loses_nothing(dumped: Path) -> None:
    last = max((dumped / "dumps").glob("*.mlir"), key=lambda path: int(path.name.partition("-")[0]))
    copy = dumped / "copy.mlir"
    assert moir_opt([str(last), "--weights-file", str(dumped / "copy.bin"), "-o", str(copy)]) == 0
    assert moir_opt([str(copy), "-t", "ir", "-o", str(dumped / "copied.xml")]) == 0
    assert (dumped / "copied.xml").read_bytes() == (dumped / "m.xml").read_bytes()
    assert (dumped / "copied.bin").read_bytes() == (dumped / "m.bin").read_bytes()


def test_the_result_computes_what_the_model_does(dumped: Path, compressed: bool) -> None:
    x = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)
    expected = onnxruntime.InferenceSession(dumped / "m.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x})
    compiled = openvino.Core().compile_model(dumped / "m.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled([x])
    for index, reference in enumerate(expected):
        np.testing.assert_allclose(results[index], reference, rtol=2e-2 if compressed else 1e-4, atol=2e-2 if compressed else 1e-5)


def test_dumps_of_an_earlier_run_are_removed(dumped: Path) -> None:
    folder = dumped / "dumps"
    (folder / "099-mine.mlir").write_text("mine")
    command = [str(dumped / "m.onnx"), "-o", str(dumped), "--silent", "--dump-ir", str(folder)]
    assert moir([*command, "--passes", "front-start"]) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["000-import.mlir", "099-mine.mlir", "dumps.json", "weights.bin"]
    assert moir(command) == 0
    assert (folder / "099-mine.mlir").read_text() == "mine"


def test_dumps_do_not_replace_the_input(dumped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = dumped / "dumps" / "000-import.mlir"
    assert moir_opt([str(first), "-p", "default", "--dump-ir", str(dumped / "dumps")]) == 1
    assert "this file belongs to the model that is converted; choose another output" in capsys.readouterr().err
    assert first.exists()


def edited(dump: Path, old: str, new: str) -> tuple[Path, int]:
    """A copy of a dump in which the first occurrence of `old` is replaced by `new`, and the line of this
    occurrence.
    """
    text = dump.read_text("utf-8")
    assert old in text
    copy = dump.with_name("edited.mlir")
    copy.write_text(text.replace(old, new, 1), encoding="utf-8")
    return copy, text[: text.index(old)].count("\n") + 1


def test_an_edit_that_contradicts_the_rest_is_an_error_with_its_place(dumped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = next(iter(sorted((dumped / "dumps").glob("*-eliminate-dead.mlir"))))
    capsys.readouterr()
    copy, line = edited(dump, "tensor<?x4xf32>", "tensor<?x5xf32>")
    output = dumped / "edited.xml"
    assert moir_opt([str(copy), "-p", f"default{{after={dump.stem}}}", "-t", "ir", "-o", str(output)]) == 1
    message = capsys.readouterr().err
    place, column = message.removeprefix(f"moir-opt: error: {copy}:").split(":")[:2]
    assert int(place) > line
    assert int(column) == 5
    assert message.count("\n") == 1
    assert not output.exists()
    assert not output.with_suffix(".bin").exists()


def test_a_shape_of_the_import_can_be_edited(dumped: Path, compressed: bool) -> None:
    """The lowering infers all types from those of the inputs."""
    copy, _ = edited(dumped / "dumps" / "000-import.mlir", "tensor<?x4xf32>", "tensor<5x4xf32>")
    output = dumped / "edited.xml"
    options = ["-p", f"default{{compress-to-fp16={str(compressed).lower()}}}", "-t", "ir"]
    assert moir_opt([str(copy), *options, "-o", str(output)]) == 0
    assert openvino.Core().read_model(output).inputs[0].get_partial_shape() == openvino.PartialShape([5, 4])


def test_other_types_can_be_inferred_again(dumped: Path, compressed: bool) -> None:
    dump = next(iter(sorted((dumped / "dumps").glob("*-eliminate-dead.mlir"))))
    copy, _ = edited(dump, "tensor<?x4xf32>", "tensor<5x4xf32>")
    output = dumped / "edited.xml"
    assert moir_opt([str(copy), "--reinfer-types", *resumed(dump, compressed), "-o", str(output)]) == 0
    model = openvino.Core().read_model(output)
    assert model.inputs[0].get_partial_shape() == openvino.PartialShape([5, 4])
