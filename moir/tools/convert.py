"""`moir`: a model file -> OpenVINO IR.

The first argument is a model or a command:

    moir model.onnx                       writes model.xml and model.bin to the current folder
    moir model.onnx -o out/net.xml --compress-to-fp16
    moir saved_model -o net.xml           a TensorFlow SavedModel; also frozen.pb, graph.pbtxt, model.ckpt.meta
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
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from moir.tools.conversion_arguments import add_extension_arguments, add_reading_arguments, conversion_options, reading_options
from moir.tools.failures import report_failures

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.conversion import Observer
    from moir.emit.write import WrittenModel

COMMANDS: dict[str, str] = {
    "passes": "moir.tools.list_passes:main",
    "new-extension": "moir.tools.new_extension:main",
    "describe-subgraphs": "moir.tools.complete_configuration:main",
}
"""The commands other than the conversion, with the functions that run them.

A model file with the name of a command is given as `./passes`.
"""

_KINDS_SHOWN = 6


class VersionAction(argparse.Action):
    """Prints the version, which is looked up only for this option."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from moir.version import moir_version

        print(f"moir {moir_version()}")
        parser.exit()


def argument_parser() -> argparse.ArgumentParser:
    """The argument parser of `moir`."""
    parser = argparse.ArgumentParser(
        prog="moir",
        description="Convert a neural-network model to OpenVINO IR.",
        epilog=f"There are also the commands {', '.join(f'moir {name}' for name in COMMANDS)}; each has its own --help.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file (.onnx, .pb, .pbtxt, .meta) or folder of a SavedModel")
    parser.add_argument(
        "-o", "--output", metavar="PATH", default=".", help="folder to write to, or a path ending in .xml (default: the current folder)"
    )
    parser.add_argument("--compress-to-fp16", action="store_true", help="store weights in half precision")
    add_reading_arguments(parser)
    parser.add_argument(
        "--layout-change",
        choices=("auto", "none"),
        default="auto",
        help="auto (default): move transpositions around channel-last operations until they cancel; none: leave them there",
    )
    parser.add_argument("--passes", metavar="PIPELINE", help="passes to run instead of the default ones, e.g. 'default,fold-constants'")
    parser.add_argument("--dump-ir", metavar="DIR", help="write the module after each pass that changes it to a folder")
    add_extension_arguments(parser)
    parser.add_argument(
        "--tensorflow_custom_operations_config_update",
        metavar="FILE",
        help="fill the inputs and outputs of sub-graphs into a configuration instead of converting, see `moir describe-subgraphs`",
    )
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("--silent", action="store_true", help="print nothing but errors")
    volume.add_argument("--verbose", action="store_true", help="print the time of each pass and the number of operations after it")
    parser.add_argument("--debug", action="store_true", help="print a traceback with an error")
    parser.add_argument("--version", action=VersionAction, nargs=0, help="print the version")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moir`; returns the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in COMMANDS:
        module, _, name = COMMANDS[given[0]].partition(":")
        return getattr(import_module(module), name)(given[1:])
    options = argument_parser().parse_args(given)
    return report_failures("moir", lambda: _convert(options), debug=options.debug)


def _convert(options: argparse.Namespace) -> int:
    start = time.perf_counter()
    if options.tensorflow_custom_operations_config_update is not None:
        from moir.tools.complete_configuration import update

        return update(options.tensorflow_custom_operations_config_update, options.model, reading_options(options))
    from moir.conversion import collection_paused, convert, save_model
    from moir.tools.progress import EMISSION, ProgressBar, Timing

    model = Path(options.model)
    output = output_path(options.output, model)
    timing = Timing(count_operations=options.verbose)
    observers: list[Observer] = [timing]
    if options.dump_ir is not None:
        from moir.tools.dumps import DumpWriter

        observers.append(DumpWriter(Path(options.dump_ir)))
    if sys.stderr.isatty() and not options.silent:
        observers.append(ProgressBar(sys.stderr))
    with collection_paused(), ExitStack() as stack:
        for observer in observers:
            stack.callback(observer.close)
        module = convert(model, conversion_options(options), passes=options.passes, observers=observers)
        number = len(timing.measurements)
        for observer in observers:
            observer.start(number, EMISSION)
        emission = time.perf_counter()
        written = save_model(module, output)
        timing.finish(number, EMISSION, module, time.perf_counter() - emission)
    if options.verbose:
        print(timing.table())
    if not options.silent:
        print("".join(f"note: {note}\n" for note in notes_of(module)) + summary(module, written, time.perf_counter() - start), end="")
    return 0


def output_path(output: str, model: Path) -> Path:
    """The path of the `.xml` to write: `output`, or a file named like the model if `output` is a folder."""
    return Path(output) if output.lower().endswith(".xml") else Path(output) / f"{model.stem or model.resolve().name or 'model'}.xml"


def notes_of(module: ModuleOp) -> list[str]:
    """The notes of the frontend on the models of a module, for the user."""
    from moir.dialects.moir import ModuleLevel, models_of
    from moir.dialects.properties import value_of

    notes = [model.attributes.get(ModuleLevel.NOTES) for model in models_of(module)]
    return [note for each in notes if each is not None for note in value_of(each)]


def summary(module: ModuleOp, written: WrittenModel, seconds: float) -> str:
    """A summary of the conversion: operations by kind, size of the weights, time and files."""
    kinds = Counter(op.name.partition(".")[2] for op in module.walk() if op.name.startswith(("opset", "extension")))
    shown = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(_KINDS_SHOWN))
    others = len(kinds) - _KINDS_SHOWN
    more = f" and {others} other kind{'s' if others > 1 else ''}" if others > 0 else ""
    rows = (
        ("operations", f"{written.layers} ({shown}{more})"),
        ("weights", format_size(written.weights_bytes)),
        ("time", f"{seconds:.2f} s"),
        ("files", f"{written.xml_path} {written.bin_path}"),
    )
    return "".join(f"{label:<12}{text}\n" for label, text in rows)


def format_size(size: int) -> str:
    """A size in bytes as text with a unit."""
    number, unit = float(size), "bytes"
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{size} bytes" if unit == "bytes" else f"{number:.1f} {unit}"


if __name__ == "__main__":
    sys.exit(main())
