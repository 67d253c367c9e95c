"""`moir run`: runs a model once, and prints its tensors.

A model of a framework runs in the framework's own runtime if that is installed. Otherwise it is converted, and runs
like an IR or a text: on OpenVINO Runtime or, if that is not installed, by the definitions of its operations.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import ExecutionError, UsageError
from moir.files.output import ARRAYS_FILE, check_replaceable
from moir.files.remote.addresses import shown
from moir.parameters.interface import INPUT
from moir.support.suggestions import did_you_mean
from moir.tools.argument_parser import ArgumentParser
from moir.tools.arrays import check_npz, read_arrays, write_arrays
from moir.tools.conversion_arguments import add_input_arguments, add_model_arguments, add_parameters, conversion_options
from moir.tools.failures import one_line, report_failures
from moir.tools.model_reading import opened_model
from moir.tools.streams import text_output

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.memory_map import Array
    from moir.execution.integer_ranges import Ranges
    from moir.execution.ports import TensorPort
    from moir.execution.runner import Runner
    from moir.options import ConversionOptions
    from moir.parameters.input_notation import InputItem

FRAMEWORK, OPENVINO, DEFINITIONS = "framework", "openvino", "definitions"


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir run`."""
    parser = ArgumentParser(prog="moir run", description="Run a model once, and print what its inputs and outputs are.")
    parser.add_argument("model", metavar="MODEL", help="model file, folder of a SavedModel, OpenVINO IR (.xml) or text of moir (.mlir)")
    add_input_arguments(parser)
    parser.add_argument("--outputs", metavar="FILE", help=".npz to write the outputs and the tensors of --tensors to")
    parser.add_argument("--tensors", metavar="NAME[,NAME]", help="inner tensors to compute besides the outputs; `all`: all that have names")
    parser.add_argument(
        "--runtime",
        choices=(FRAMEWORK, OPENVINO, DEFINITIONS),
        help="what computes: the framework's own runtime, or, after a conversion, OpenVINO Runtime or moir's definitions of the operations",
    )
    add_parameters(parser, [INPUT])
    add_model_arguments(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir run`; returns the exit status."""
    return report_failures("moir run", lambda: _run(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _run(options: argparse.Namespace) -> int:
    from moir.execution.inputs import explained_sizes

    check_npz(options.outputs)
    arrays = None if options.inputs is None else read_arrays(options.inputs)
    if options.outputs is not None:
        check_replaceable(Path(options.outputs), ARRAYS_FILE)
    given = conversion_options(options)
    with opened_model(options.model) as model:
        runner = runner_of(model, given, options.runtime, arrays)
        inputs = inputs_of(runner, given, arrays, options.seed, options.ranges)
        wanted = _wanted(runner, options.tensors)
        with explained_sizes(runner.interface.inputs, inputs) if arrays is None else nullcontext():
            results = runner.run(inputs, wanted)
    missing = [name for name in wanted if name not in results and options.tensors != ALL]
    if missing:
        hint = did_you_mean(missing[0], runner.tensors, "--tensors all prints those with names")
        raise UsageError(f"there is no tensor {missing[0]!r} that {runner.title} could give back", hint=hint)
    if options.outputs is not None:
        write_arrays(results, options.outputs)
    outputs = [port.name for port in runner.interface.outputs]
    rows = [("model", f"{shown(options.model)}, on {runner.title}")]
    rows += [("input", _line(port.name, inputs[port.name])) for port in runner.interface.inputs]
    rows += [("output", _line(name, results[name])) for name in outputs if name in results]
    rows += [("tensor", _line(name, array)) for name, array in results.items() if name not in outputs]
    rows += [] if options.outputs is None else [("file", options.outputs)]
    text_output().write("".join(f"{label:<12}{one_line(text)}\n" for label, text in rows))
    return 0


ALL = "all"
"""The value of `--tensors` that selects all tensors with names."""


def runner_of(model: Path | ModuleOp, options: ConversionOptions, runtime: str | None, arrays: Mapping[str, Array] | None) -> Runner:
    """The runner of a model.

    Args:
        model: a model file or a module.
        options: the options of its reader, and shapes of its inputs.
        runtime: one of the values of `--runtime`; None for the first that is installed.
        arrays: the inputs, which determine shapes that are unknown in the model; None for random inputs.

    Raises ExecutionError if the runtime is not installed, and MoirError for a model that cannot be converted.
    """
    from moir.execution.choice import converted_runner, framework_runner

    if isinstance(model, Path):
        from moir.conversion import import_model
        from moir.files.recognition import framework_of_file, is_json_model

        framework = framework_of_file(model)
        if runtime in (None, FRAMEWORK) and not framework.is_lowered:
            runner = framework_runner(model, import_model(model, options, framework), framework, options)
            if runner is not None:
                return runner
        if runtime == FRAMEWORK:
            if is_json_model(model, framework):
                raise ExecutionError("a model in JSON cannot be run by its framework", location=str(model), hint=_advice(None))
            raise ExecutionError(f"no runtime of {framework.title} is installed that moir could use", hint=_advice(framework.runner))
    elif runtime == FRAMEWORK:
        raise ExecutionError("a text of moir has no runtime of its own", hint="leave out --runtime")
    if runtime == OPENVINO:
        from moir.execution.openvino_runtime import title

        title()
    return converted_runner(model, options, arrays, evaluates=runtime == DEFINITIONS)


def _advice(runner: str | None) -> str:
    if runner is None:
        return "leave out --runtime: moir converts the model, and runs the result"
    from moir.frameworks import load

    return f"install the package {load(runner).PACKAGE}"


def inputs_of(
    runner: Runner, options: ConversionOptions, arrays: Mapping[str, Array] | None, seed: int, ranges: Ranges
) -> dict[str, Array]:
    """The inputs of a run: the values and shapes in `--input`, the arrays, or random numbers.

    Args:
        runner: the runner.
        options: the options, with the value of `--input`.
        arrays: arrays by the names of inputs; None for random ones.
        seed: the seed of random inputs.
        ranges: the least and the greatest number of random inputs, by name.

    Raises UsageError for names of inputs that the model does not have, and for values that do not fit.
    """
    from moir.execution.inputs import checked_ranges, random_inputs
    from moir.execution.integer_ranges import ranges_by_use
    from moir.execution.ports import matched

    ports = runner.interface.inputs
    items = _items(runner, options)
    frozen = {port.name: _frozen_value(port, item) for port, item in items.items() if item.value is not None}
    others = [port for port in ports if port.name not in frozen]
    if arrays is not None:
        return matched(arrays, others, "input") | frozen
    ranges = checked_ranges(ports, ranges)
    by_use: Ranges = {}
    if any(port.dtype is not None and port.dtype.kind in "iu" and not ranges.keys() & set(port.names) for port in others):
        by_use = ranges_by_use(runner.module, options)
    shapes = {port.name: [each.size for each in item.shape] for port, item in items.items() if item.shape is not None}
    return random_inputs(others, seed, shapes, {**by_use, **ranges}) | frozen


def _items(runner: Runner, options: ConversionOptions) -> dict[TensorPort, InputItem]:
    """The items of `--input` by the input of the model that they refer to; those without a name refer to the inputs in
    order.

    Values for inputs that the conversion froze are left out. Raises UsageError for any other unknown input.
    """
    from moir.execution.runner import FrameworkRunner

    ports = runner.interface.inputs
    known = {name: port for port in ports for name in port.names}
    items: dict[TensorPort, InputItem] = {}
    for index, item in enumerate(options[INPUT]):
        name = item.place.text or (ports[index].name if index < len(ports) else "")
        if name in known:
            items[known[name]] = item
        elif item.value is None or isinstance(runner, FrameworkRunner):
            raise UsageError(f"the model has no input {name!r}", hint=did_you_mean(name, known, f"there are {', '.join(known)}"))
    return items


def _frozen_value(port: TensorPort, item: InputItem) -> Array:
    """The value of an input that `--input` freezes. Raises UsageError if it does not fit to the input."""
    import numpy as np

    shape = port.shape if item.shape is None else tuple(each.size for each in item.shape)
    values = np.asarray(item.value, dtype=object).reshape(-1)
    try:
        array = values.astype(port.dtype or np.float32)
        if item.is_scalar:
            return np.full([max(size, 1) for size in shape or ()], array[0])
        return array.reshape(shape if shape is not None and sum(size < 0 for size in shape) <= 1 else -1)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"the value of {item} does not fit to the input {port}: {error}") from error


def _wanted(runner: Runner, text: str | None) -> list[str]:
    if text is None:
        return []
    return runner.tensors if text == ALL else [name.strip() for name in text.split(",") if name.strip()]


def _line(name: str, array: Array) -> str:
    """An array in words: name, element type, shape and the range of its finite elements."""
    from moir.execution.comparison import described

    return f"{name}: {described(array)}"
