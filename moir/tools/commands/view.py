"""`moir view MODEL`: writes a page that shows a model before any conversion.

    moir view model.onnx                        view.html in the current folder
    moir view model.xml -o out/page.html --open opens the page in the browser
    moir view model.tflite -o graph.json        graphs for Model Explorer: model-explorer graph.json

Operations that moir cannot convert are shown, too. The model may also be a text of `--dump-ir`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from moir.errors import UsageError
from moir.tools.argument_parser import ArgumentParser
from moir.tools.commands.report import add_opening_argument, facts_of, show_page, title_of, write_page
from moir.tools.conversion_arguments import add_reading_arguments, conversion_options
from moir.tools.failures import report_failures

PAGE = "view.html"
"""The default path of the page."""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir view`."""
    parser = ArgumentParser(prog="moir view", description="Write a page that shows a model as it is, without a conversion.")
    parser.add_argument("model", metavar="MODEL", help="a model, the folder of a SavedModel, or a text of --dump-ir; - for standard input")
    parser.add_argument(
        "-o",
        dest="page",
        default=PAGE,
        metavar="FILE",
        help=f"the page to write (default: {PAGE}); graphs for Model Explorer for a name in .json",
    )
    add_opening_argument(parser)
    add_reading_arguments(parser)
    parser.add_debug_argument()
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir view`; returns the exit status."""
    return report_failures("moir view", lambda: _run(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _run(options: argparse.Namespace) -> int:
    from moir.files.output import GRAPHS_FILE, PAGE_FILE, check_replaceable
    from moir.report_page.model_explorer import write_graphs
    from moir.report_page.recording import ReportRecorder
    from moir.tools.model_reading import read_any

    path = Path(options.page)
    is_graph = path.suffix.lower() == ".json"
    if is_graph and options.open:
        raise UsageError("--open opens a page", hint=f"open the graphs by: model-explorer {path}")
    check_replaceable(path, GRAPHS_FILE if is_graph else PAGE_FILE)
    with ExitStack() as stack:
        module, _ = read_any(options.model, conversion_options(options), stack)
        if is_graph:
            write_graphs(path, title_of(options.model, module), module)
            print(path)
            return 0
        recorder = ReportRecorder()
        recorder.finish(0, "import", module, 0.0)
        content = {"verdict": None, "view": True, **recorder.content()}
        write_page(path, title_of(options.model, module), content, "model", facts_of(module))
    show_page(options)
    return 0
