"""What README.md says is so: its commands and programs run, its excerpts are in the files they are from, its paths exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from google.protobuf import text_format
from onnx import TensorProto, helper

from moir.frontends.tensorflow.messages import message_class

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [text for name, text in BLOCKS if name == language]


def is_excerpt(text: str) -> bool:
    """Whether a block of Python begins with the file it is from."""
    return text.startswith("# moir/")


EXCERPTS = [text for text in blocks("python") if is_excerpt(text)]
PROGRAMS = [text for text in blocks("python") if not is_excerpt(text)]
COMMANDS = [shlex.split(line, comments=True) for text in blocks("sh") for line in text.splitlines()]


def place_models(folder: Path) -> None:
    """The model files that the README's commands and programs convert."""
    shutil.copy(ROOT / "examples" / "digits" / "digits.onnx", folder / "model.onnx")
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4]) for name in ("x", "y")]
    node = helper.make_node("HardTanh", ["x"], ["y"], "tanh", domain="com.example", limit=2.0)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.example", 1)]
    onnx.save(
        helper.make_model(helper.make_graph([node], "custom", tensors[:1], tensors[1:]), opset_imports=imports), folder / "custom.onnx"
    )


def place_tensorflow_models(folder: Path) -> None:
    """The same of TensorFlow."""
    fixtures = ROOT / "tests" / "fixtures" / "tensorflow"
    shutil.copytree(fixtures / "keras_3", folder / "saved_model_folder")
    shutil.copy(fixtures / "checkpoint" / "inference.pbtxt", folder / "graph.pbtxt")
    for path in (fixtures / "checkpoint").glob("model.*"):
        shutil.copy(path, folder / path.name.replace("model.", "model.ckpt."))
    graph = text_format.Parse((fixtures / "convolution.pbtxt").read_text(), message_class("GraphDef")())
    (folder / "frozen.pb").write_bytes(graph.SerializeToString())


def environment() -> dict[str, str]:
    """Environment variables with the commands of this Python's environment in front, and the package importable from anywhere."""
    paths = {"PATH": str(Path(sys.executable).parent), "PYTHONPATH": str(ROOT)}
    return os.environ | {name: os.pathsep.join(filter(None, (path, os.environ.get(name)))) for name, path in paths.items()}


def run(command: list[str], folder: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; it must succeed."""
    finished = subprocess.run(command, cwd=folder, env=environment(), input=text, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, f"{shlex.join(command)}: {finished.stderr}"
    return finished


def test_there_are_examples_of_each_sort() -> None:
    assert len(EXCERPTS) == 4
    assert len(PROGRAMS) == 3
    assert {command[0] for command in COMMANDS} == {"make", "moir", "moir-opt"}


def test_commands(tmp_path: Path) -> None:
    place_models(tmp_path)
    place_tensorflow_models(tmp_path)
    for command in COMMANDS:
        if command[0] == "make":
            assert re.search(rf"^{command[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        else:
            assert run(command, tmp_path).stdout or "-o" in command
    for written in ("model.xml", "out/network.bin", "dumps/00-import.mlir"):
        assert (tmp_path / written).exists()
    # A dump that is fed back ends in the same files.
    for suffix in (".xml", ".bin"):
        assert (tmp_path / "resumed").with_suffix(suffix).read_bytes() == (tmp_path / "out" / "model").with_suffix(suffix).read_bytes()


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: str, tmp_path: Path) -> None:
    place_models(tmp_path)
    run([sys.executable, "-c", program], tmp_path)
    if '"custom.xml"' in program:
        assert 'type="Clamp"' in (tmp_path / "custom.xml").read_text()


def test_a_handler_of_a_user_goes_in_front_of_ours(tmp_path: Path) -> None:
    place_models(tmp_path)
    program = (
        "import moir; from moir.lowering.onnx.table import onnx;"
        "onnx.lowers('Sigmoid')(lambda node, op: op.Tanh(node.operand(0)));"
        "print({each.name for each in moir.convert_model('model.onnx').walk()})"
    )
    printed = run([sys.executable, "-c", program], tmp_path).stdout
    assert "opset1.Tanh" in printed
    assert "opset4.Swish" not in printed


@pytest.mark.parametrize("excerpt", EXCERPTS)
def test_excerpts_are_in_their_files(excerpt: str) -> None:
    path, _, code = excerpt.partition("\n")
    assert code in (ROOT / path.removeprefix("# ")).read_text(encoding="utf-8")


@pytest.mark.parametrize("text", blocks("mlir"))
def test_text_of_modules(text: str, tmp_path: Path) -> None:
    assert run(["moir-opt"], tmp_path, text).stdout.strip() == text.strip()
    assert "opset4.SoftPlus(%0)" in run(["moir-opt", "-p", "fuse-soft-plus"], tmp_path, text).stdout


def test_paths_exist() -> None:
    named = re.findall(r"`((?:moir|tests|scripts|benchmarks|examples|docs)(?:/[\w.-]+)*)`", README) + re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(named) > 20
    assert [path for path in named if path != "moir" and not (ROOT / path).exists()] == []


def test_the_table_lists_all_packages() -> None:
    packages = {path.parent for path in (ROOT / "moir").glob("*/*.py")}
    listed = {ROOT / path for path in re.findall(r"^\| `([^`]+)` \|", README, re.MULTILINE)}
    assert packages <= listed
