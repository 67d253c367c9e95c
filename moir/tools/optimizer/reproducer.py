"""Reproducers: the module before a pass that failed, in a file that `moir-opt` runs.

    // Pass fuse-gelu failed: opset7.Gelu 'act': …
    // reproduce: moir-opt crash.mlir --pass-pipeline='builtin.module(fuse-gelu)'
    builtin.module { … }

`moir-opt crash.mlir --run-reproducer` takes the passes and the target from the second line. Weights are beside the
file, in `crash.mlir.bin`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from io import StringIO
from itertools import islice
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.dialects.data import DataAttr
from moir.errors import UsageError
from moir.files.output import TEXT_FILE, WEIGHTS_FILE, replacing_file
from moir.pipeline import spec_text
from moir.support.xdsl_passes import ModulePass
from moir.tools.argument_parser import ArgumentParser
from moir.tools.failures import describe, one_line
from moir.tools.optimizer.ir_printing import ModuleObserver
from moir.tools.optimizer.text import print_module
from moir.tools.optimizer.weights_file import WeightsWriter
from moir.tools.streams import STANDARD

COMMAND = "// reproduce: moir-opt "
_HEADER_LINES = 10

TAKEN = ("pass_pipeline", "target", "verify_each", "disable_verify")
"""The options that `--run-reproducer` takes from the file.

Options that load code must be given on the command line.
"""

_FLAGS = {"--verify-each": "verify_each", "--disable-verify": "disable_verify"}

_EXTENSIONS = {
    "extensions": "--extensions",
    "transformations_config": "--transformations-config",
    "tensorflow_object_detection_api_pipeline_config": "--tensorflow-object-detection-api-pipeline-config",
    "detection": "--detection",
    "enable": "--enable",
    "disable": "--disable",
}


class ReproducerWriter(ModuleObserver):
    """Keeps a copy of the module before the current pass, and writes the copy if the pass fails.

    The copy shares the weights with the module, so it takes little memory.

    Args:
        path: the file to write.
        options: the options of the command line.
    """

    def __init__(self, path: Path, options: argparse.Namespace) -> None:
        self.path = path
        self._options = options
        self._module = ModuleOp([])
        self._passes: dict[int, ModulePass] = {}
        self._before: ModuleOp | None = None
        self._running: ModulePass | None = None

    def watch(self, module: ModuleOp, passes: Sequence[ModulePass], first: int) -> None:
        self._module, self._passes = module, dict(enumerate(passes, first))
        self._before = self._running = None

    def start(self, number: int, stage: str) -> None:
        self._before, self._running = self._module.clone(), self._passes[number]

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        self._before = self._running = None

    def fail(self, error: Exception) -> None:
        if isinstance(error, OSError | UsageError):
            return
        failed = "The output" if self._running is None else f"Pass {self._running.name}"
        header = f"// {failed} failed: {one_line(describe(error))}\n{COMMAND}{shlex.join(self._arguments())}\n"
        try:
            self._write(header, self._before or self._module)
        except OSError as failure:
            print(f"moir-opt: the reproducer cannot be written: {describe(failure)}", file=sys.stderr)
        else:
            print(f"moir-opt: {self.path} reproduces the following error", file=sys.stderr)

    def _arguments(self) -> list[str]:
        options = self._options
        arguments = [self.path.name]
        if self._running is not None:
            arguments.append(f"--pass-pipeline=builtin.module({spec_text(self._running)})")
        elif options.target != "mlir":
            arguments.append(f"--target={options.target}")
        arguments.extend(flag for flag, given in _FLAGS.items() if getattr(options, given))
        for name, flag in _EXTENSIONS.items():
            if given := getattr(options, name):
                arguments.append(f"{flag}={','.join(map(_absolute, given.split(',')))}")
        if options.extension_layout:
            arguments.append(f"--extension-layout={options.extension_layout}")
        return arguments

    def _write(self, header: str, module: ModuleOp) -> None:
        text = StringIO()
        with ExitStack() as stack:
            writer = LazyWeightsWriter(stack, weights_path_of(self.path))
            print_module(module, text, writer)
        with replacing_file(self.path, TEXT_FILE) as file:
            file.write(f"{header}{text.getvalue()}".encode())


def weights_path_of(path: Path) -> Path:
    """The side file of a reproducer."""
    return path.with_name(f"{path.name}.bin")


def check_path(path: Path) -> None:
    """Check that a reproducer, whose path is given, replaces no file but an older reproducer. Raises UsageError."""
    own = path.is_file() and _command(path) is not None
    for each in (path, weights_path_of(path)):
        if each.is_file() and not own:
            raise UsageError(f"--crash-reproducer would replace {each}, which is not a reproducer; choose another file")


def _command(path: Path) -> str | None:
    """The arguments of `moir-opt` in the first lines of a reproducer; None if the file is not a reproducer."""
    with path.open(encoding="utf-8", errors="replace") as file:
        lines = (line for line in islice(file, _HEADER_LINES) if line.startswith(COMMAND))
        return next((line.removeprefix(COMMAND) for line in lines), None)


class LazyWeightsWriter:
    """A side file that is created when the first value is stored (a `SideFileWriter`).

    Args:
        stack: closes the file.
        path: the file.
    """

    def __init__(self, stack: ExitStack, path: Path) -> None:
        self._stack = stack
        self._path = path
        self._writer: WeightsWriter | None = None

    def store(self, data: DataAttr) -> tuple[str, int]:
        """Store the bytes of a value; returns the name of the file and the offset in it, in bytes."""
        if self._writer is None:
            self._writer = WeightsWriter(self._stack.enter_context(replacing_file(self._path, WEIGHTS_FILE)), self._path.name)
        return self._writer.store(data)


def _absolute(text: str) -> str:
    return str(Path(text).resolve()) if Path(text).exists() else text


def take_command(options: argparse.Namespace, parser: ArgumentParser) -> None:
    """Set the options of `--run-reproducer` that the input file names.

    Raises UsageError if the file is not a reproducer, or needs extensions that the command line does not name.
    """
    if options.input_file in (None, STANDARD):
        raise UsageError("--run-reproducer needs the name of a file")
    command = _command(Path(options.input_file))
    if command is None:
        raise UsageError(f"{options.input_file} is not a reproducer: it has no line {COMMAND.strip()!r}")
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the command of {options.input_file} cannot be read: {error}") from error
    namespace = parser.parsed(arguments)
    for name, flag in _EXTENSIONS.items():
        if getattr(namespace, name) and not getattr(options, name):
            raise UsageError(f"this reproducer needs extensions, which are loaded only if you say so: {flag}={getattr(namespace, name)}")
    for name in TAKEN:
        setattr(options, name, getattr(namespace, name))
    options.extension_layout = options.extension_layout or namespace.extension_layout
