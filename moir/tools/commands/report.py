"""`moir report MODEL -o report.html`: converts a model, and writes a page that shows the conversion step by step.

    moir report model.onnx                      report.html in the current folder
    moir report model.onnx -o out/page.html --input 'image[1,3,224,224]'

The page shows the time of each pass, the operations by kind and the graph after each pass that changed something. An
operation that is clicked shows its attributes, where it comes from and the rewrites that made it. A conversion that
fails is shown up to the pass that fails, with the operations at fault in red.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import ConversionError
from moir.tools.argument_parser import ArgumentParser
from moir.tools.conversion_arguments import add_configuration_argument, add_conversion_arguments, add_model_arguments, conversion_options
from moir.tools.failures import report_failures
from moir.version import VERSION

if TYPE_CHECKING:
    from moir.conversion import Observer
    from moir.report.recording import ReportRecorder

PAGE = "report.html"
"""The default path of the page."""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir report`."""
    parser = ArgumentParser(prog="moir report", description="Convert a model, and write a page that shows the conversion step by step.")
    parser.add_argument("model", metavar="MODEL", help="model file, or folder of a SavedModel")
    parser.add_argument("-o", dest="page", default=PAGE, metavar="FILE", help=f"the page to write (default: {PAGE})")
    parser.add_argument("--passes", metavar="PIPELINE", help="passes to run instead of the default ones")
    parser.add_argument("--verdict", metavar="FILE", help="a text that the page shows at its top, such as what moir bisect printed")
    add_conversion_arguments(parser)
    add_configuration_argument(parser)
    add_model_arguments(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run `moir report`; returns the exit status."""
    return report_failures("moir report", lambda: _run(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _run(options: argparse.Namespace) -> int:
    from moir.conversion import convert
    from moir.report.recording import ReportRecorder
    from moir.tools.output import PAGE_FILE, check_replaceable
    from moir.tools.progress import ProgressBar, shows_progress

    check_replaceable(Path(options.page), PAGE_FILE)
    verdict = None if options.verdict is None else _text(Path(options.verdict))
    recorder, failure = ReportRecorder(), None
    observers: list[Observer] = [recorder]
    if shows_progress(sys.stderr):
        observers.append(ProgressBar(sys.stderr))
    with ExitStack() as stack:
        for observer in observers:
            stack.callback(observer.close)
        try:
            convert(options.model, conversion_options(options), passes=options.passes, observers=observers)
        except ConversionError as error:
            if recorder.module is None:
                raise
            failure = error
    _write(Path(options.page), Path(options.model).name, recorder, failure, verdict)
    print(options.page)
    if failure is not None:
        raise failure
    return 0


def _write(path: Path, model: str, recorder: ReportRecorder, failure: ConversionError | None, verdict: str | None) -> None:
    """Write the page. Raises ConversionError if it cannot be written."""
    from moir.report.page import page
    from moir.tools.output import PAGE_FILE, replacing_file

    facts = [("model", model), ("written by", f"moir {VERSION}")]
    content = {"title": model, "facts": facts, "verdict": verdict, **recorder.content(failure)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing_file(path, PAGE_FILE) as file:
            file.write(page(content, f"{model}: conversion").encode())
    except OSError as error:
        raise ConversionError(f"cannot be written: {error.strerror or error}", location=str(path)) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConversionError(f"cannot be read: {error}", location=str(path)) from error
