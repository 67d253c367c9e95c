"""A conversion from end to end: the frontend of a file, the passes, the files of the IR.

Modules are imported where they are used, so that a conversion loads only the frontend and the passes it needs.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import INTERRUPTIONS, ConversionError, EmissionError, InferenceError, InternalError, MoirError, UsageError
from moir.files.recognition import framework_of_file
from moir.files.remote.addresses import shown
from moir.files.remote.local import local_output
from moir.files.source_files import check_as_read, check_not_read, recorded
from moir.frameworks import load
from moir.frameworks import read_model as read_framework_model
from moir.frameworks.record import Framework
from moir.options import ConversionOptions
from moir.parameters.arguments import FLAG, MODULE, PATH, Expected, advice_on_instances, checked, list_of
from moir.parameters.extension import TRANSFORMATIONS_CONFIG
from moir.parameters.interface import INPUT, OUTPUT
from moir.parameters.layout import LAYOUT, SOURCE_LAYOUT, TARGET_LAYOUT
from moir.support.turns import in_turn

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from moir.emit.write import WrittenModel
    from moir.pipeline import LoadedExtensions

EXTENSIONS = "moir.extensions.loading:open_extensions"
"""The place, `module:function`, of the function that loads extensions; it is in a layer above this module."""


class Observer:
    """Is notified of the stages of a conversion. Derive from it, and override the methods of interest:

        class Sizes(moir.Observer):
            def finish(self, number, stage, module, seconds):
                operations = sum(1 for _ in module.walk())
                print(f"{number:03} {stage}: {operations} operations, {seconds:.3f} s")

        moir.convert_model("model.onnx", observers=[Sizes()])

    Stage 0, `import`, reads the model; the passes are stages 1, 2, …. The methods of the base class do nothing. Their
    exceptions end the conversion.
    """

    def begin(self, stages: Sequence[str]) -> None:
        """Called once, when a conversion begins; not if its options or extensions are at fault.

        Args:
            stages: the names of all stages, `import` first. A pass that runs several times is in it several times.
        """

    def start(self, number: int, stage: str) -> None:
        """Called when a stage begins.

        Args:
            number: number of the stage, its index in what `begin` was told.
            stage: its name.
        """

    def advance(self, number: int, stage: str, done: int, total: int) -> None:
        """Called while a stage works whose progress is known in bytes: the writing of an IR, by the command line.

        Args:
            number: number of the stage.
            stage: its name.
            done: the bytes that are written so far.
            total: the number of bytes that will be written.
        """

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        """Called when a stage has ended without an error.

        Args:
            number: number of the stage.
            stage: its name.
            module: the module after it, to look at; later stages change it, `module.clone()` is a copy to keep.
            seconds: its duration.
        """

    def finish_unchanged(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        """Observe a stage that has left the module unchanged; by default the same as `finish`.

        An observer that keeps states of the module need not look at it again.
        """
        self.finish(number, stage, module, seconds)

    def close(self) -> None:
        """Called once, when the conversion is done or has failed."""


def _is_observer(value: object) -> bool:
    return isinstance(value, Observer)


OBSERVERS = Expected("a list of observers (moir.Observer)", list_of(_is_observer), advice_on_instances(_is_observer))


def convert(
    path: str | Path,
    options: ConversionOptions,
    *,
    passes: str | Iterable[str | ModulePass] | None = None,
    observers: Sequence[Observer] = (),
) -> ModuleOp:
    """Read a model file and convert it to opset dialects, see `moir.convert_model`. Observers are not closed."""
    from moir.pipeline import default_pipeline

    options.check()
    with _named(path), collection_paused(), ExitStack() as stack:
        framework = framework_of_file(path)
        extensions = open_extensions(framework, options, options.parameters(path)) if options.needs_extensions else None
        if extensions is not None:
            stack.callback(extensions.close)
        if passes is None or passes == "":
            chosen = default_pipeline(framework.dialect, options, extensions)
        else:
            from moir.pipeline.text import expanded

            chosen = expanded(passes, framework.dialect, options, extensions)
        for observer in observers:
            observer.begin(["import", *(each.name for each in chosen)])
            observer.start(0, "import")
        start = time.perf_counter()
        with stage("the import"):
            module = import_model(path, options, framework)
        seconds = time.perf_counter() - start
        for observer in observers:
            observer.finish(0, "import", module, seconds)
        if any(item.place.text and item.shape is None for item in options[INPUT]) and framework.lowering is not None:
            from moir.pipeline.cut_types import infer_cut_types

            infer_cut_types(module, options[INPUT], framework, run)
        # Passes change the shapes that the model declares.
        swapped = _hint_on_swapped_shapes(module, options)
        try:
            run(module, chosen, observers, extensions=extensions)
        except ConversionError as error:
            error.hint = swapped or error.hint
            raise
        if swapped is not None:
            from moir.dialects.moir import add_notes, models_of

            for model in models_of(module):
                add_notes(model, [swapped])
    return module


def _hint_on_swapped_shapes(module: ModuleOp, options: ConversionOptions) -> str | None:
    """The hint of `moir.pipeline.swapped_shapes` on shapes in another layout than the declared one; None for none."""
    if not any(item.shape is not None for item in options[INPUT]) or not any(
        options[each] for each in (LAYOUT, SOURCE_LAYOUT, TARGET_LAYOUT)
    ):
        return None
    from moir.pipeline.swapped_shapes import hint_on_swapped_shapes

    return hint_on_swapped_shapes(module, options)


def notes_of(module: ModuleOp) -> list[str]:
    """The notes of the frontend on the models of a module, texts for the user."""
    from moir.dialects.moir import ModuleLevel, models_of
    from moir.dialects.properties import value_of

    notes = [model.attributes.get(ModuleLevel.NOTES) for model in models_of(module)]
    return [note for each in notes if each is not None for note in value_of(each)]


def open_extensions(
    framework: Framework | None, options: ConversionOptions, parameters: Mapping[str, object] | None = None
) -> LoadedExtensions | None:
    """Load the extensions of a conversion; the caller closes them.

    None, without an import, if the options name nothing to load, enable or disable.

    Args:
        framework: the framework of the model; None if it is not known yet.
        options: the options of the conversion.
        parameters: further options of the conversion, for `graph.graph["cmd_params"]` of extensions.

    Raises ConversionError for files that cannot be loaded and names that do not exist.
    """
    return load(EXTENSIONS)(framework, options, parameters or {}) if options.needs_extensions else None


def import_model(path: str | Path, options: ConversionOptions, framework: Framework | None = None) -> ModuleOp:
    """Read a model file for a conversion: the models of the module record the framework and the options."""
    from xdsl.dialects.builtin import DictionaryAttr

    from moir.dialects.moir import ModuleLevel, models_of
    from moir.dialects.properties import string_attribute

    framework = framework or framework_of_file(path)
    configuration = options[TRANSFORMATIONS_CONFIG]
    wanted = [(name, number or 0) for place in options[OUTPUT] for name, _, number in place.readings()]
    with recorded(*(() if configuration is None else (configuration,))) as reading:
        reading.module = module = read_framework_model(path, framework, options.reading, wanted)
    texts = {"framework": framework.dialect, "input_model": Path(path).name, **options.recorded()}
    parameters = DictionaryAttr({name: string_attribute(text) for name, text in texts.items()})
    for model in models_of(module):
        model.attributes[ModuleLevel.CONVERSION_PARAMETERS] = parameters
    return module


_SHAPING = ("set-batch", "set-input-shapes")
"""Passes that give inputs other shapes than those that the model was exported with."""

_OTHER_SHAPES = "the model may compute with sizes that only fit other shapes of its inputs; export it with dynamic sizes, or for these"


def run(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    observers: Sequence[Observer] = (),
    *,
    first: int = 1,
    ctx: Context | None = None,
    extensions: LoadedExtensions | None = None,
    verifies: bool = False,
) -> None:
    """Apply passes to a module.

    Args:
        module: changed in place.
        passes: the passes.
        observers: are notified of each pass.
        first: number of the first pass.
        ctx: the context with the dialects, by default all of moir.
        extensions: the extensions that are loaded.
        verifies: whether to verify after each pass the facts about the module that passes share.

    Raises ConversionError, or InternalError for an unexpected exception.
    """
    from moir.pipeline.schedule import PassSchedule

    schedule = PassSchedule(module, verifies=verifies)
    for number, each in enumerate(passes, first):
        for observer in observers:
            observer.start(number, each.name)
        start = time.perf_counter()
        try:
            with stage(f"pass {each.name}", extensions):
                changed = schedule.run(each, ctx)
        except InferenceError as error:
            if error.hint is None and any(one.name in _SHAPING for one in passes):
                error.hint = _OTHER_SHAPES
            raise
        seconds = time.perf_counter() - start
        for observer in observers:
            (observer.finish if changed else observer.finish_unchanged)(number, each.name, module, seconds)


@contextmanager
def _named(path: str | Path) -> Generator[None]:
    """Add the path of the model to errors in the context."""
    try:
        yield
    except MoirError as error:
        error.model = str(path)
        raise


FAILURE_IN_PROGRAM = "moir.extensions.failures:failure_in_program"
"""The place, `module:function`, of the function that turns exceptions in the user's program into errors."""


