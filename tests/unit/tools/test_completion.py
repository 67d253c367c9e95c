"""Completion scripts: what bash completes, and that zsh and fish accept theirs where they are installed."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest

from moir.frameworks import converted
from moir.tools.convert import COMMANDS, argument_parser, main


@pytest.fixture
def script(tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["--completion", request.param]) == 0
    path = tmp_path / f"moir.{request.param}"
    path.write_text(capsys.readouterr().out)
    return path


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("moir pa", ["passes"]),
        ("moir m.onnx --compress", ["--compress-to-fp16", "--compress-weights"]),
        ("moir m.onnx --layout-change n", ["none"]),
        ("moir m.onnx --layout-change = n", ["none"]),
        ("moir m.onnx --passes fuse-gel", ["fuse-gelu"]),
        ("moir passes --framework ", [each.dialect for each in converted()]),
        ("moir passes --fra", ["--framework"]),
        ("moir m.onnx -o ne", ["net.onnx"]),
        ("moir ne", ["net.onnx", "new-extension"]),
        ("moir-opt m.mlir --resume-after fuse-gel", ["fuse-gelu"]),
    ],
)
def test_bash(script: Path, words: str, expected: list[str]) -> None:
    (script.parent / "net.onnx").touch()
    tool, *_ = words.split()
    typed = " ".join(f"'{word}'" for word in words.split(" "))
    complete = f"source {script}; COMP_WORDS=({typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _{tool.replace('-', '_')}"
    done = subprocess.run(
        ["bash", "-c", f'{complete}; printf "%s\\n" "${{COMPREPLY[@]}}"'], cwd=script.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == expected


@pytest.mark.parametrize("script", ["bash", "zsh", "fish"], indirect=True)
def test_every_option_is_in_the_scripts(script: Path) -> None:
    text = script.read_text()
    for action in argument_parser()._actions:
        for option in action.option_strings if action.help != argparse.SUPPRESS else ():
            kind = "l" if option.startswith("--") else "s" if len(option) == 2 else "o"
            assert (f"-{kind} {option.lstrip('-')}" if script.suffix == ".fish" else option) in text
    assert all(name in text for name in COMMANDS)
    shell = script.suffix[1:]
    if shutil.which(shell):
        subprocess.run([shell, "-n", str(script)], check=True)
