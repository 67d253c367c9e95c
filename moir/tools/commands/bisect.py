"""`moir bisect`: finds the step of a conversion that changes the results of a model.

The exit status is 0 if the converted model agrees with the reference, and 1 if it does not.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moir.files.remote.addresses import shown
from moir.tools.argument_parser import ArgumentParser
from moir.tools.arrays import read_arrays, write_arrays
from moir.tools.commands.candidates import write_candidate, write_text
from moir.tools.conversion_arguments import (
    add_configuration_argument,
    add_conversion_arguments,
    add_input_arguments,
    add_model_arguments,
    conversion_options,
)
from moir.tools.failures import FAILED, one_line, report_failures
from moir.tools.model_reading import opened_model
from moir.tools.streams import text_output

if TYPE_CHECKING:
    from moir.bisection.verdict import Verdict


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir bisect`."""
    parser = ArgumentParser(prog="moir bisect", description="Find the step of a conversion that changes the results of a model.")
    parser.add_argument("model", metavar="MODEL", help="model file, folder of a SavedModel, or text of moir (.mlir)")
    add_input_arguments(parser)
    parser.add_argument(
        "--reference", metavar="FILE", help=".npz with outputs and inner tensors, by name (default: what the framework's runtime computes)"
    )
    parser.add_argument("--tolerance", metavar="X", type=float, help="tolerance of floating-point numbers, see docs/debugging.md")
    parser.add_argument("--no-reduce", action="store_true", help="do not look for a small model that fails in the same way")
    parser.add_argument("--write", metavar="DIR", help="folder for the module before the fault and the small model (default: none)")
    parser.add_argument("--passes", metavar="PIPELINE", help="passes to run instead of the default ones, as for the conversion")
    add_conversion_arguments(parser)
    add_configuration_argument(parser)
    add_model_arguments(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir bisect`; returns the exit status."""
    return report_failures("moir bisect", lambda: _bisect(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _bisect(options: argparse.Namespace) -> int:
    from moir.bisection.bisect import examined
    from moir.execution.openvino_runtime import title

    given = conversion_options(options)
    title()
    with opened_model(options.model) as model:
        verdict = examined(
            model,
            given,
            inputs=None if options.inputs is None else read_arrays(options.inputs),
            reference=None if options.reference is None else read_arrays(options.reference),
            seed=options.seed,
            ranges=options.ranges,
            tolerance=options.tolerance,
            passes=options.passes,
            reduce=not options.no_reduce,
        )
        rows = [("model", shown(options.model)), *verdict.rows()]
        if options.write is not None:
            chosen = {"--extensions": options.extensions, "--extension-layout": options.extension_layout}
            rows += written(verdict, Path(options.write), [part for flag, text in chosen.items() if text for part in (flag, text)])
        elif verdict.kind != "none":
            rows.append(("next", "--write DIR writes what shows the fault again"))
    rows.append(("time", f"{verdict.seconds:.1f} s, {verdict.states} states, {verdict.runs} runs of the model"))
    text_output().write("".join(f"{label:<12}{one_line(text)}\n" for label, text in rows))
    return 0 if verdict.kind == "none" else FAILED


def written(verdict: Verdict, folder: Path, extensions: Sequence[str]) -> list[tuple[str, str]]:
    """Write files that reproduce a fault; returns rows of labels and texts about them.

    Args:
        verdict: the verdict.
        folder: the folder to write to; it is created if it does not exist.
        extensions: the options about extensions, which the commands need, too.
    """
    rows: list[tuple[str, str]] = []
    folder.mkdir(parents=True, exist_ok=True)
    if verdict.reproduction is not None:
        before, after, inputs = folder / "before.mlir", folder / "after.mlir", folder / "inputs.npz"
        write_text(verdict.reproduction.before, before)
        write_arrays(verdict.reproduction.inputs, inputs)
        command = [
            "moir-opt",
            str(before),
            "-p",
            verdict.reproduction.pipeline,
            "-o",
            str(after),
            "--weights-file",
            str(folder / "after.bin"),
        ]
        rows.append(("again", shlex.join([*command, *extensions])))
        rows += [("", shlex.join(["moir", "run", str(each), "--inputs", str(inputs)])) for each in (before, after)]
    if verdict.reduced is not None:
        path = write_candidate(verdict.reduced.candidate, folder / "reduced")
        rows.append(("reduced", f"{path}, {verdict.reduced}"))
    return rows
