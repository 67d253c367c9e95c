"""`moir`: a model file -> OpenVINO IR, or an ONNX model.

The first argument is a model or a command:

    moir model.onnx                       writes model.xml and model.bin to the current folder
    moir model.onnx -o out/net.xml --compress-to-fp16
    moir model.onnx --input 'image[1,3,224,224]' --output features
    moir saved_model -o net.xml           a TensorFlow SavedModel; also frozen.pb, graph.pbtxt, model.ckpt.meta
    moir network.xml -o network.onnx      an ONNX model instead of IR
    moir - -o - < model.onnx | tar x      from standard input, to an archive on standard output
    moir model.onnx --dump-ir dumps       the module after each pass, see `moir-opt`
    moir a.onnx b.tflite -o out           several models, at the same time; see also --manifest and --cache
    moir model.onnx --extensions DIR      with operations, lowerings and transformations of your own
    moir passes                           the passes of a conversion, in order
    moir operations onnx Clip             which operations are supported, and what becomes of one
    moir inspect model.onnx               the contents of a model, and the operations that cannot be converted
    moir diff a.onnx b.onnx               the differences of two models
    moir report model.onnx -o report.html a page that shows the conversion step by step
    moir view model.onnx                  a page that shows a model before any conversion
    moir check MODEL --device NPU         what a device will refuse or lose of a model
    moir compare MODEL IR --data PATH     how far an IR is from its model, on data of your own
    moir run MODEL                        runs a model, and prints its tensors
    moir bisect MODEL                     the step of a conversion that changes the results of a model
    moir certify CERTIFICATE --verify     repeats the conversion and the checks of a certificate
    moir reduce MODEL --check CMD         a small part of a model that still fails
    moir new-extension DIR                a small extension to start from
    moir help COMMAND                     the options of a command
    moir describe-subgraphs FILE MODEL    a configuration of sub-graphs, with their inputs and outputs added
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from moir.errors import UsageError
from moir.files.remote.addresses import is_address, shown
from moir.support.records import Record
from moir.support.suggestions import nearest
from moir.tools.argument_parser import ArgumentParser
from moir.tools.argument_types import positive_count, seconds, shard, size
from moir.tools.conversion_arguments import (
    add_configuration_argument,
    add_conversion_arguments,
    add_dump_argument,
    add_extension_arguments,
    add_reading_arguments,
    conversion_options,
)
from moir.tools.failures import report_failures
from moir.tools.former_options import SPELLINGS, translated
from moir.tools.json_lines import FLAG as JSON
from moir.tools.json_lines import failure_printed, print_result
from moir.tools.output_path import Request, output_file, requested
from moir.tools.process import run_process
from moir.tools.streams import STANDARD, STANDARD_OUTPUT, binary_output, model_of, print_report, text_output, write_archive
from moir.version import VERSION

if TYPE_CHECKING:
    from moir.files.remote.local_files import LocalModel, LocalOutput
    from moir.options import ConversionOptions
    from moir.tools.progress import ProgressBar


class Command(Record):
    """A command other than the conversion: `module:function` that runs it, and a short description."""

    place: str
    summary: str


COMMANDS: dict[str, Command] = {
    "passes": Command("moir.tools.commands.list_passes:main", "the passes of a conversion, in order"),
    "operations": Command("moir.tools.commands.list_operations:main", "the operations of the frameworks, and what becomes of them"),
    "inspect": Command("moir.tools.commands.inspect_model:main", "what is in a model, and what of it cannot be converted"),
    "diff": Command("moir.tools.commands.compare_models:main", "what differs in two models"),
    "report": Command("moir.tools.commands.report:main", "a page that shows the conversion step by step"),
    "view": Command("moir.tools.commands.view:main", "a page that shows a model as it is, without a conversion"),
    "check": Command("moir.tools.commands.check:main", "what a device will refuse or lose of a model"),
    "compare": Command("moir.tools.commands.compare:main", "how far an IR is from its model, on data of your own"),
    "run": Command("moir.tools.commands.run:main", "runs a model, and says what its tensors are"),
    "bisect": Command("moir.tools.commands.bisect:main", "the step of a conversion that changes the results of a model"),
    "reduce": Command("moir.tools.commands.reduce:main", "a small part of a model that still fails"),
    "certify": Command("moir.tools.commands.certify:main", "what a certificate of a conversion says, and whether it still holds"),
    "prove": Command("moir.tools.commands.prove:main", "proofs that rewrites keep the meaning of a model"),
    "new-extension": Command("moir.tools.new_extension:main", "a small extension to start from"),
    "describe-subgraphs": Command("moir.tools.commands.complete_configuration:main", "a configuration of sub-graphs, completed"),
}
"""The commands other than the conversion, by name.

