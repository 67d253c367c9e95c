"""`moir check`: predicts which operations of a model a device refuses and how much precision it loses, without the
device.

The exit status is 0 if there are no findings, 1 if there are, 2 for a failure.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import UsageError
from moir.parameters.interface import INPUT
from moir.tools.argument_parser import ArgumentParser
from moir.tools.argument_types import numbers, positive_count, tolerance
from moir.tools.conversion_arguments import add_model_arguments, add_parameters, conversion_options, number_ranges
from moir.tools.failures import report_failures
from moir.tools.model_reading import opened_model
from moir.tools.streams import text_output
from moir.tools.terminal import print_tables

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.checking.check import Check
    from moir.dialects.memory_map import Array
    from moir.execution.integer_ranges import Ranges
    from moir.execution.ports import TensorPort
    from moir.options import ConversionOptions
    from moir.tools.agreement.images import Preparation

SOMETHING, TROUBLE = 1, 2
"""The exit statuses for a model with findings, and for a failure."""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir check`."""
    from moir.checking.formats import FORMATS
    from moir.targets.devices.registry import DEVICES

    parser = ArgumentParser(
        prog="moir check",
        description="Say what a device will refuse or lose of a model; the exit status is 0 if it is nothing, 2 for a failure.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file, folder of a SavedModel, OpenVINO IR (.xml) or text of moir (.mlir)")
    parser.add_argument("--device", choices=tuple(DEVICES), help="the device whose documented limits are checked (default: none)")
    parser.add_argument(
        "--precision", choices=tuple(FORMATS), help="what the device computes in (default: that of the device; f16 without one)"
    )
    parser.add_argument(
        "--data",
        metavar="PATH",
        help=".npz with the samples of each input along its first axis, or a folder of images, .npz or .npy, a sample each "
        "(default: random numbers)",
    )
    parser.add_argument("--samples", metavar="N", type=positive_count, help="how many samples to run (default: all; 1 of random numbers)")
    parser.add_argument("--image-mean", metavar="M[,M,M]", type=numbers, default=(0.0,), help="subtracted from images (default: 0)")
    parser.add_argument("--image-scale", metavar="S[,S,S]", type=numbers, default=(1.0,), help="what images are divided by (default: 1)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of random inputs (default: 0)")
    parser.add_argument(
        "--ranges", metavar="NAME=LOW..HIGH[,…]", type=number_ranges, default={}, help="least and greatest number of random inputs"
    )
    parser.add_argument(
        "--tolerance",
        metavar="SHARE",
        type=tolerance,
        help="relative difference of an output that counts as agreement (default: 0.01 in f16)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_parameters(parser, [INPUT])
    add_model_arguments(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir check`; returns the exit status."""
    return report_failures("moir check", lambda: _print(argument_parser().parsed(arguments)), debug="--debug" in arguments, failed=TROUBLE)


def _print(options: argparse.Namespace) -> int:
    from moir.tools.agreement.images import Preparation

    given = conversion_options(options)
    with opened_model(options.model) as model:
        check = checked_model(
            model,
            given,
            device=options.device,
            precision=options.precision,
            data=None if options.data is None else Path(options.data),
            samples=options.samples,
            preparation=Preparation(options.image_mean, options.image_scale),
            seed=options.seed,
            ranges=options.ranges,
            tolerance=options.tolerance,
        )
    if options.json:
        text_output().write(json.dumps(check.to_dict(), indent=2, ensure_ascii=False) + "\n")
    else:
        print_tables(check.tables(), sys.stdout)
    return 0 if check.is_clean else SOMETHING


def checked_model(
    model: Path | ModuleOp,
    options: ConversionOptions,
    *,
    device: str | None,
    precision: str | None,
    data: Path | Iterable[Mapping[str, Array]] | None,
    samples: int | None,
    preparation: Preparation,
    seed: int,
    ranges: Ranges,
    tolerance: float | None,
) -> Check:
    """The check of a model.

    Args:
        model: a model file or a module. A model of a framework is converted.
        options: the options of its reader, and shapes of its inputs.
        device: the name of a device; None for none.
        precision: the name of a number format; None for that of the device, or f16.
        data: a file or folder of samples, or samples; None for random numbers.
        samples: the largest number of samples; None for all, or for one of random numbers.
        preparation: how images become inputs.
        seed: the seed of random numbers.
        ranges: the least and the greatest number of random inputs, by name.
        tolerance: the largest relative difference of an output that counts as agreement; None for that of the
            precision.

    Raises UsageError for data that do not fit, ConversionError for a model that cannot be converted, and ExecutionError
    for one that cannot be run.
    """
    from moir.checking.check import check_module
    from moir.checking.input_ranges import ranges_by_name
    from moir.conversion import convert
    from moir.execution.inputs import explained_sizes
    from moir.files.recognition import framework_of_file
    from moir.targets.devices.registry import DEVICES
    from moir.tools.agreement.samples import samples_of
    from moir.tools.commands.run import DEFINITIONS, inputs_of, runner_of

    if isinstance(data, Path) and not data.exists():
        raise UsageError(f"there is no file or folder {data}")
    record = None if device is None else DEVICES[device]
    precision = precision or ("f16" if record is None else record.precision)
    if isinstance(model, Path) and options[INPUT] and framework_of_file(model).is_lowered:
        # IR is run as it is; a conversion sets its shapes.
        model = convert(model, options)
    runner = runner_of(model, options, DEFINITIONS, None)
    ports = runner.interface.inputs
    if data is not None:
        arrays: Iterable[Mapping[str, Array]] = (each.arrays for each in samples_of(data, ports, preparation, samples))
        return check_module(runner.module, _fitting(arrays, ports), precision, record, tolerance)
    ranges = {**ranges_by_name(ports), **ranges}
    random = [inputs_of(runner, options, None, seed + number, ranges) for number in range(samples or 1)]
    with explained_sizes(ports, random[0]) if random[0] else nullcontext():
        return check_module(runner.module, random, precision, record, tolerance)


def _fitting(samples: Iterable[Mapping[str, Array]], ports: Sequence[TensorPort]) -> Iterator[Mapping[str, Array]]:
    """Yields the samples. Raises UsageError if there is none, and for an array whose shape is not that of its input."""
    is_empty = True
    for sample in samples:
        is_empty = False
        for port in ports:
            shape = sample[port.name].shape
            if port.shape is not None and not (
                len(shape) == len(port.shape) and all(size in (each, -1) for each, size in zip(shape, port.shape, strict=True))
            ):
                raise UsageError(f"the array for the input {port} is of the shape {list(shape)}")
        yield sample
    if is_empty:
        raise UsageError("there are no samples", hint="give some with --data")
