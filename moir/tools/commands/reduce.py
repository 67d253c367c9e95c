"""`moir reduce`: a small part of a model that still fails, for a report without anyone's weights.

    moir reduce model.onnx --check ./fails.sh -o small.onnx

The command gets the path of a candidate as its last argument, and ends with the exit status 0 as long as it fails.
The candidate is an ONNX model if MODEL is one and ONNX Runtime is installed. Else it is a text of moir in the dialect
of the framework, which `moir-opt CANDIDATE -p default -t ir -o model.xml` converts, and which `moir run` and
`moir bisect` read. Beside it are the values that its inputs and outputs had in the whole model, in files with the same
beginning: `-inputs.npz`, `-reference.npz`.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from moir.errors import UsageError
from moir.tools.argument_parser import ArgumentParser
from moir.tools.arrays import read_arrays
from moir.tools.commands.candidates import write_candidate
from moir.tools.commands.run import inputs_of, runner_of
from moir.tools.conversion_arguments import add_input_arguments, add_model_arguments, add_parameters, conversion_options
from moir.tools.failures import report_failures
from moir.tools.model_reading import opened_model
from moir.tools.streams import text_output

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.memory_map import Array
    from moir.execution.integer_ranges import Ranges
    from moir.options import ConversionOptions
    from moir.reduction.reduced import Candidate, Reduced


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir reduce`."""
    from moir.parameters.interface import INPUT
    from moir.reduction.reduce import SECONDS

    parser = ArgumentParser(prog="moir reduce", description="Make a failing model smaller, while it still fails.")
    parser.add_argument("model", metavar="MODEL", help="model file, folder of a SavedModel, OpenVINO IR (.xml) or text of moir (.mlir)")
    parser.add_argument(
        "--check", metavar="CMD", required=True, help="command that gets the path of a smaller model, and exits with 0 if that fails, too"
    )
    parser.add_argument(
        *("-o", "--output-file"),
        dest="place",
        metavar="FILE",
        help="where to write the small model (default: reduced, in the current folder)",
    )
    add_input_arguments(parser)
    parser.add_argument("--near", metavar="NAME[,NAME]", help="tensors that the failure is about, where the search begins")
    parser.add_argument("--seconds", metavar="N", type=float, default=SECONDS, help=f"time limit (default: {SECONDS:.0f})")
    parser.add_argument("--keep-weights", action="store_true", help="do not replace the weights by random ones")
    add_parameters(parser, [INPUT])
    add_model_arguments(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir reduce`; returns the exit status."""
    return report_failures("moir reduce", lambda: _reduce(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _reduce(options: argparse.Namespace) -> int:
    command = _command(options.check)
    given = conversion_options(options)
    output = Path(options.place or "reduced").with_suffix("")
    near = [name.strip() for name in (options.near or "").split(",") if name.strip()]
    with opened_model(options.model) as model, TemporaryDirectory(prefix="moir-") as folder:

        def fails(candidate: Candidate) -> bool:
            path = write_candidate(candidate, Path(folder) / "candidate")
            return subprocess.run([*command, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

        smaller = reduced_model(
            model,
            given,
            fails,
            arrays=None if options.inputs is None else read_arrays(options.inputs),
            seed=options.seed,
            ranges=options.ranges,
            near=near,
            seconds=options.seconds,
            keeps_weights=options.keep_weights,
        )
        path = write_candidate(smaller.candidate, output)
    text_output().write(f"reduced     {smaller}, after {smaller.checks} checks\nfile        {path}\n")
    return 0


def reduced_model(
    model: Path | ModuleOp,
    options: ConversionOptions,
    fails: Callable[[Candidate], bool],
    *,
    arrays: Mapping[str, Array] | None,
    seed: int,
    ranges: Ranges,
    near: Iterable[str],
    seconds: float,
    keeps_weights: bool,
) -> Reduced:
    """Run a model once, and reduce it.

    Args:
        model: a model file or a module.
        options: the options of its reader, and shapes of its inputs.
        fails: whether a candidate still fails.
        arrays: the inputs; None for random ones.
        seed: the seed of random inputs.
        ranges: the least and the greatest number of random inputs, by name.
        near: names of tensors that the failure is about, where the search begins.
        seconds: the time after which the smallest part so far is the result.
        keeps_weights: whether the weights stay.

    Raises UsageError if the whole model does not fail, and ExecutionError if it cannot be run.
    """
    from moir.reduction.full_model import full_model
    from moir.reduction.reduce import reduced

    runner = runner_of(model, options, None, arrays)
    whole = full_model(model, options, runner, inputs_of(runner, options, arrays, seed, ranges))
    return reduced(whole.graph, fails, whole.numbers(near), seconds=seconds, keeps_weights=keeps_weights)


def _command(text: str) -> list[str]:
    """The words of a command line, given as text. Raises UsageError if it is empty, or names no program."""
    from shutil import which

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--check cannot be read: {error}") from error
    if not words or which(words[0]) is None:
        raise UsageError(f"--check: there is no program {words[0] if words else ''!r}", hint="give a command with its path: ./fails.sh")
    return words