A model file with the name of a command is given as `./passes`.
"""


SHELLS = ("bash", "zsh", "fish")
"""The shells for which there is completion."""


class CompletionAction(argparse.Action):
    """An action that prints the script with which a shell completes the command lines of the tools."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: object, values: Any, option_string: str | None = None) -> None:
        from moir.tools.commands.completion import script

        print(script(values, argument_parsers()), end="")
        parser.exit()


def argument_parsers() -> dict[str, ArgumentParser]:
    """The argument parsers of all tools and commands: `moir`, `moir passes`, …, `moir-opt`, `moir-gui`."""
    from moir.tools import gui
    from moir.tools.optimizer import arguments

    commands = {f"moir {name}": import_module(each.place.partition(":")[0]).argument_parser() for name, each in COMMANDS.items()}
    return {"moir": argument_parser(), **commands, "moir-opt": arguments.argument_parser(), "moir-gui": gui.argument_parser()}


EXAMPLES: dict[str, str] = {
    "moir model.onnx": "writes model.xml and model.bin to the current folder",
    "moir saved_model -o out/net.xml --compress-to-fp16": "with weights in f16",
    "moir model.onnx --input 'image[1,3,224,224]' --output features": "with a fixed shape, cut off after an inner tensor",
}
"""Command lines for the help text, with descriptions."""


