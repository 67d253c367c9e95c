"""`moir MODEL…` and `moir --manifest FILE`: conversions of many models, and the table of their results."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path

from moir.errors import UsageError
from moir.inspection.tables import Table
from moir.options import ConversionOptions
from moir.parameters.interface import MODEL_NAME
from moir.tools.batch.manifest import Listed, read_manifest
from moir.tools.batch.pool import Conversion, Ended, converted
from moir.tools.batch.work import Failure, Work
from moir.tools.failures import one_line, print_error
from moir.tools.output_path import output_path, requested
from moir.tools.progress import ProgressBar, shows_progress
from moir.tools.streams import STANDARD, is_stream
from moir.tools.terminal import print_tables


def convert_all(options: argparse.Namespace, given: ConversionOptions, notes: list[str], convert: Conversion) -> int:
    """Convert all models of a command line; returns the largest of their exit statuses.

    Args:
        options: the values of the command line.
        given: the options of the conversions on it.
        notes: notes on it, for the user.
        convert: converts one model.

    Raises UsageError, before a conversion begins, if options do not fit several models, or two have one output.
    """
    _check(options, given)
    listed = _of_models(options, given, notes) if options.manifest is None else read_manifest(options.manifest, given, options.place)
    _check_outputs(listed)
    works = [_work(options, each) for each in listed]
    bar = ProgressBar(sys.stderr) if not options.silent and shows_progress(sys.stderr) else None
    ended: dict[int, Ended] = {}
    if bar is not None:
        # The bar counts one stage more, which is the emission of a single model.
        bar.begin([each.model for each in works[1:]])
        bar.start(0, "models")
    with closing(converted(works, convert, options.jobs or _processors())) as results:
        for each in results:
            ended[each.number] = each
            if isinstance(each.result, Failure):
                if bar is not None:
                    bar.close()
                print_error(
                    f"{each.result.traceback if options.debug else ''}moir: error: {_titled(works[each.number].model, each.result.reason)}"
                )
            if bar is not None:
                bar.start(len(ended), "models")
    if bar is not None:
        bar.close()
    if not options.silent:
        for note in notes:
            print(f"note: {one_line(note)}")
        print_tables(_tables(works, ended), sys.stdout)
    return max(each.result.status if isinstance(each.result, Failure) else 0 for each in ended.values())


def _processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check(options: argparse.Namespace, given: ConversionOptions) -> None:
    if options.manifest is not None and options.models:
        raise UsageError("there are models and a manifest; give either")
    if any(is_stream(each) for each in options.models):
        raise UsageError("a model that comes from a stream is converted alone")
    if options.output_model is not None or options.place == STANDARD or (options.place or "").lower().endswith(".xml"):
        raise UsageError("several models need a folder to write to: -o DIR")
    for flag, value in (("--model-name", given[MODEL_NAME]), ("--verbose", options.verbose)):
        if value:
            raise UsageError(f"{flag} is for one model; there are several")
    if options.tensorflow_custom_operations_config_update is not None:
        raise UsageError("--tensorflow_custom_operations_config_update is for one model; there are several")


def _of_models(options: argparse.Namespace, given: ConversionOptions, notes: list[str]) -> list[Listed]:
    models = [Path(each) for each in dict.fromkeys(options.models)]
    request = requested(options, given, models[0], [])
    notes += [each for each in request.notes if each not in notes]
    return [
        Listed(each, output_path(request.place, each, request.conversion, is_single=False), request.conversion, options.passes)
        for each in models
    ]


def _check_outputs(listed: list[Listed]) -> None:
    """Raises UsageError if two conversions would write the same file."""
    models: dict[Path, Path] = {}
    for each in listed:
        output = each.output.resolve()
        if output in models:
            hint = "say in a manifest where each goes: moir --manifest FILE"
            raise UsageError(f"{models[output]} and {each.model} would both become {each.output}", hint=hint)
        models[output] = each.model


def _work(options: argparse.Namespace, listed: Listed) -> Work:
    dumps = None if options.dump_ir is None else str(Path(options.dump_ir) / listed.output.stem)
    passes = listed.passes if options.passes is None else options.passes
    return Work(str(listed.model), str(listed.output), listed.conversion, passes, dumps, options.cache)


def _titled(model: str, reason: str) -> str:
    """A reason after the name of the model, unless it begins with that name."""
    return reason if reason.startswith(model) else f"{one_line(model)}: {reason}"


def _tables(works: list[Work], ended: dict[int, Ended]) -> list[Table]:
    """The table of all models, and one of the notes on them if there are any."""
    rows: list[tuple[str, ...]] = []
    notes: list[tuple[str, ...]] = []
    for number, work in enumerate(works):
        result, seconds = ended[number].result, f"{ended[number].seconds:.2f} s"
        if isinstance(result, Failure):
            rows.append((work.model, "failed", "", "", seconds, ""))
            continue
        verdict = "from the cache" if result.is_cached else "converted"
        summary = result.summary
        rows.append((work.model, verdict, str(summary.operations), summary.weights.partition(":")[0], seconds, work.output))
        notes += [(work.model, note) for note in summary.notes]
    bad = frozenset(number for number, each in ended.items() if isinstance(each.result, Failure))
    table = Table(
        f"{len(works) - len(bad)} of {len(works)} models", ("model", "result", "operations", "weights", "time", "file"), tuple(rows), bad
    )
    return [table, *([Table("notes", ("", ""), tuple(notes))] if notes else [])]
