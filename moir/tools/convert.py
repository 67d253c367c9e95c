"""`moir`: a model file -> OpenVINO IR.

The first argument is a model or a command:

    moir model.onnx                       writes model.xml and model.bin to the current folder
    moir model.onnx -o out/net.xml --compress-to-fp16
    moir model.onnx --input 'image[1,3,224,224]' --output features
    moir saved_model -o net.xml           a TensorFlow SavedModel; also frozen.pb, graph.pbtxt, model.ckpt.meta
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
    moir run MODEL                        runs a model, and prints its tensors
    moir bisect MODEL                     the step of a conversion that changes the results of a model
    moir reduce MODEL --check CMD         a small part of a model that still fails
    moir new-extension DIR                a small extension to start from
    moir describe-subgraphs FILE MODEL    a configuration of sub-graphs, with their inputs and outputs added
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from moir.errors import UsageError
from moir.files.recognition import framework_of_file
from moir.frameworks import FRAMEWORKS, load
from moir.parameters.runtime import TOKENIZERS
from moir.parameters.state import GENERATION
from moir.records import Record
from moir.suggestions import nearest
from moir.tools.argument_parser import ArgumentParser
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
from moir.tools.output_path import Request, ir_name_of, output_file, requested
from moir.tools.process import run_process
from moir.tools.streams import STANDARD, STANDARD_OUTPUT, binary_output, file_of, print_report, text_output, write_archive
from moir.version import VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.conversion import Observer
    from moir.emit.write import WrittenModel
    from moir.language_models.companions import Companions
    from moir.options import ConversionOptions
    from moir.tools.batch.work import Success, Work
    from moir.tools.progress import ProgressBar, Timing
    from moir.tools.summary import Summary


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
    "run": Command("moir.tools.commands.run:main", "runs a model, and says what its tensors are"),
    "bisect": Command("moir.tools.commands.bisect:main", "the step of a conversion that changes the results of a model"),
    "reduce": Command("moir.tools.commands.reduce:main", "a small part of a model that still fails"),
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


def _number_of_jobs(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


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
        "GGUF or OpenVINO IR, or folder of a SavedModel or of a language model; - for standard input; several are converted at "
        "the same time",
    )
    parser.rest = "further_models"
    parser.add_argument("--input-model", dest="models", action="append", default=[], metavar="MODEL", help="the same, as an option")
    parser.add_argument("--manifest", metavar="FILE", help="TOML file that lists models, each with options of its own")
    parser.add_argument("--jobs", "-j", metavar="N", type=_number_of_jobs, help="how many of several models are converted at the same time")
    parser.add_argument("--cache", metavar="DIR", help="folder of results: what is in it is not converted again")
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        *("-o", "--output-dir"),
        dest="place",
        metavar="PATH",
        help="folder to write to, or a path ending in .xml (default: the current folder); - for a tar archive on standard output",
    )
    place.add_argument("--output-model", metavar="PATH", help="path to write to, with or without .xml, or a folder")
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
    """The command `moir`, which ends the process."""
    run_process(main)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moir`; returns the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in COMMANDS:
        module, _, name = COMMANDS[given[0]].place.partition(":")
        return getattr(import_module(module), name)(given[1:])
    return report_failures("moir", lambda: _run(*parsed(given)), debug="--debug" in given)


def parsed(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The values of a command line, in moir's spelling or Model Optimizer's, and notes on options that are not needed.

    Raises UsageError for a mistake.
    """
    # First of all, as its arguments are probably those of the command.
    first = arguments[0] if arguments and not arguments[0].startswith("-") else None
    if first is not None and not Path(first).exists() and (commands := nearest(first, COMMANDS, similarity=0.75)):
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


def _run(options: argparse.Namespace, notes: list[str]) -> int:
    given = conversion_options(options)
    if options.print_config:
        from moir.tools.configuration import configuration_text

        given.check()
        text_output().write(configuration_text(given))
        return 0
    if options.manifest is not None or len(options.models) > 1:
        from moir.tools.batch.command import convert_all

        return convert_all(options, given, notes, converted_in_pool)
    with file_of(options.models[0]) as model:
        if options.tensorflow_custom_operations_config_update is not None:
            from moir.tools.commands.complete_configuration import update

            return update(options.tensorflow_custom_operations_config_update, str(model), given.reading)
        from moir.conversion import collection_paused

        request = requested(options, given, model, notes)
        with output_file(request.place, model, request.conversion) as output, collection_paused():
            _convert(options, request, model, output)
    return 0


class Result(Record):
    """The result of one conversion.

    Args:
        written: the files.
        summary: the summary for the user; None with `--silent`.
        time: the durations of its parts, as text.
        stages: the durations of its stages.
        is_cached: whether it came from the cache.
        companions: the names of the files beside them.
    """

    written: WrittenModel
    summary: Summary | None
    time: str
    stages: Timing
    is_cached: bool = False
    companions: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """The paths of all files."""
        path = self.written.xml_path
        return [path, self.written.bin_path, *map(path.with_name, self.companions)]