def _epilog() -> str:
    """The lines after the options in the help text: the commands, and examples."""
    commands = [f"  {name:<20}{each.summary}" for name, each in COMMANDS.items()]
    examples = [f"  {line}\n      {meaning}" for line, meaning in EXAMPLES.items()]
    return "\n".join(("commands, each with its own --help:", *commands, "", "examples:", *examples))


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir`."""
    parser = ArgumentParser(
        prog="moir",
        usage="moir [options] MODEL…\n       moir COMMAND [options] …",
        description="Convert a neural-network model to OpenVINO IR.",
        epilog=_epilog(),
    )
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="model file of ONNX, TensorFlow, TensorFlow Lite, Keras, StableHLO, PyTorch, PaddlePaddle, Caffe, MXNet, "
        "GGUF or OpenVINO IR, or folder of a SavedModel or of a language model, or an address of one (s3://, gs://, az://, hf://, "
        "https://); - for standard input; several are converted at the same time",
    )
    parser.rest = "further_models"
    parser.add_argument("--input-model", dest="models", action="append", default=[], metavar="MODEL", help="the same, as an option")
    parser.add_argument("--manifest", metavar="FILE", help="TOML file that lists models, each with options of its own, or its address")
    parser.add_argument("--jobs", "-j", metavar="N", type=positive_count, help="how many of several models are converted at the same time")
    parser.add_argument("--timeout", metavar="SECONDS", type=seconds, help="how long the conversion of one of several models may take")
    parser.add_argument(
        "--memory", metavar="SIZE", type=size, help="memory for the conversions at a time, such as 8GB: how many run is chosen by it"
    )
    parser.add_argument("--resume", metavar="FILE", help="results that --json has printed: what is done and unchanged is skipped")
    parser.add_argument("--cluster", metavar="ADDRESS", help="scheduler of Dask on whose workers models are converted: tcp://HOST:8786")
    parser.add_argument("--shard", metavar="K/N", type=shard, help="convert the K-th of N parts of the models, each a run of its own")
    parser.add_argument("--cache", metavar="DIR", help="folder of results, or its address: what is in it is not converted again")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        *("-o", "--output-dir"),
        dest="place",
        metavar="PATH",
        help="folder to write to, or a path ending in .xml, or in .onnx for an ONNX model (default: the current folder), or an address; "
        "- for a tar archive on standard output",
    )
    group.add_argument("--output-model", metavar="PATH", help="path to write to, with or without .xml, or a folder")
    parser.add_argument(
        "--opset", metavar="N", type=positive_count, help="version of the operator set of an ONNX model that is written, 13 or newer"
    )
    parser.add_argument(
        "--matmul-nbits", action="store_true", help="write products by weights of 4 and 8 bits as MatMulNBits of ONNX Runtime"
    )
    parser.add_argument(
        "--certify", metavar="FILE", help="write a certificate (.json) that says why each part of the IR computes what the model does"
    )
    add_conversion_arguments(parser)
    add_configuration_argument(parser)
    parser.add_argument("--print-config", action="store_true", help="print the options that are given as such a file, and exit")
    add_reading_arguments(parser)
    parser.add_argument(
        "--passes", metavar="PIPELINE", help="passes to run instead of the default ones, e.g. 'default,fold-constants'; none: no passes"
    )
    add_dump_argument(parser)
    add_extension_arguments(parser)
    parser.add_argument(
        "--tensorflow_custom_operations_config_update",
        metavar="FILE",
        help="fill the inputs and outputs of sub-graphs into a configuration instead of converting, see `moir describe-subgraphs`",
    )
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("--silent", action="store_true", help="print nothing but errors")
    volume.add_argument(JSON, action="store_true", help="print the result of each model as an object of JSON on a line, also if it fails")
    volume.add_argument(
        "--verbose",
        "--timing",
        action="store_true",
        help="print the time of each pass, the number of operations after it, and which transformations match nothing",
    )
    parser.add_debug_argument()
    parser.add_argument(
        "--completion", choices=SHELLS, action=CompletionAction, help="print a script that completes command lines in a shell"
    )
    parser.add_argument("--version", action="version", version=f"moir {VERSION}", help="print the version")
    parser.spellings.update(SPELLINGS)
    parser.switches["--silent"] = "silent"
    return parser


def command() -> NoReturn:
    """Run the command `moir` on the arguments of this process, and end the process."""
    run_process(main)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moir`; returns the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["help"] and not Path("help").exists():
        given = [*given[1:2], "--help"]
    if given and given[0] in COMMANDS:
        module, _, name = COMMANDS[given[0]].place.partition(":")
        return getattr(import_module(module), name)(given[1:])
    return report_failures("moir", lambda: _run_line(given), debug="--debug" in given)


def _run_line(arguments: Sequence[str]) -> int:
    with failure_printed("", wanted=JSON in arguments):
        options, notes = parsed(arguments)
        given = conversion_options(options)
    return _run(options, given, notes)