@contextmanager
def stage(name: str, extensions: LoadedExtensions | None = None) -> Generator[None]:
    """Wrap an unexpected exception in an InternalError that names the stage.

    An exception that passed through a file of an extension or of the user's program becomes a ConversionError that
    names the file instead.
    """
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    try:
        yield
    except ConversionError as error:
        if extensions is not None:
            extensions.locate(error)
        _set_origin(error)
        raise
    except (UsageError, DiagnosticException, ParseError, MemoryError, RecursionError, BrokenPipeError):
        raise
    except INTERRUPTIONS:
        raise
    except BaseException as error:
        of_extension = None if extensions is None else extensions.failure(error, name)
        of_program = of_extension or load(FAILURE_IN_PROGRAM)(error, name)
        raise of_program or InternalError(name) from error


def _set_origin(error: ConversionError) -> None:
    """Set the origin of an error about an operation: the framework's nodes from which passes made that operation."""
    from moir.analysis.provenance import origin
    from moir.rewriting.failing_operation import subject_of

    subject = subject_of(error)
    if subject is not None and subject.name == error.operation and error.origin is None:
        error.origin = origin(subject)


@in_turn
@checked(module=MODULE, path=PATH, compress_to_fp16=FLAG)
def save_model(module: ModuleOp, path: str | Path, *, compress_to_fp16: bool = False) -> WrittenModel:
    """Write a converted module as OpenVINO IR: `path`, which ends in `.xml`, and the `.bin` beside it.

    Args:
        module: a module in opset dialects; it is not changed.
        path: path or address of the `.xml`. At an address the files appear when both are complete; they may replace the
            model that was read from there.
        compress_to_fp16: store weights in half precision.

    Raises ArgumentError for arguments of other types, UsageError for a path that does not end in `.xml` and for an
    address that cannot be written to, EmissionError for a module that IR cannot represent, and VerifyException for an
    invalid one; then no file is written or changed.
    """
    with local_output(str(path)) as output:
        written = write_checked(module, output.path, compress_to_fp16=compress_to_fp16)
    return written.at(shown(output.address))


