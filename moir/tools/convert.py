"""`moir`: a model file -> OpenVINO IR.

The first argument is a model or a command:

    moir model.onnx                       writes model.xml and model.bin to the current folder
    moir model.onnx -o out/net.xml --compress-to-fp16
    moir saved_model -o net.xml           a TensorFlow SavedModel; also frozen.pb, graph.pbtxt, model.ckpt.meta
    moir - -o - < model.onnx | tar x      from standard input, to an archive on standard output
    moir model.onnx --dump-ir dumps       the module after each pass, see `moir-opt`
    moir model.onnx --extensions DIR      with operations, lowerings and transformations of your own
    moir passes                           the passes of a conversion, in order
    moir new-extension DIR                a small extension to start from
    moir describe-subgraphs FILE MODEL    a configuration of sub-graphs, with their inputs and outputs added
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moir.errors import UsageError
from moir.frameworks import FRAMEWORKS
from moir.suggestions import nearest
from moir.tools.argument_parser import ArgumentParser
from moir.tools.conversion_arguments import (
    add_dump_argument,
    add_extension_arguments,
    add_reading_arguments,
    conversion_options,
    reading_options,
)
from moir.tools.failures import one_line, report_failures
from moir.tools.process import prepare_process
from moir.tools.streams import STANDARD, STANDARD_OUTPUT, binary_output, file_of, is_stream, print_report, write_archive
from moir.version import VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.conversion import Observer

COMMANDS: dict[str, str] = {
    "passes": "moir.tools.list_passes:main",
    "new-extension": "moir.tools.new_extension:main",
    "describe-subgraphs": "moir.tools.complete_configuration:main",
}
"""The commands other than the conversion, with the functions that run them.

A model file with the name of a command is given as `./passes`.
"""


SHELLS = ("bash", "zsh", "fish")
"""The shells for which there is completion."""


class CompletionAction(argparse.Action):
    """Prints a script for a shell, which completes the command lines of the tools."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: object, values: Any, option_string: str | None = None) -> None:
        from moir.tools.completion import script

        print(script(values, argument_parsers()), end="")
        parser.exit()