def parsed(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The values of a command line, in moir's spelling or Model Optimizer's, and notes on options that are not needed.

    Raises UsageError for a mistake.
    """
    # Checked first: if the command is misspelt, the other arguments are probably options of the command.
    first = arguments[0] if arguments and not arguments[0].startswith("-") else None
    if first is not None and not is_address(first) and not Path(first).exists() and (commands := nearest(first, COMMANDS, similarity=0.75)):
        raise UsageError(f"there is no model and no command {first!r}; did you mean moir {commands[0]}?")
    translation, notes = translated(arguments)
    options = argument_parser().parsed(translation)
    models = [*([] if options.model is None else [options.model]), *options.further_models, *options.models]
    if options.models and len(models) > 1:
        raise UsageError(f"there are {len(models)} models, {' and '.join(models)}; give one, or all without an option")
    if not models and options.manifest is None and not options.print_config:
        raise UsageError("MODEL is missing; see moir --help")
    options.models = models
    return options, notes


def _run(options: argparse.Namespace, conversion: ConversionOptions, notes: list[str]) -> int:
    if options.print_config:
        from moir.tools.configuration import configuration_text

        conversion.check()
        text_output().write(configuration_text(conversion))
        return 0
    check_certified(options)
    of_several = (options.timeout, options.memory, options.resume, options.shard, options.cluster)
    if options.manifest is not None or len(options.models) > 1 or any(each is not None for each in of_several):
        from moir.tools.batch.command import convert_all
        from moir.tools.file_conversion import converted_in_pool

        return convert_all(options, conversion, notes, converted_in_pool)
    bars = _bars(options)
    transfer = bars[0].transfer if bars else None
    with failure_printed(shown(options.models[0]), wanted=options.json), model_of(options.models[0], transfer) as model:
        if options.tensorflow_custom_operations_config_update is not None:
            from moir.tools.commands.complete_configuration import update

            return update(options.tensorflow_custom_operations_config_update, str(model.path), conversion.reading)
        from moir.conversion import collection_paused

        request = requested(options, conversion, str(model.path), notes)
        if options.json and request.place == STANDARD:
            raise UsageError(f"{JSON} prints to standard output, where the files would go, too", hint="give a folder with -o")
        with output_file(request, model, transfer) as output, collection_paused():
            report = _convert(options, request, model, output, bars)
        for bar in bars:
            bar.close()
        report()
        if options.certify is not None:
            from moir.tools.commands.certify import certify_conversion

            quiet = options.silent or options.json
            return certify_conversion(Path(options.certify), model.path, output.path, request.conversion, options.passes, silent=quiet)
    return 0


def check_certified(options: argparse.Namespace) -> None:
    """Raises UsageError if a certificate is requested, unless exactly one model is converted to an IR."""
    if options.certify is None:
        return
    if options.manifest is not None or len(options.models) > 1:
        raise UsageError("--certify writes the certificate of one model", hint="convert the models one by one")
    places = [str(each or "") for each in (options.models[0], options.place, options.output_model)]
    if STANDARD in places or any(map(is_address, places)):
        raise UsageError("--certify needs a model and an IR that are files", hint="give a path, and a folder with -o")
    if any(each.lower().endswith(".onnx") for each in places[1:]):
        raise UsageError("--certify writes the certificate of an IR, not of an ONNX model", hint="give a path ending in .xml")


def _bars(options: argparse.Namespace) -> list[ProgressBar]:
    """The progress bar on stderr as a list of one observer; empty with `--silent`, or if stderr is no terminal."""
    from moir.tools.progress import ProgressBar, shows_progress

    return [ProgressBar(sys.stderr)] if not options.silent and shows_progress(sys.stderr) else []


def _convert(
    options: argparse.Namespace, request: Request, model: LocalModel, output: LocalOutput, bars: list[ProgressBar]
) -> Callable[[], None]:
    """Convert a model; returns a function that prints the summary, to be called when the files have their final names.

    Args:
        options: the values of the command line.
        request: the options of the conversion, and notes.
        model: where the model is read.
        output: where the files are written.
        bars: the progress bars.
    """
    from moir.tools.file_conversion import converted_file

    with ExitStack() as stack:
        if options.verbose:
            from moir.tools.log_lines import printed_log

            stack.enter_context(printed_log())
        done = converted_file(options, request.conversion, model.path, output.path, bars)
    if request.place == STANDARD:
        write_archive(done.files, binary_output())
    if options.json:
        from moir.tools.batch.resumption import request_of
        from moir.tools.batch.work import Work
        from moir.tools.file_conversion import result_of

        work = Work(options.models[0], output.address or str(output.path), request.conversion, options.passes)
        result = result_of(done, work, model, output).with_fields(request=request_of(work))
        return partial(print_result, result.with_fields(notes=[*request.notes, *result.notes]))
    if done.summary is None or done.stopwatch is None:
        return lambda: None
    summary = done.summary.with_fields(notes=[*request.notes, *done.summary.notes])
    files = STANDARD_OUTPUT if request.place == STANDARD else " ".join(output.names(done.files))
    text = (done.stages.table() + "\n" if options.verbose else "") + summary.text(files, done.stopwatch.text())
    return partial(print, text, end="", file=sys.stderr) if request.place == STANDARD else partial(print_report, text)


if __name__ == "__main__":
    command()
