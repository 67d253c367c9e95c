"""`moir MODEL…` and `moir --manifest FILE`: conversions of many models, and the table of their results."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import closing
from pathlib import Path, PurePath

from moir.conversion_result import ConversionResult
from moir.errors import UsageError
from moir.files.remote.addresses import is_address
from moir.options import ConversionOptions
from moir.parameters.interface import MODEL_NAME
from moir.support.processors import processors
from moir.tools.batch.manifest import Listed, read_manifest
from moir.tools.batch.pool import Limits, converted
from moir.tools.batch.report import Progress, tables
from moir.tools.batch.resumption import earlier_results, is_unchanged, request_of
from moir.tools.batch.work import Conversion, Ended, Outcome, Work, check_outputs
from moir.tools.failures import one_line, print_error
from moir.tools.json_lines import print_result
from moir.tools.output_path import MODEL_SUFFIXES, output_path, requested
from moir.tools.progress import shows_progress
from moir.tools.streams import STANDARD, is_stream
from moir.tools.terminal import print_tables


def convert_all(options: argparse.Namespace, conversion: ConversionOptions, notes: list[str], convert: Conversion) -> int:
    """Convert all models of a command line; returns the largest of their exit statuses.

    Args:
        options: the values of the command line.
        conversion: the options of the conversions on it.
        notes: notes on it, for the user.
        convert: converts one model.

    Raises UsageError, before a conversion begins, if options do not fit several models, or two have one output, and
    ConversionError if the connection to a cluster is lost.
    """
    _check(options, conversion)
    listed = (
        _of_models(options, conversion, notes) if options.manifest is None else read_manifest(options.manifest, conversion, options.place)
    )
    works = [_work(options, each) for each in listed]
    check_outputs(works)
    if options.shard is not None:
        works = options.shard.of(works)
    begun = time.perf_counter()
    progress = Progress(sys.stderr if not options.silent and shows_progress(sys.stderr) else None, len(works))
    ended: dict[int, Ended] = {}
    with closing(_results(options, works, convert)) as results:
        for each in results:
            ended[each.number] = each
            if (failure := each.outcome.result.failure) is not None:
                progress.close()
                traceback = each.outcome.traceback if options.debug else ""
                print_error(f"{traceback}moir: error: {_titled(works[each.number].label, failure.message)}")
            if options.json:
                print_result(each.outcome.result.with_fields(notes=[*notes, *each.outcome.result.notes]))
            progress.add(each)
    progress.close()
    if not options.silent and not options.json:
        for note in notes:
            print(f"note: {one_line(note)}")
        print_tables(tables(works, ended, time.perf_counter() - begun), sys.stdout)
    failures = (each.outcome.result.failure for each in ended.values())
    return max((0 if each is None else each.exit_status for each in failures), default=0)


def _results(options: argparse.Namespace, works: list[Work], convert: Conversion) -> Generator[Ended]:
    """The results of all conversions: first those that a file of earlier results has, and then the others as they end.

    Args:
        options: the values of the command line.
        works: the conversions.
        convert: converts one model.
    """
    earlier: Mapping[str, ConversionResult] = {} if options.resume is None else earlier_results(options.resume)
    remaining: list[int] = []
    for number, work in enumerate(works):
        result = earlier.get(request_of(work)) if earlier else None
        if result is not None and is_unchanged(result):
            yield Ended(number, Outcome(result.with_fields(status="unchanged")), 0.0)
        else:
            remaining.append(number)
    others = [works[number] for number in remaining]
    if options.cluster is None:
        conversions = converted(others, convert, Limits(options.jobs or processors(), options.timeout, options.memory))
    else:
        from moir.tools.batch.cluster import converted_on_cluster
        from moir.tools.batch.cluster_worker import WorkerLimits

        conversions = converted_on_cluster(others, convert, options.cluster, WorkerLimits(options.timeout, options.memory))
    with closing(conversions) as results:
        for each in results:
            yield each.with_fields(number=remaining[each.number])


def _check(options: argparse.Namespace, conversion: ConversionOptions) -> None:
    if options.manifest is not None and options.models:
        raise UsageError("there are models and a manifest; give either")
    if any(is_stream(each) for each in options.models):
        raise UsageError("a model that comes from a stream is converted alone")
    if options.output_model is not None or options.place == STANDARD or (options.place or "").lower().endswith(MODEL_SUFFIXES):
        raise UsageError("several models need a folder to write to: -o DIR")
    of_one_model = {
        "--model-name": conversion[MODEL_NAME],
        "--verbose": options.verbose,
        "--opset": options.opset,
        "--matmul-nbits": options.matmul_nbits,
        "--tensorflow_custom_operations_config_update": options.tensorflow_custom_operations_config_update,
    }
    for flag, value in of_one_model.items():
        if value:
            raise UsageError(f"{flag} is for one model; there are several")
    if options.jobs is not None and options.cluster is not None:
        raise UsageError("--jobs is for processes on this machine", hint="workers say with --nthreads and --resources")


def _of_models(options: argparse.Namespace, conversion: ConversionOptions, notes: list[str]) -> list[Listed]:
    models = [each if is_address(each) else str(Path(each)) for each in dict.fromkeys(options.models)]
    request = requested(options, conversion, models[0], [])
    notes += [each for each in request.notes if each not in notes]
    return [
        Listed(each, output_path(request.place, each, request.conversion, is_single=False), request.conversion, options.passes)
        for each in models
    ]


def _work(options: argparse.Namespace, listed: Listed) -> Work:
    dumps = None if options.dump_ir is None else str(Path(options.dump_ir) / PurePath(listed.output).stem)
    passes = listed.passes if options.passes is None else options.passes
    return Work(listed.model, listed.output, listed.conversion, passes, dumps, options.cache)


def _titled(model: str, reason: str) -> str:
    """A reason with the name of the model in front of it, unless it begins with that name."""
    return reason if reason.startswith(model) else f"{one_line(model)}: {reason}"