def _convert(options: argparse.Namespace, request: Request, model: Path, output: Path) -> None:
    """Convert a model, and print the summary."""
    from moir.tools.progress import ProgressBar, shows_progress

    bars = [ProgressBar(sys.stderr)] if not options.silent and shows_progress(sys.stderr) else []
    with ExitStack() as stack:
        if options.verbose:
            from moir.tools.log_lines import printed_log

            stack.enter_context(printed_log())
        result = _converted(options, request.conversion, model, output, bars)
    if request.place == STANDARD:
        write_archive(result.files, binary_output())
    if result.summary is not None:
        summary = result.summary.with_fields(notes=[*request.notes, *result.summary.notes])
        files = STANDARD_OUTPUT if request.place == STANDARD else " ".join(map(str, result.files))
        report = (result.stages.table() + "\n" if options.verbose else "") + summary.text(files, result.time)
        if request.place == STANDARD:
            print(report, end="", file=sys.stderr)
        else:
            print_report(report)


def _converted(options: argparse.Namespace, conversion: ConversionOptions, model: Path, output: Path, further: list[ProgressBar]) -> Result:
    """Convert a model, or take the result from the cache.

    Args:
        options: `silent`, `verbose`, `dump_ir`, `passes` and `cache` of a command line.
        conversion: the options of the conversion.
        model: the model.
        output: the `.xml` to write.
        further: further observers.
    """
    from moir.conversion import convert, save_model
    from moir.dialects.framework import framework_of
    from moir.emit.files import check_output
    from moir.tools.output_check import OutputCheck
    from moir.tools.progress import EMISSION, Timing

    companions = companions_beside(model, conversion, output)
    check_output(output)
    if companions is not None:
        from moir.language_models.folder import check_folder

        check_folder(output, companions)
    timing = Timing(count_operations=options.verbose)
    observers: list[Observer] = [timing, OutputCheck(output, options.dump_ir)]
    stopwatch = source = cached = None
    if not options.silent or options.cache is not None:
        from moir.tools.summary import SourceOperations, Stopwatch

        stopwatch, source = Stopwatch(), SourceOperations()
        observers = [stopwatch, source, *observers]
    # A cache would hold gigabytes, of a conversion that copies them.
    if options.cache is not None and companions is None:
        from moir.tools.batch.cache import CachedConversion

        assert stopwatch is not None
        cached = CachedConversion(Path(options.cache), model, conversion, options.passes)
        # Of a result from the cache there are no passes to tell of.
        if not options.verbose and options.dump_ir is None and (found := cached.restored(output)) is not None:
            stopwatch.begin(())
            stopwatch.end("cache")
            return Result(found[1], None if options.silent else found[0], stopwatch.text(), timing, is_cached=True)
        observers += [] if cached.modules is None else [cached.modules]
    if options.dump_ir is not None:
        from moir.tools.optimizer.dumps import DumpWriter

        observers.append(DumpWriter(Path(options.dump_ir)))
    observers += further
    with ExitStack() as stack:
        for observer in observers:
            stack.callback(observer.close)
        module = convert(model, conversion, passes=options.passes, observers=observers)
        if stopwatch is not None:
            stopwatch.end("passes")
        number = len(timing.measurements)
        for observer in observers:
            observer.start(number, EMISSION)
        emission = time.perf_counter()

        def summarized(weights_bytes: int) -> Summary:
            from moir.tools.summary import summary_of

            title = FRAMEWORKS[framework_of(module)].title
            assert source is not None
            return summary_of(module, source.kinds, title, weights_bytes, [*conversion.notes, *notes_of(module)])

        notes: list[str] = []
        if companions is not None:
            from moir.language_models.folder import notes_on_older_files, save_folder

            notes = notes_on_older_files(output, companions)
            written = save_folder(module, output, companions)
        elif cached is None:
            written = save_model(module, output)
        else:
            written, notes = cached.save(module, output, summarized)
        timing.finish(number, EMISSION, module, time.perf_counter() - emission)
    beside = () if companions is None else tuple(companions.names)
    if options.silent or stopwatch is None:
        return Result(written, None, "", timing, companions=beside)
    stopwatch.end("emission")
    summary = summarized(written.weights_bytes)
    return Result(written, summary.with_fields(notes=[*summary.notes, *notes]), stopwatch.text(), timing, companions=beside)


def companions_beside(model: Path, conversion: ConversionOptions, output: Path) -> Companions | None:
    """The files that belong beside the IR of a model; None if nothing does, as beside an IR with a name of its own.

    Args:
        model: the model.
        conversion: the options of the conversion.
        output: the `.xml` to write.
    """
    companions = "moir.language_models.exported:companions_of_program" if conversion[GENERATION] else framework_of_file(model).companions
    if companions is None or output.stem != ir_name_of(model, conversion):
        return None
    from moir.conversion import stage

    with stage("the conversion of the tokenizer"):
        return load(companions)(model, conversion[TOKENIZERS])


def converted_in_pool(work: Work) -> Success:
    """Convert one of several models, in a process of the pool."""
    from moir.conversion import collection_paused
    from moir.tools.batch.work import Success

    settings = argparse.Namespace(silent=False, verbose=False, dump_ir=work.dumps, passes=work.passes, cache=work.cache)
    with collection_paused():
        result = _converted(settings, work.conversion, Path(work.model), Path(work.output), [])
    assert result.summary is not None
    return Success(result.summary, result.is_cached)


def notes_of(module: ModuleOp) -> list[str]:
    """The notes of the frontend on the models of a module, for the user."""
    from moir.dialects.moir import ModuleLevel, models_of
    from moir.dialects.properties import value_of

    notes = [model.attributes.get(ModuleLevel.NOTES) for model in models_of(module)]
    return [note for each in notes if each is not None for note in value_of(each)]


if __name__ == "__main__":
    command()
