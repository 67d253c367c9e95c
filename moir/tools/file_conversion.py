"""The conversion of a model file to the files of a model: observers, cache, files beside it, result."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from moir.files.reading import recorded_files
from moir.files.recognition import framework_of_file
from moir.files.remote.addresses import shown
from moir.frameworks import load
from moir.parameters.runtime import TOKENIZERS
from moir.parameters.state import GENERATION
from moir.support.records import Record
from moir.tools.output_path import ir_name_of

if TYPE_CHECKING:
    from moir.conversion import Observer
    from moir.conversion_result import ConversionResult
    from moir.emit.onnx.write import WrittenOnnx
    from moir.emit.write import WrittenModel
    from moir.files.remote.local_files import LocalModel, LocalOutput
    from moir.files.unchanged_files import FileState
    from moir.language_models.companions import Companions
    from moir.options import ConversionOptions
    from moir.tools.batch.work import Work
    from moir.tools.progress import ProgressBar, Timing
    from moir.tools.summary import Stopwatch, Summary

_NONE_READ: Mapping[Path, FileState] = {}


class FileConversion(Record):
    """A conversion that is done.

    Args:
        written: the files.
        summary: the summary for the user; None with `--silent`.
        stopwatch: the durations of its parts; None with `--silent` and without a cache.
        stages: the durations of its stages.
        is_cached: whether it came from the cache.
        companions: the names of the files beside them.
        read: the files that were read, with their states.
    """

    written: WrittenModel | WrittenOnnx
    summary: Summary | None
    stopwatch: Stopwatch | None
    stages: Timing
    is_cached: bool = False
    companions: tuple[str, ...] = ()
    read: Mapping[Path, FileState] = _NONE_READ

    @property
    def files(self) -> list[Path]:
        """The paths of all files."""
        files = self.written.files
        return [*files, *map(files[0].with_name, self.companions)]


def result_of(done: FileConversion, work: Work, model: LocalModel, output: LocalOutput) -> ConversionResult:
    """The result of a conversion as a record; the conversion must not have been silent.

    Args:
        done: the conversion.
        work: what was asked for.
        model: where the model was read.
        output: where the files were written.
    """
    from moir.conversion_result import ConversionResult, SourceFile

    assert done.summary is not None
    assert done.stopwatch is not None
    return ConversionResult(
        model=work.label,
        status="cached" if done.is_cached else "converted",
        framework=done.summary.framework,
        files=output.names(done.files),
        sizes=tuple(path.stat().st_size for path in done.files),
        seconds=done.stopwatch.seconds(),
        inputs=done.summary.inputs,
        outputs=done.summary.outputs,
        source_operations=done.summary.read,
        operations=done.summary.written,
        weights_bytes=done.summary.weights_bytes,
        notes=done.summary.notes,
        read=tuple(
            SourceFile(str(path), state.size, state.changed)
            if (file := model.files.get(path)) is None
            else SourceFile(shown(file.address), state.size, 0, file.tag)
            for path, state in done.read.items()
        ),
    )


def converted_file(
    options: argparse.Namespace,
    conversion: ConversionOptions,
    model: Path,
    output: Path,
    further: list[ProgressBar],
    begun: float | None = None,
) -> FileConversion:
    """Convert a model, or take the result from the cache.

    Args:
        options: `silent`, `verbose`, `dump_ir`, `passes`, `cache` and `opset` of a command line.
        conversion: the options of the conversion.
        model: the model.
        output: the `.xml` or `.onnx` to write.
        further: further observers.
        begun: when the conversion has begun; None for the start of the process.
    """
    with recorded_files() as files:
        done = _converted(options, conversion, model, output, further, begun)
    return done.with_fields(read=files)


def _converted(
    options: argparse.Namespace, conversion: ConversionOptions, model: Path, output: Path, further: list[ProgressBar], begun: float | None
) -> FileConversion:
    from moir.conversion import convert, notes_of
    from moir.tools.output_check import OutputCheck
    from moir.tools.output_form import IR_FORM, OnnxSettings, options_for, output_form
    from moir.tools.progress import EMISSION, Timing

    form = output_form(output)
    names_target = getattr(options, "target", None) is not None
    settings = OnnxSettings(options.opset, options.matmul_nbits)
    conversion = options_for(form, conversion, settings, names_target=names_target, uses_cache=options.cache is not None)
    companions = companions_beside(model, conversion, output) if form is IR_FORM else None
    form.check(output)
    if companions is not None:
        from moir.language_models.folder import check_folder

        check_folder(output, companions)
    timing = Timing(count_operations=options.verbose)
    observers: list[Observer] = [timing, OutputCheck(output, options.dump_ir)]
    stopwatch = source = cached = None
    if not options.silent or options.cache is not None:
        from moir.tools.summary import SourceOperations, Stopwatch

        stopwatch, source = Stopwatch(begun), SourceOperations()
        observers = [stopwatch, source, *observers]
    # A cache would hold gigabytes, of a conversion that copies them.
    if options.cache is not None and companions is None:
        from moir.tools.batch.cache import CachedConversion

        assert stopwatch is not None
        cached = CachedConversion(options.cache, model, conversion, options.passes)
        # Of a result from the cache there are no passes to tell of.
        if not options.verbose and options.dump_ir is None and (result := cached.restored(output)) is not None:
            stopwatch.begin(())
            stopwatch.end("cache")
            return FileConversion(result[1], None if options.silent else result[0], stopwatch, timing, is_cached=True)
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

        def progress(done: int, total: int) -> None:
            for observer in observers:
                observer.advance(number, EMISSION, done, total)

        def summarized(weights_bytes: int) -> Summary:
            from moir.tools.summary import summary_of

            assert source is not None
            return summary_of(module, source.kinds, weights_bytes, [*conversion.notes, *notes_of(module)])

        notes: list[str] = []
        if companions is not None:
            from moir.language_models.folder import notes_on_older_files, save_folder

            notes = notes_on_older_files(output, companions)
            written = save_folder(module, output, companions, progress)
        elif cached is None:
            written = form.save(module, output, settings, progress)
        else:
            written, notes = cached.save(module, output, summarized, progress)
        timing.finish(number, EMISSION, module, time.perf_counter() - emission)
    beside = () if companions is None else tuple(companions.names)
    if options.silent or stopwatch is None:
        return FileConversion(written, None, stopwatch, timing, companions=beside)
    stopwatch.end("emission")
    summary = summarized(written.weights_bytes)
    return FileConversion(written, summary.with_fields(notes=[*summary.notes, *notes]), stopwatch, timing, companions=beside)


def companions_beside(model: Path, conversion: ConversionOptions, output: Path) -> Companions | None:
    """The files that belong beside the IR of a model; None if there are none, as for an IR that is not named by its
    framework (`Framework.ir_name`).

    Args:
        model: the model.
        conversion: the options of the conversion.
        output: the `.xml` to write.
    """
    companions = "moir.language_models.exported:companions_of_program" if conversion[GENERATION] else framework_of_file(model).companions
    if companions is None or output.stem != ir_name_of(str(model), conversion):
        return None
    from moir.conversion import stage

    with stage("the conversion of the tokenizer"):
        return load(companions)(model, conversion[TOKENIZERS])


def converted_in_pool(work: Work) -> ConversionResult:
    """Convert one of several models, in a process of the pool."""
    from moir.conversion import collection_paused
    from moir.files.remote.local import local_model, local_output
    from moir.tools.batch.resumption import request_of

    begun = time.perf_counter()
    settings = argparse.Namespace(
        silent=False, verbose=False, dump_ir=work.dumps, passes=work.passes, cache=work.cache, opset=None, matmul_nbits=False
    )
    with local_model(work.model) as model, local_output(work.output, model.files.values()) as output, collection_paused():
        done = converted_file(settings, work.conversion, model.path, output.path, [], begun)
        result = result_of(done, work, model, output)
    return result.with_fields(request=request_of(work))