def argument_parsers() -> dict[str, ArgumentParser]:
    """The argument parsers of all tools and commands: `moir`, `moir passes`, …, `moir-opt`, `moir-gui`."""
    from moir.tools import gui, opt_arguments

    commands = {f"moir {name}": import_module(place.partition(":")[0]).argument_parser() for name, place in COMMANDS.items()}
    return {"moir": argument_parser(), **commands, "moir-opt": opt_arguments.argument_parser(), "moir-gui": gui.argument_parser()}


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir`."""
    parser = ArgumentParser(
        prog="moir",
        description="Convert a neural-network model to OpenVINO IR.",
        epilog=f"There are also the commands {', '.join(f'moir {name}' for name in COMMANDS)}; each has its own --help.",
    )
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="model file of ONNX or TensorFlow, whatever its name, or folder of a SavedModel; - for standard input",
    )
    parser.add_argument(
        *("-o", "--output"),
        metavar="PATH",
        default=".",
        help="folder to write to, or a path ending in .xml (default: the current folder); - for a tar archive on standard output",
    )
    parser.add_argument("--compress-to-fp16", action="store_true", help="store weights in half precision")
    add_reading_arguments(parser)
    parser.add_argument(
        "--layout-change",
        choices=("auto", "none"),
        default="auto",
        help="auto (default): move transpositions around channel-last operations until they cancel; none: leave them there",
    )
    parser.add_argument(
        "--no-tokenizers",
        action="store_true",
        help="refuse strings that need operations of OpenVINO Tokenizers, an extension of the runtime",
    )
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
        "--verbose", "--timing", action="store_true", help="print the time of each pass and the number of operations after it"
    )
    parser.add_argument("--debug", action="store_true", help="print a traceback with an error")
    parser.add_argument(
        "--completion", choices=SHELLS, action=CompletionAction, help="print a script that completes command lines in a shell"
    )
    parser.add_argument("--version", action="version", version=f"moir {VERSION}", help="print the version")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moir`; returns the exit status."""
    if arguments is None:
        prepare_process()
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in COMMANDS:
        module, _, name = COMMANDS[given[0]].partition(":")
        return getattr(import_module(module), name)(given[1:])
    return report_failures("moir", lambda: _run(argument_parser().parsed(given)), debug="--debug" in given)


def _run(options: argparse.Namespace) -> int:
    if not is_stream(options.model) and not Path(options.model).exists():
        commands = nearest(options.model, COMMANDS, similarity=0.75)
        if commands:
            raise UsageError(f"there is no model and no command {options.model!r}; did you mean moir {commands[0]}?")
    with file_of(options.model) as model:
        if options.tensorflow_custom_operations_config_update is not None:
            from moir.tools.complete_configuration import update

            return update(options.tensorflow_custom_operations_config_update, str(model), reading_options(options))
        from moir.conversion import collection_paused

        with _output(options, model) as output, collection_paused():
            _convert(options, model, output)
    return 0


def _convert(options: argparse.Namespace, model: Path, output: Path) -> None:
    """Convert a model, and print the summary."""
    from moir.conversion import convert, save_model
    from moir.emit.files import check_output
    from moir.pipeline_text import framework_of
    from moir.tools.output_check import OutputCheck
    from moir.tools.progress import EMISSION, ProgressBar, Timing, shows_progress
    from moir.tools.summary import SourceOperations, Stopwatch, summary

    check_output(output)
    timing, stopwatch, source = Timing(count_operations=options.verbose), Stopwatch(), SourceOperations()
    observers: list[Observer] = [stopwatch, timing, source, OutputCheck(output, options.dump_ir)]
    if options.dump_ir is not None:
        from moir.tools.dumps import DumpWriter

        observers.append(DumpWriter(Path(options.dump_ir)))
    if not options.silent and shows_progress(sys.stderr):
        observers.append(ProgressBar(sys.stderr))
    with ExitStack() as stack:
        for observer in observers:
            stack.callback(observer.close)
        module = convert(model, conversion_options(options), passes=options.passes, observers=observers)
        stopwatch.end("passes")
        number = len(timing.measurements)
        for observer in observers:
            observer.start(number, EMISSION)
        emission = time.perf_counter()
        written = save_model(module, output)
        timing.finish(number, EMISSION, module, time.perf_counter() - emission)
    if options.output == STANDARD:
        write_archive(written, binary_output())
    if not options.silent:
        stopwatch.end("emission")
        files = STANDARD_OUTPUT if options.output == STANDARD else f"{written.xml_path} {written.bin_path}"
        title = FRAMEWORKS[framework_of(module)].title
        report = "".join(f"note: {one_line(note)}\n" for note in notes_of(module))
        report += summary(module, source.kinds, title, written.weights_bytes, files, stopwatch.text())
        report = (timing.table() + "\n" if options.verbose else "") + report
        if options.output == STANDARD:
            print(report, end="", file=sys.stderr)
        else:
            print_report(report)


@contextmanager
def _output(options: argparse.Namespace, model: Path) -> Generator[Path]:
    """The path of the `.xml` to write: in a temporary folder if the output is standard output."""
    if options.output != STANDARD:
        yield output_path(options.output, model)
        return
    binary_output()
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="moir-") as folder:
        yield output_path(folder, model)


def output_path(output: str, model: Path) -> Path:
    """The path of the `.xml` to write: `output`, or a file named like the model if `output` is a folder."""
    return Path(output) if output.lower().endswith(".xml") else Path(output) / f"{model.stem or model.resolve().name or 'model'}.xml"


def notes_of(module: ModuleOp) -> list[str]:
    """The notes of the frontend on the models of a module, for the user."""
    from moir.dialects.moir import ModuleLevel, models_of
    from moir.dialects.properties import value_of

    notes = [model.attributes.get(ModuleLevel.NOTES) for model in models_of(module)]
    return [note for each in notes if each is not None for note in value_of(each)]


if __name__ == "__main__":
    sys.exit(main())
