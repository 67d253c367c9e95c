"""`moir report MODEL -o report.html`: converts a model, and writes a page that shows the conversion step by step.

    moir report model.onnx                      report.html in the current folder
    moir report model.onnx -o out/page.html --input 'image[1,3,224,224]'
    moir report a.onnx b.onnx                   two models beside each other, with their differences

The page shows the time of each pass, the operations by kind and the graph after each pass that changed something. An
operation that is clicked shows its attributes, where it comes from and the rewrites that made it. A conversion that
fails is shown up to the pass that fails, with the operations at fault in red.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moir.errors import ConversionError, UsageError
from moir.files.remote.addresses import shown
from moir.files.remote.local import local_model
from moir.tools.argument_parser import ArgumentParser
from moir.tools.conversion_arguments import add_configuration_argument, add_conversion_arguments, add_model_arguments, conversion_options
from moir.tools.failures import report_failures
from moir.version import VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from moir.conversion import Observer
    from moir.options import ConversionOptions

_FACTS = 12
"""The largest number of rows about the model, such as its producer, in a report."""

PAGE = "report.html"
"""The default path of the page."""


def argument_parser() -> ArgumentParser:
    """The argument parser of `moir report`."""
    parser = ArgumentParser(prog="moir report", description="Convert a model, and write a page that shows the conversion step by step.")
    parser.add_argument("model", metavar="MODEL", help="model file, or folder of a SavedModel")
    parser.add_argument(
        "other", metavar="OTHER", nargs="?", help="a model to compare it with; then both are shown as they are, without a conversion"
    )
    parser.add_argument("-o", dest="page", default=PAGE, metavar="FILE", help=f"the page to write (default: {PAGE})")
    parser.add_argument("--passes", metavar="PIPELINE", help="passes to run instead of the default ones")
    parser.add_argument("--verdict", metavar="FILE", help="a text that the page shows at its top, such as what moir bisect printed")
    add_opening_argument(parser)
    add_conversion_arguments(parser)
    add_configuration_argument(parser)
    add_model_arguments(parser)
    return parser


def add_opening_argument(parser: ArgumentParser) -> None:
    """Add `--open`."""
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def main(arguments: Sequence[str]) -> int:
    """Run `moir report`; returns the exit status."""
    return report_failures("moir report", lambda: _run(argument_parser().parsed(arguments)), debug="--debug" in arguments)


def _run(options: argparse.Namespace) -> int:
    from moir.tools.progress import ProgressBar, shows_progress

    given, page = conversion_options(options), Path(options.page)
    verdict = None if options.verdict is None else _text(Path(options.verdict))
    if options.other is not None:
        if options.passes is not None:
            raise UsageError("two models are compared as they are: leave out --passes")
        write_comparison(options.model, options.other, given, page, verdict=verdict)
        show_page(options)
        return 0
    bars = [ProgressBar(sys.stderr)] if shows_progress(sys.stderr) else []
    failure = write_conversion(options.model, given, page, passes=options.passes, verdict=verdict, observers=bars)
    show_page(options)
    if failure is not None:
        raise failure
    return 0


def write_conversion(
    model: str,
    conversion: ConversionOptions,
    page: Path,
    *,
    passes: str | Iterable[str | ModulePass] | None,
    verdict: str | None,
    observers: Sequence[Observer],
) -> ConversionError | None:
    """Convert a model, and write the page that shows it.

    Args:
        model: the path of the model.
        conversion: the options of the conversion.
        page: the page.
        passes: a pipeline in place of the default one.
        verdict: a text for the top of the page.
        observers: further observers of the conversion.

    Returns the error with which the conversion failed after the import, None if it did not. Raises ConversionError if
    the model cannot be read, or the page cannot be written.
    """
    from moir.conversion import convert
    from moir.files.output import PAGE_FILE, check_replaceable
    from moir.report_page.recording import ReportRecorder

    check_replaceable(page, PAGE_FILE)
    recorder, failure = ReportRecorder(), None
    with ExitStack() as stack:
        for observer in (recorder, *observers):
            stack.callback(observer.close)
        try:
            with local_model(model) as local:
                convert(local.path, conversion, passes=passes, observers=[recorder, *observers])
        except ConversionError as error:
            if recorder.module is None:
                raise
            failure = error
    title = title_of(model, recorder.module)
    write_page(page, title, {"verdict": verdict, **recorder.content(failure)}, "conversion", facts_of(recorder.module))
    return failure


def write_comparison(first: str, second: str, conversion: ConversionOptions, page: Path, *, verdict: str | None) -> None:
    """Write the page that shows two models, given by their paths, with their differences.

    `verdict` is a text for the top of the page; None for none.
    """
    from moir.files.output import PAGE_FILE, check_replaceable
    from moir.report_page.difference import content_of_difference
    from moir.tools.model_reading import read_any

    check_replaceable(page, PAGE_FILE)
    with ExitStack() as stack:
        modules = [read_any(each, conversion, stack)[0] for each in (first, second)]
        titles = (title_of(first, modules[0]), title_of(second, modules[1]))
        content = content_of_difference(modules[0], modules[1], titles)
        write_page(page, " | ".join(titles), {**content, "verdict": verdict}, "comparison")


def title_of(model: str, module: ModuleOp | None) -> str:
    """The title for a model: the name of its file, and the model's own name if that differs.

    If `module` is None, the name of the file alone.
    """
    from moir.dialects.moir import models_of

    file = Path(shown(model)).name or Path(model).resolve().name
    names = [] if module is None else [each.sym_name.data for each in models_of(module)]
    return f"{file}: {names[0]}" if names and names[0] not in (file, Path(file).stem, "model", "main_graph", "") else file


def facts_of(module: ModuleOp | None) -> list[tuple[str, str]]:
    """The metadata of a model file, such as its producer and the versions of its operation sets; empty for None."""
    from moir.inspection.records import metadata_rows
    from moir.inspection.summary import metadata_of

    return [] if module is None else list(metadata_rows(metadata_of(module, is_read=True)))[:_FACTS]


def write_page(path: Path, title: str, content: dict[str, Any], what: str, facts: Iterable[tuple[str, str]] = ()) -> None:
    """Write a page.

    Args:
        path: the file.
        title: the title.
        content: the content of the page, as `page` takes it, without title and facts.
        what: the kind of the page, such as a report, for the title of the document.
        facts: further rows about the model.

    Raises ConversionError if it cannot be written.
    """
    from moir.files.output import PAGE_FILE, replacing_file
    from moir.report_page.page import page

    rows = [("model", title), *facts, ("written by", f"moir {VERSION}")]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing_file(path, PAGE_FILE) as file:
            file.write(page({"title": title, "facts": rows, **content}, f"{title}: {what}").encode())
    except OSError as error:
        raise ConversionError(f"cannot be written: {error.strerror or error}", location=str(path)) from error


def show_page(options: argparse.Namespace) -> None:
    """Print the path of the page of a command (`page`), and open it if the command line says so (`open`)."""
    print(options.page)
    if options.open:
        import webbrowser

        webbrowser.open(Path(options.page).resolve().as_uri())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConversionError(f"cannot be read: {error}", location=str(path)) from error
