"""`moir compare`: how far the outputs of an IR are from those of the model it was made from, on samples of data.

The model runs in its framework's own runtime if that is installed, else by the definitions of its operations. One
sample at a time is in memory.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import ExecutionError, UsageError
from moir.tools.argument_parser import ArgumentParser
from moir.tools.argument_types import numbers, positive_count, tolerance
from moir.tools.conversion_arguments import add_model_arguments, conversion_options
from moir.tools.failures import FAILED, report_failures
from moir.tools.model_reading import opened_model
from moir.tools.streams import text_output
from moir.tools.terminal import print_tables

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.memory_map import Array
    from moir.execution.runner import Runner
    from moir.options import ConversionOptions
    from moir.tools.agreement.comparison import Agreement
    from moir.tools.agreement.images import Preparation

TROUBLE = 2
"""The exit status of a comparison that fails."""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir compare`."""
    parser = ArgumentParser(prog="moir compare", description="Run a model and its IR on data, and print how far their outputs are apart.")
    parser.add_argument("model", metavar="MODEL", help="model file, or folder of a SavedModel")
    parser.add_argument("converted", metavar="IR", help="OpenVINO IR (.xml), or another model")
    parser.add_argument(
        "--data",
        metavar="PATH",
        required=True,
        help=".npz with the samples of each input along its first axis, or a folder of images, .npz or .npy, a sample each",
    )
    parser.add_argument("--samples", metavar="N", type=positive_count, help="how many samples to run (default: all)")
    parser.add_argument("--image-mean", metavar="M[,M,M]", type=numbers, default=(0.0,), help="subtracted from images (default: 0)")
    parser.add_argument("--image-scale", metavar="S[,S,S]", type=numbers, default=(1.0,), help="what images are divided by (default: 1)")
    parser.add_argument("--tensors", action="store_true", help="compare the inner tensors of equal names, too")
    parser.add_argument("--definitions", action="store_true", help="run the model by the definitions of its operations in any case")
    parser.add_argument("--tolerance", metavar="SHARE", type=tolerance, help="exit status 1 if an output is further away, relatively")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_model_arguments(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir compare`; returns the exit status."""
    return report_failures(
        "moir compare", lambda: _print(argument_parser().parsed(arguments)), debug="--debug" in arguments, failed=TROUBLE
    )


def _print(options: argparse.Namespace) -> int:
    from moir.tools.agreement.images import Preparation

    given = conversion_options(options)
    preparation = Preparation(options.image_mean, options.image_scale)
    with opened_model(options.model) as model, opened_model(options.converted) as converted:
        agreement = compared(
            model,
            converted,
            Path(options.data),
            given,
            preparation=preparation,
            samples=options.samples,
            tensors=options.tensors,
            definitions=options.definitions,
        )
    if options.json:
        text_output().write(json.dumps(agreement.to_dict(), indent=2, ensure_ascii=False) + "\n")
    else:
        print_tables(agreement.tables(), sys.stdout)
    return FAILED if options.tolerance is not None and not agreement.relative <= options.tolerance else 0


def compared(
    model: Path | ModuleOp,
    converted: Path | ModuleOp,
    data: Path | Iterable[Mapping[str, Array]],
    options: ConversionOptions,
    *,
    preparation: Preparation,
    samples: int | None,
    tensors: bool,
    definitions: bool,
) -> Agreement:
    """The agreement of two models on data.

    Args:
        model: a model.
        converted: its IR.
        data: a file or a folder of samples, or the samples.
        options: the options of the readers.
        preparation: how images become inputs.
        samples: the largest number of samples; None for all.
        tensors: whether to compare inner tensors, too.
        definitions: whether the model is run by the definitions of its operations in any case.

    Raises UsageError for data that do not fit, ConversionError for a model that cannot be read or converted, and
    ExecutionError for one that cannot be run.
    """
    from moir.tools.agreement.comparison import agreement_of
    from moir.tools.agreement.samples import samples_of
    from moir.tools.commands.run import OPENVINO, runner_of
    from moir.tools.progress import ProgressBar, shows_progress

    if isinstance(data, Path) and not data.exists():
        raise UsageError(f"there is no file or folder {data}")
    reference = _reference(model, options, definitions=definitions)
    runner = runner_of(converted, options, OPENVINO, None)
    bar = ProgressBar(sys.stderr) if shows_progress(sys.stderr) else None
    try:
        if bar is not None and samples is not None:
            bar.begin(["samples"] * samples)
        return agreement_of(
            reference,
            runner,
            samples_of(data, reference.interface.inputs, preparation, samples),
            with_tensors=tensors,
            ended=None if bar is None or samples is None else lambda count: bar.start(count, "samples"),
        )
    finally:
        if bar is not None:
            bar.close()


def _reference(model: Path | ModuleOp, options: ConversionOptions, *, definitions: bool) -> Runner:
    """The runner of a model: its framework's own runtime, or, if that is not installed or if `definitions` is set, the
    definitions of the operations.

    It is never OpenVINO Runtime, with which it is to be compared.
    """
    from moir.tools.commands.run import DEFINITIONS, FRAMEWORK, runner_of

    if not definitions and isinstance(model, Path):
        try:
            return runner_of(model, options, FRAMEWORK, None)
        except ExecutionError:
            # The framework's runtime is not installed.
            pass
    return runner_of(model, options, DEFINITIONS, None)
