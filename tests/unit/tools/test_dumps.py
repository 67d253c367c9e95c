"""`--dump-ir` and the output of a conversion touch no file but their own."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import moir
from moir.errors import EmissionError
from moir.tools.convert import main
from tests.unit.small_models import matmul_model, save


def external(folder: Path, name: str, weights: str) -> Path:
    """A model whose weights are in a file of their own."""
    onnx.save(matmul_model(), folder / name, save_as_external_data=True, location=weights, size_threshold=0)
    return folder / name


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("model", "weights", "arguments", "status", "message"),
    [
        ("net.onnx", "weights.bin", ["-o", "out", "--dump-ir", "."], 1, "weights.bin: this file belongs to the model that is converted"),
        ("net.onnx", "dumps.json", ["-o", "out", "--dump-ir", "."], 1, "dumps.json: "),
        ("net.onnx", "net.xml", [], 1, "net.xml: the file would be overwritten, but it is not an OpenVINO IR"),
        ("net.onnx", "net.bin", [], 1, "net.bin: the file would be overwritten, but it is not the weights of an OpenVINO IR"),
        ("weights.onnx", "w.data", ["-o", "dumps", "--dump-ir", "dumps"], 2, "weights.bin would be both output and dump"),
        ("weights.xml", "w.data", ["-o", "."], 1, "weights.xml: the file would be overwritten, but it is not an OpenVINO IR"),
    ],
)
def test_files_of_the_model_stay(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    model: str,
    weights: str,
    arguments: list[str],
    status: int,
    message: str,
) -> None:
    external(tmp_path, model, weights)
    (tmp_path / "005-mine.mlir").write_text("mine")
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main([model, *arguments]) == status
    assert message in capsys.readouterr().err
    assert contents(tmp_path) == before
    assert not (tmp_path / "dumps").exists()


def test_an_ir_in_the_place_of_the_weights_of_a_model_stays(tmp_path: Path) -> None:
    """The weights of a model may be in the `.bin` of an IR, whose replacement would be allowed."""
    model = external(tmp_path, "net.onnx", "old.bin")
    (tmp_path / "old.xml").write_text("<net/>")
    weights = (tmp_path / "old.bin").read_bytes()
    module = moir.convert_model(model)
    with pytest.raises(EmissionError, match=r"old\.bin: this file belongs to the model that is converted; choose another output"):
        moir.save_model(module, tmp_path / "old.xml")
    assert (tmp_path / "old.bin").read_bytes() == weights


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    model = save(matmul_model(), tmp_path / "m.onnx")
    assert main([str(model), "-o", str(tmp_path), "--silent", "--dump-ir", str(tmp_path / "dumps")]) == 0
    return tmp_path / "dumps"


def test_the_manifest_lists_the_dumps(dumps: Path) -> None:
    listed = json.loads((dumps / "dumps.json").read_text())["files"]
    assert sorted(listed) == sorted(path.name for path in dumps.iterdir() if path.name != "dumps.json")
    assert all(fingerprint.startswith("sha256:") for fingerprint in listed.values())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("002-lower-onnx.mlir", "edited", "002-lower-onnx.mlir was changed since it was written; move it away, or choose another folder"),
        ("weights.bin", "edited", "weights.bin was changed since it was written"),
        ("dumps.json", "[]", "dumps.json: this is not a list of dumps; choose another folder"),
        ("dumps.json", "}", "dumps.json: cannot be read: "),
        ("dumps.json", '{"files": {}}', "weights.bin would be overwritten, which is not a dump"),
        ("dumps.json", '{"files": {"weights.bin": "unfinished", "../m.onnx": "unfinished"}}', "000-import.mlir would be overwritten"),
    ],
)
def test_edited_dumps_stay(dumps: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, message: str) -> None:
    (dumps / name).write_text(content)
    before = contents(dumps)
    assert main([str(dumps.parent / "m.onnx"), "-o", str(dumps.parent), "--silent", "--dump-ir", str(dumps)]) == 1
    assert message in capsys.readouterr().err
    after = contents(dumps)
    assert after[name] == before[name] or "unfinished" in content
    assert after.keys() == before.keys()
    assert (dumps.parent / "m.onnx").exists()


def test_a_removed_dump_is_no_edit(dumps: Path) -> None:
    (dumps / "002-lower-onnx.mlir").unlink()
    assert main([str(dumps.parent / "m.onnx"), "-o", str(dumps.parent), "--silent", "--dump-ir", str(dumps)]) == 0
    assert (dumps / "002-lower-onnx.mlir").exists()


def test_dumps_in_the_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(matmul_model(), tmp_path / "m.onnx")
    (tmp_path / "file").write_text("mine")
    assert main([str(model), "-o", str(tmp_path), "--dump-ir", str(tmp_path / "file")]) == 1
    assert "file: dumps cannot be written: this is a file, not a folder" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"
