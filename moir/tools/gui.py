"""`moir-gui`: xDSL's interactive application with the dialects and passes of moir. It needs `pip install 'moir[gui]'`.

    moir-gui dumps/002-lower-onnx.mlir
    moir-gui model.onnx -p lower-onnx

The text is on the left and can be edited; passes are chosen in the tree; the result is on the right. `xdsl-gui` is the
same application, but has only the dialects and passes of xDSL, even if other packages are installed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from moir.errors import UsageError
from moir.frameworks.records import ONNX
from moir.tools.argument_parser import ArgumentParser
from moir.tools.failures import report_failures
from moir.tools.optimizer.input import OptInput

if TYPE_CHECKING:
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass

    from moir.dialects.context import MoirContext

SIDE_FILE = "weights.bin"


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir-gui`."""
    parser = ArgumentParser(prog="moir-gui", description="Apply passes to a text or a model file, interactively.")
    parser.add_argument("input_file", help="a text (.mlir) or a model file")
    parser.add_argument("-p", "--passes", default="", metavar="PIPELINE", help="passes that are chosen at the start, separated by commas")
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moir-gui`; returns the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)

    def body() -> int:
        options = argument_parser().parsed(given)
        with ExitStack() as stack:
            application(Path(options.input_file), options.passes, stack).run()
        return 0

    return report_failures("moir-gui", body, debug="--debug" in given)


def application(path: Path, passes: str, stack: ExitStack) -> Any:
    """The application (a `textual.app.App`).

    Args:
        path: a text, or a model file.
        passes: the passes that are chosen at the start, as text.
        stack: removes the side file of a model file.

    Raises UsageError if the packages of the application are not installed, and ConversionError for a damaged model.
    """
    try:
        from xdsl.interactive.app import InputApp
    except ImportError as error:
        raise UsageError(f"it needs packages that are not installed ({error.name}); pip install 'moir[gui]'") from error

    from moir.pipeline import load_pass, pass_names
    from moir.support.xdsl_passes import module_pass_class

    text, folder = _text_of(path, stack)
    _read_with_moir(folder)
    classes = tuple((name, module_pass_class(load_pass(name))) for name in sorted(pass_names()))
    # The context of moir finds dialects by itself.
    return InputApp((), classes, str(path), text, tuple(_passes(passes)))


def _passes(text: str) -> list[ModulePass]:
    from moir.options import ConversionOptions
    from moir.pipeline import loaded
    from moir.pipeline.text import Pipeline
    from moir.support.xdsl_passes import module_pass

    return [module_pass(loaded(each)) for each in Pipeline.parse(text).passes(ONNX.dialect, ConversionOptions())]


def _text_of(path: Path, stack: ExitStack) -> tuple[str, Path]:
    """The text of a module and the folder of its side files."""
    opt_input = OptInput(str(path), None, stack)
    if opt_input.framework is None:
        return path.read_text(encoding="utf-8"), path.parent
    from moir.conversion import import_model
    from moir.options import ConversionOptions
    from moir.tools.optimizer.text import print_module
    from moir.tools.optimizer.weights_file import WeightsWriter

    folder = Path(stack.enter_context(TemporaryDirectory(prefix="moir-gui-")))
    text = StringIO()
    with (folder / SIDE_FILE).open("xb") as file:
        print_module(import_model(path, ConversionOptions(), opt_input.framework), text, WeightsWriter(file, SIDE_FILE))
    return text.getvalue(), folder


def _read_with_moir(folder: Path) -> None:
    """Let xDSL's application read texts as `moir-opt` does: any operation of a framework, and weights in side files.

    The application creates a context and a parser after each change of the text, and has no argument for either.
    """
    from xdsl.interactive import app, get_all_available_passes

    from moir.dialects.context import MoirContext
    from moir.tools.optimizer.text import TextParser
    from moir.tools.optimizer.weights_file import WeightsReader

    weights = WeightsReader(folder)

    def context(_: tuple[tuple[str, Dialect], ...]) -> MoirContext:
        return MoirContext(weights, allow_unregistered=True)

    for module in (app, get_all_available_passes):
        replaced: Any = module
        replaced.get_new_registered_context = context
        replaced.Parser = TextParser


if __name__ == "__main__":
    raise SystemExit(main())
