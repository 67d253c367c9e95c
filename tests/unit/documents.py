"""Documents as tests read them: fenced blocks, the files they contain, the commands with what they print.

A fenced block whose first line is a comment with a path is that file. Blocks of `console` are commands after `$` with
their output, where `…` stands for anything within a line, and on a line of its own for any number of lines. Blocks of
`sh` are commands with comments. All other blocks are only read.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np
import onnx
from google.protobuf import text_format
from onnx import TensorProto, helper

from moir.frontends.tensorflow.messages import message_class
from tests.unit.frontends.gguf.written_files import write_file
from tests.unit.frontends.tensorflow_js.exporter import (
    functional,
    input_layer,
    keras_topology,
    layer,
    written_model,
    written_weights,
)
from tests.unit.language_models.folders import write_folder

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "CHANGELOG.md", "SECURITY.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
"""The documents, as paths relative to the repository."""


def text_of(document: str) -> str:
    """The text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str) -> list[tuple[str, str]]:
    """Language and text of the fenced blocks."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text_of(document), re.MULTILINE | re.DOTALL)


def blocks_of(document: str, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [text for name, text in blocks(document) if name == language]


def is_excerpt(text: str) -> bool:
    """Whether a block is a part of a file of the package, which its first line names."""
    return text.startswith("# moir/")


def files(document: str) -> dict[str, str]:
    """The files of a document by path. Comments stay where the language has them."""
    files: dict[str, str] = {}
    for language, text in blocks(document):
        first, _, rest = text.partition("\n")
        if (match := re.fullmatch(r"(?:#|//) ([\w./]+\.(?:py|json|mlir|toml))", first)) and not is_excerpt(text):
            assert match[1] not in files, f"{match[1]} is in {document} twice"
            files[match[1]] = rest if language == "json" else text
    return files


def programs(document: str) -> list[str]:
    """The blocks of Python that are neither files nor excerpts: programs that run by themselves."""
    return [text for text in blocks_of(document, "python") if not re.match(r"# [\w./]+\.py\n", text)]


def excerpts(document: str) -> list[str]:
    """The blocks that are parts of files of the package."""
    return [text for text in blocks_of(document, "python") if is_excerpt(text)]


def lay_out(document: str, folder: Path) -> None:
    """Write the files of a document."""
    for path, text in files(document).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def _line_pattern(line: str) -> str:
    """The width of columns does not matter."""
    return re.sub(r"(?:\\ )+", " +", re.escape(line)).replace("…", ".*") + r"\n"


@dataclass(frozen=True)
class Command:
    """A command line and the lines it prints."""

    line: str
    expected: tuple[str, ...]

    @property
    def pattern(self) -> str:
        """A regular expression for what it prints."""
        return "".join(r"(?:.*\n)*" if line == "…" else _line_pattern(line) for line in self.expected)


def commands(document: str) -> list[Command]:
    """The commands of a document whose output it shows, in order."""
    commands: list[Command] = []
    for text in blocks_of(document, "console"):
        lines = text.splitlines()
        for index, line in enumerate(lines):
            if line.startswith("$ "):
                commands.append(Command(line[2:], tuple(takewhile(lambda each: not each.startswith("$ "), lines[index + 1 :]))))
    return commands


def shell_commands(document: str) -> Iterator[list[str]]:
    """The commands of a document whose output it does not show, as arguments."""
    for text in blocks_of(document, "sh"):
        for line in text.splitlines():
            if arguments := shlex.split(line, comments=True):
                yield arguments


def is_synopsis(command: list[str]) -> bool:
    """Whether a command has placeholders, words in capitals, in the place of arguments."""
    return any(re.fullmatch(r"[A-Z]+(?:\.\.\.|\[,[A-Z]+\])?", each) for each in command)


def environment() -> dict[str, str]:
    """Environment variables with the commands of this Python's environment in front, and the package importable from anywhere."""
    paths = {"PATH": str(Path(sys.executable).parent), "PYTHONPATH": str(ROOT)}
    return os.environ | {name: os.pathsep.join(filter(None, (path, os.environ.get(name)))) for name, path in paths.items()}


