"""`moir new-extension DIR`: creates a small extension that works, with its tests. Its files are those in `template`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from moir.errors import ConversionError
from moir.tools.argument_parser import ArgumentParser
from moir.tools.failures import report_failures

FILES = (
    "front/onnx/scaled_tanh.py",
    "middle/fuse_logistic.py",
    "tests/fuse_logistic.mlir",
    "tests/test_scaled_tanh.py",
    "tests/lit.cfg.py",
)
"""The files of the extension, relative to `template` and to the new directory."""


def template(name: str) -> str:
    """The text of one of the files."""
    return files(__name__).joinpath("template", name).read_text(encoding="utf-8")


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir new-extension`."""
    parser = ArgumentParser(prog="moir new-extension", description="Write a small extension: a lowering, a pass, and their tests.")
    parser.add_argument("directory", metavar="DIR", help="directory to make; what is in it stays")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir new-extension`; returns the exit status."""
    return report_failures("moir new-extension", lambda: _write(Path(argument_parser().parsed(arguments).directory)))


def _write(directory: Path) -> int:
    for name in FILES:
        if (directory / name).exists():
            raise ConversionError("the file exists", location=str(directory / name), hint="choose another directory")
    for name in FILES:
        path = directory / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(template(name), encoding="utf-8")
        except OSError as error:
            raise ConversionError(
                f"cannot be written: {error.strerror or error}", location=str(path), hint="choose another directory"
            ) from error
    print("".join(f"{directory / name}\n" for name in FILES), end="")
    print(f"use it:  moir MODEL --extensions {directory}\ntest it: pytest {directory / 'tests'}, lit {directory / 'tests'}")
    print(f"see it:  moir passes --extensions {directory}")
    return 0
