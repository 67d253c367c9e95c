"""Mistakes in options: no abbreviations, and the nearest names."""

from __future__ import annotations

import pytest

from moir.errors import UsageError
from moir.tools.argument_parser import ArgumentParser


def parser() -> ArgumentParser:
    made = ArgumentParser(prog="tool")
    made.add_argument("model", metavar="MODEL")
    made.add_argument("--compress-to-fp16", action="store_true")
    made.add_argument("--layout-change", choices=("auto", "none"))
    made.add_argument("--number", type=int)
    return made


def test_what_is_right() -> None:
    options = parser().parsed(["m.onnx", "--layout-change", "none", "--compress-to-fp16"])
    assert (options.model, options.layout_change, options.compress_to_fp16) == ("m.onnx", "none", True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.onnx", "--compress"], "there is no option --compress; did you mean --compress-to-fp16?"),
        (["m.onnx", "--compress_to_fp16"], "there is no option --compress_to_fp16; did you mean --compress-to-fp16?"),
        (["m.onnx", "--layuot-change=auto"], "there is no option --layuot-change; did you mean --layout-change?"),
        (["m.onnx", "--layout-change=non"], "--layout-change cannot be 'non'; did you mean none?"),
        (["m.onnx", "--layout-change=x"], "--layout-change cannot be 'x'; it is auto or none"),
        (["m.onnx", "--number", "x"], "argument --number: invalid int value: 'x'; see tool --help"),
        (["m.onnx", "n.onnx"], "the argument 'n.onnx' is one too many; see tool --help"),
        ([], "MODEL is missing; see tool --help"),
        (["--nothing"], "there is no option --nothing; see tool --help"),
    ],
)
def test_mistakes(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parser().parsed(arguments)
    assert str(caught.value) == message