def run(command: list[str], folder: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; it must succeed."""
    finished = subprocess.run(command, cwd=folder, env=environment(), input=text, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, f"{shlex.join(command)}: {finished.stderr}"
    return finished


def run_commands(document: str, folder: Path) -> None:
    """Run the commands of a document in a folder; they must print what it shows, and fail where that is an error."""
    for command in commands(document):
        options = {"shell": True, "cwd": folder, "env": environment(), "text": True, "check": False}
        finished = subprocess.run(command.line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        assert re.fullmatch(command.pattern, finished.stdout), f"$ {command.line}\n{finished.stdout}"
        assert (finished.returncode != 0) == (": error: " in finished.stdout), f"{command.line}: {finished.returncode}"


def place_digits(folder: Path) -> None:
    """The classifier of digits and its images, as in a checkout and beside the other files."""
    shutil.copytree(ROOT / "examples" / "digits", folder / "examples" / "digits", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("digits.onnx", "held_out.npz"):
        shutil.copy(ROOT / "examples" / "digits" / name, folder / name)


def place_models(folder: Path) -> None:
    """The model files that commands and programs of documents convert: `model.onnx` with `samples.npz`, and `custom.onnx`
    with a kind of its own.
    """
    shutil.copy(ROOT / "examples" / "digits" / "digits.onnx", folder / "model.onnx")
    np.savez(folder / "samples.npz", image=np.zeros((4, 1, 8, 8), np.float32))
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4]) for name in ("x", "y")]
    node = helper.make_node("HardTanh", ["x"], ["y"], "tanh", domain="com.example", limit=2.0)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.example", 1)]
    onnx.save(
        helper.make_model(helper.make_graph([node], "custom", tensors[:1], tensors[1:]), opset_imports=imports), folder / "custom.onnx"
    )


def place_models_of_newer_frameworks(folder: Path) -> None:
    """Put models of newer frameworks into a folder.

    They are `model.keras`, `model.json` of TensorFlow.js, `program.mlir`, `model.pt2`, `model.tflite`,
    `inference.pdmodel` and language models.
    """
    write_folder(folder / "Llama-3.2-1B")
    write_file(folder / "Qwen3-8B-Q4_K_M.gguf")
    fixtures = Path(__file__).parents[1] / "fixtures"
    shutil.copy(fixtures / "keras" / "functional.keras", folder / "model.keras")
    layers = [input_layer("x", [4]), layer("Dense", "fc", ["x"], units=3, use_bias=False)]
    manifest = written_weights(folder, [{"fc/kernel": np.ones((4, 3), np.float32)}])
    written_model(folder, keras_topology(functional(layers, ["x"], ["fc"])), manifest, format="layers-model")
    shutil.copy(fixtures / "stablehlo" / "mlp.mlir", folder / "program.mlir")
    shutil.copy(fixtures / "pytorch" / "classifier.pt2", folder / "model.pt2")
    shutil.copy(fixtures / "tflite" / "network.tflite", folder / "model.tflite")
    for suffix in (".pdmodel", ".pdiparams"):
        shutil.copy(fixtures / "paddle" / f"classifier{suffix}", folder / f"inference{suffix}")


def place_tensorflow_models(folder: Path) -> None:
    """The same of TensorFlow."""
    fixtures = ROOT / "tests" / "fixtures" / "tensorflow"
    shutil.copytree(fixtures / "keras_3", folder / "saved_model_folder")
    shutil.copy(fixtures / "checkpoint" / "inference.pbtxt", folder / "graph.pbtxt")
    for path in (fixtures / "checkpoint").glob("model.*"):
        shutil.copy(path, folder / path.name.replace("model.", "model.ckpt."))
    graph = text_format.Parse((fixtures / "convolution.pbtxt").read_text(), message_class("GraphDef")())
    (folder / "frozen.pb").write_bytes(graph.SerializeToString())
