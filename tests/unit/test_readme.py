"""What README.md says is so: its commands and programs run, and its text of a module is one."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.unit.documents import (
    blocks_of,
    is_synopsis,
    lay_out,
    place_digits,
    place_models,
    place_models_of_newer_frameworks,
    place_tensorflow_models,
    programs,
    run,
    run_commands,
    shell_commands,
    text_of,
)

README = "README.md"
COMMANDS = list(shell_commands(README))


def test_it_begins_with_installing_and_a_first_conversion() -> None:
    headings = re.findall(r"^## (.+)$", text_of(README), re.MULTILINE)
    assert headings[:3] == ["Install", "The first conversion", "Five minutes"]


def test_there_are_examples_of_each_sort() -> None:
    assert len(programs(README)) == 2
    assert {command[0] for command in COMMANDS} == {"python", "moir", "moir-opt"}


def test_commands_print_what_it_says(tmp_path: Path) -> None:
    place_digits(tmp_path)
    place_models(tmp_path)
    lay_out(README, tmp_path)
    run_commands(README, tmp_path)


def test_other_commands(tmp_path: Path) -> None:
    place_models(tmp_path)
    place_tensorflow_models(tmp_path)
    place_models_of_newer_frameworks(tmp_path)
    for command in COMMANDS:
        # tests/unit/test_package.py installs the package.
        if command[:4] != ["python", "-m", "pip", "install"]:
            assert not is_synopsis(command)
            assert run(command, tmp_path).stdout or "-o" in command, shlex.join(command)
    for written in ("model.xml", "out/network.bin", "dumps/000-import.mlir"):
        assert (tmp_path / written).exists()
    # A dump that is fed back ends in the same files.
    for suffix in (".xml", ".bin"):
        assert (tmp_path / "resumed").with_suffix(suffix).read_bytes() == (tmp_path / "out" / "model").with_suffix(suffix).read_bytes()


@pytest.mark.parametrize("program", programs(README))
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


@pytest.mark.parametrize("text", blocks_of(README, "mlir"))
def test_text_of_modules(text: str, tmp_path: Path) -> None:
    assert run(["moir-opt"], tmp_path, text).stdout.strip() == text.strip()
    assert "opset4.SoftPlus(%0)" in run(["moir-opt", "-p", "fuse-soft-plus"], tmp_path, text).stdout
