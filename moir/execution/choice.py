"""The selection of the runner for a model: which runtime executes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.conversion import convert, import_model, run
from moir.dialects.framework import FrameworkOp, framework_of
from moir.dialects.memory_map import Array
from moir.execution import openvino_runtime
from moir.execution.evaluation import EvaluationRunner
from moir.execution.openvino_runtime import OpenVinoRunner
from moir.execution.ports import interface_of, matched
from moir.execution.runner import FrameworkRunner, Runner
from moir.files.recognition import framework_of_file, is_json_model
from moir.frameworks import load
from moir.frameworks.record import Framework
from moir.options import ConversionOptions
from moir.parameters.interface import INPUT
from moir.pipeline import default_pipeline


def framework_runner(path: Path, module: ModuleOp, framework: Framework, options: ConversionOptions) -> FrameworkRunner | None:
    """The runner that executes a model file in its framework's own runtime.

    None if there is no such runtime, if it is not installed, or if the model is a JSON text with its weights in other
    files.

    Args:
        path: the file.
        module: the model as the frontend reads it.
        framework: its framework.
        options: the options of the reader.
    """
    if framework.runner is None or is_json_model(path, framework):
        return None
    runner: type[FrameworkRunner] = load(framework.runner)
    return runner(path, module, options.reading) if runner.is_installed() else None


def converted_runner(
    model: Path | ModuleOp, options: ConversionOptions, arrays: Mapping[str, Array] | None = None, *, evaluates: bool = False
) -> Runner:
    """The runner of a model in opset dialects: OpenVINO Runtime where it is installed, else the definitions.

    An IR and a lowered module are run without a conversion; other models are converted.

    Args:
        model: a model file or a module.
        options: the options of a conversion.
        arrays: the inputs, by name; inputs of dynamic rank get the shapes of these arrays, unless the options name
            shapes.
        evaluates: whether to use the definitions of the operations in any case.

    Raises MoirError for a model that cannot be converted.
    """
    if isinstance(model, Path):
        framework = framework_of_file(model)
        module = import_model(model, options, framework)
        if not framework.is_lowered:
            module = convert(model, options if options[INPUT] else _with_shapes(options, module, arrays or {}))
    else:
        module = model
        if any(isinstance(op, FrameworkOp) for op in module.walk()):
            module = module.clone()
            run(module, default_pipeline(framework_of(module), options))
    return OpenVinoRunner(module) if openvino_runtime.is_installed() and not evaluates else EvaluationRunner(module)


def _with_shapes(options: ConversionOptions, module: ModuleOp, arrays: Mapping[str, Array]) -> ConversionOptions:
    """The options, with the shapes of `arrays` added if the model has inputs of dynamic rank, because runtimes need a
    known rank.
    """
    ports = interface_of(module).inputs
    if not arrays or all(port.shape is not None for port in ports):
        return options
    shapes = {name: list(array.shape) for name, array in matched(arrays, ports, "input").items()}
    return ConversionOptions(input=shapes, **options.reading)
