"""`moir describe-subgraphs`: adds the inputs and outputs of sub-graphs to the configuration file that names them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from moir.errors import UsageError
from moir.files.recognition import framework_of_file
from moir.frameworks import read_model
from moir.tools.argument_parser import ArgumentParser
from moir.tools.conversion_arguments import add_reading_arguments, conversion_options
from moir.tools.failures import report_failures
from moir.tools.streams import text_output


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir describe-subgraphs`."""
    parser = ArgumentParser(
        prog="moir describe-subgraphs", description="Fill the inputs and outputs of sub-graphs into a configuration of transformations."
    )
    parser.add_argument("configuration", metavar="CONFIG", help="JSON file with entries that name scopes")
    parser.add_argument("model", metavar="MODEL", help="model file or folder of a SavedModel")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write, which may be CONFIG (default: standard output)")
    add_reading_arguments(parser)
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir describe-subgraphs`; returns the exit status."""
    return report_failures("moir describe-subgraphs", lambda: _complete(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _complete(options: argparse.Namespace) -> int:
    if options.output is not None and Path(options.output).resolve() == Path(options.model).resolve():
        raise UsageError(f"{options.output} is the model; choose another output")
    text = completed(options.configuration, options.model, conversion_options(options).reading)
    if options.output is None:
        text_output().write(text if text.endswith("\n") else f"{text}\n")
    else:
        _write(Path(options.output), text, Path(options.configuration))
    return 0


def update(configuration: str, model: str, reading: Mapping[str, object]) -> int:
    """Complete a configuration file for a model in place; returns the exit status. `reading` are the options of the
    reader.
    """
    _write(Path(configuration), completed(configuration, model, reading), Path(configuration))
    return 0


def completed(configuration: str, model: str, reading: Mapping[str, object]) -> str:
    """The text of a configuration file, completed for a model. `reading` are the options of the reader.

    Raises ConversionError, e.g. for scopes that the model does not have.
    """
    from moir.dialects.moir import models_of
    from moir.model_optimizer.api.configuration.describe_subgraphs import describe_subgraphs
    from moir.model_optimizer.graph.graph import Graph

    framework = framework_of_file(model)
    module = read_model(model, framework, reading)
    return describe_subgraphs(configuration, Graph(models_of(module)[0].block, "front", framework.dialect))


def _write(path: Path, text: str, configuration: Path) -> None:
    """Write `text` to `path`, which may be the configuration file that was read (`configuration`)."""
    from moir.files.output import TEXT_FILE, replacing_file

    with replacing_file(path, TEXT_FILE, updated=configuration) as file:
        file.write(text.encode())