def write_checked(
    module: ModuleOp,
    path: str | Path,
    *,
    compress_to_fp16: bool = False,
    complete: Callable[[], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WrittenModel:
    """Write a converted module as `save_model` does.

    Args:
        module: a module in opset dialects; it is not changed.
        path: path of the `.xml`.
        compress_to_fp16: store weights in half precision.
        complete: called when both files are written under temporary names, before they replace older ones; an exception
            prevents that they do.
        progress: called with the bytes of the weights that are written, and with their sum.
    """
    from moir.emit.files import weights_path
    from moir.emit.write import write_model
    from moir.rewriting.verification import verify_module

    check_not_read(module, (Path(path), weights_path(Path(path))))
    unchanged = partial(check_as_read, module)

    def check() -> None:
        unchanged()
        if complete is not None:
            complete()

    if compress_to_fp16:
        from moir.passes.compress.compress_to_fp16 import CompressToFp16Pass

        module = module.clone()
        run(module, [CompressToFp16Pass()])
    with stage("emission"):
        verify_module(module)
        try:
            return write_model(module, path, check=check, progress=progress)
        except EmissionError:
            # Writing fails if a memory-mapped file was truncated meanwhile; `unchanged` raises an error that says so.
            unchanged()
            raise


@contextmanager
def collection_paused() -> Generator[None]:
    """A context in which the garbage collector is disabled.

    The IR is one large cyclic structure that stays alive until the end, so that collections only cost time.
    """
    if not gc.isenabled():
        yield
        return
    was_frozen = gc.get_freeze_count() > 0
    gc.disable()
    if not was_frozen:
        gc.freeze()
    try:
        yield
    finally:
        if not was_frozen:
            # Moves all present objects to the oldest generation, so that the next collection of young objects skips
            # them.
            gc.freeze()
            gc.unfreeze()
        gc.enable()
