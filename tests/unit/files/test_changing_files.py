"""Files that change while a model is read from them and converted are errors, and nothing is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from moir import convert_model, save_model
from moir.errors import ModelFileError
from moir.files import reading
from moir.files.reading import map_file, read_whole

CHANGED = "the file has changed while it was read; convert it again when nothing writes to it"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model whose weights are in a file of their own, several pages long."""
    weights = numpy_helper.from_array(np.arange(300_000, dtype=np.float32).reshape(100, 3000), "w")
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 100])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [helper.make_empty_tensor_value_info("y")], [weights]
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return tmp_path / "m.onnx"


def run(model: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the folder of a model, in a process of its own, which a fault may end."""
    before = "import os, sys; import moir; from moir.errors import ModelFileError\n"
    return subprocess.run(
        [sys.executable, "-c", before + program], cwd=model.parent, capture_output=True, text=True, check=False, timeout=120
    )


STAGES = {
    "written": "moir.save_model(module, 'o.xml')",
    "compressed": "moir.save_model(module, 'o.xml', compress_to_fp16=True)",
    "in memory": "moir.to_openvino(module)",
}


@pytest.mark.parametrize("size", [0, 5000])
@pytest.mark.parametrize("stage", STAGES)
def test_weights_that_become_shorter_are_an_error(model: Path, stage: str, size: int) -> None:
    finished = run(model, f"module = moir.convert_model('m.onnx'); os.truncate('w.bin', {size})\n{STAGES[stage]}")
    assert finished.returncode == 1, finished
    assert CHANGED in finished.stderr
    assert sorted(os.listdir(model.parent)) == ["m.onnx", "w.bin"]


def test_a_model_that_becomes_shorter_is_an_error_in_place_of_what_it_causes(model: Path) -> None:
    """The reader finds zeros where the rest of the file was, which it would call damage."""
    content = onnx.load(model)
    onnx.save(content, model)
    program = """
from moir.files.protobuf import wire
split = wire.Splitter.split
def shrinking(*given):
    os.truncate('m.onnx', 100)
    return split(*given)
wire.Splitter.split = shrinking
try:
    moir.convert_model('m.onnx')
except ModelFileError as error:
    print(error)
"""
    finished = run(model, program)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip().endswith(f"m.onnx: {CHANGED}")


def test_the_command_says_so(model: Path) -> None:
    program = """
from moir.emit import write
from moir.tools.convert import main
before = write.write_xml
def shrinking(*given):
    os.truncate('w.bin', 0)
    return before(*given)
write.write_xml = shrinking
sys.exit(main(['m.onnx', '-o', 'o.xml']))
"""
    (model.parent / "o.xml").write_text('<?xml version="1.0"?><net name="older" version="11"/>')
    (model.parent / "o.bin").write_bytes(b"older")
    finished = run(model, program)
    assert finished.returncode == 1
    assert finished.stderr.strip().splitlines()[-1].endswith(f"w.bin: {CHANGED}")
    assert (model.parent / "o.bin").read_bytes() == b"older"


def test_other_faults_end_the_process(model: Path) -> None:
    program = """
import mmap
mapped = moir.files.reading.map_file(__import__('pathlib').Path('w.bin'))
with open('other', 'wb') as file:
    file.write(bytes(100_000))
with open('other', 'rb') as file:
    own = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
os.truncate('other', 0)
own[50_000]
"""
    assert run(model, program.replace("import mmap", "import mmap, moir.files.reading")).returncode < 0


def test_weights_that_are_written_to_are_an_error(model: Path) -> None:
    module = convert_model(model)
    with (model.parent / "w.bin").open("r+b") as file:
        file.write(b"\1")
    os.utime(model.parent / "w.bin", ns=(1, 1))
    with pytest.raises(ModelFileError, match=CHANGED):
        save_model(module, model.parent / "o.xml")
    assert not (model.parent / "o.xml").exists()


def test_weights_in_whose_place_others_are_stay_what_they_were(model: Path) -> None:
    module = convert_model(model)
    # The weights of a product are written transposed.
    expected = np.fromfile(model.parent / "w.bin", np.float32).reshape(100, 3000).T.tobytes()
    (model.parent / "new").write_bytes(bytes(100))
    os.replace(model.parent / "new", model.parent / "w.bin")
    save_model(module, model.parent / "o.xml")
    assert (model.parent / "o.bin").read_bytes() == expected


def test_only_regular_files_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        with pytest.raises(ModelFileError, match="not a regular file"):
            map_file(path)
    # What a path means may change between a look at it and the opening.
    monkeypatch.setattr(reading.os, "stat", lambda *_: os.lstat(__file__))
    with pytest.raises(ModelFileError, match="not a regular file"):
        map_file(tmp_path / "pipe")


def test_a_whole_file_has_a_limit(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"x" * 100)
    assert read_whole(tmp_path / "c", "a text", 100) == b"x" * 100
    with pytest.raises(ModelFileError, match=r"c: larger than 99 bytes; is it a text\?"):
        read_whole(tmp_path / "c", "a text", 99)
    with pytest.raises(ModelFileError, match="larger than 1 MiB"):
        read_whole(Path("/dev/zero"), "a text")
