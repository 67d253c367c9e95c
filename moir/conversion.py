"""A conversion from end to end: the frontend of a file, the passes, the files of the IR.

Imports here are late: a conversion loads the frontend and the passes it needs.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

from moir.errors import ConversionError
from moir.frameworks import ReadingOptions, connect_expander, frontend_of, read_model
from moir.tools.extension_arguments import ExtensionOptions, directories_of, open_extensions
from moir.tools.failures import InternalError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from moir.emit.write import WrittenModel
    from moir.extensions.loading import Extensions


class ConversionOptions(ExtensionOptions, ReadingOptions, total=False):
    """What a conversion can be told about reading the model and about extensions."""


class Observer:
    """Is told about the stages of a conversion. Stage 0 is the import, the passes are counted from 1."""

    def begin(self, stages: Sequence[str]) -> None:
        """A conversion begins; it will have these stages."""

    def start(self, number: int, stage: str) -> None:
        """A stage begins."""

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        """A stage is done; `module` is its result."""

    def close(self) -> None:
        """The conversion is over, or failed."""


def import_model(
    path: str | Path,
    *,
    compress_to_fp16: bool = False,
    layout_change: bool = True,
    extended: ExtensionOptions | None = None,
    **reading: Unpack[ReadingOptions],
) -> ModuleOp:
    """Read a model file to convert it: its models carry the framework and the options of the conversion.

    Of paths it is the last part, folders are nobody's business.
    """
    from xdsl.dialects.builtin import DictionaryAttr

    from moir.dialects.moir import ModuleLevel, models_of
    from moir.dialects.properties import string_attribute

    module = read_model(path, **reading)
    options = {"framework": frontend_of(path).framework, "input_model": Path(path).name}
    if compress_to_fp16:
        options["compress_to_fp16"] = "True"
    if not layout_change:
        options["layout_change"] = "none"
    options |= recorded_options(extended or {})
    recorded = DictionaryAttr({name: string_attribute(text) for name, text in options.items()})
    for model in models_of(module):
        model.attributes[ModuleLevel.CONVERSION_PARAMETERS] = recorded
    return module


def recorded_options(options: ExtensionOptions) -> dict[str, str]:
    """What a model carries of the options about extensions."""
    recorded = {
        "extensions": ",".join(Path(each).name for each in directories_of(options)),
        "transformations_config": Path(options.get("transformations_config") or "").name,
        "enable": ",".join(options.get("enable") or ()),
        "disable": ",".join(options.get("disable") or ()),
    }
    return {name: text for name, text in recorded.items() if text}


def convert_model(
    path: str | Path,
    *,
    compress_to_fp16: bool = False,
    layout_change: bool = True,
    passes: str | Iterable[ModulePass] | None = None,
    observers: Sequence[Observer] = (),
    **options: Unpack[ConversionOptions],
) -> ModuleOp:
    """Read a model file and convert it to opset dialects.

    Args:
        path: the model file, or the folder of a SavedModel.
        compress_to_fp16: store weights in half precision.
        layout_change: move the transpositions around channel-last operations until they cancel; without it they stay where they are.
        passes: the passes instead of the default ones, as text (`"default,fold-constants{static-shape=true}"`) or as objects.
        observers: are told about each stage.
        options: `checkpoint`, `tags`, `signature`, as of `read_model`; `extensions` (directories), `transformations_config` (a JSON file),
            `enable`, `disable` (names of transformations). Extensions are loaded for this conversion only.

    Returns a module `save_model` and `to_openvino` accept, unless `passes` leave out what they need. Raises ConversionError.
    """
    from moir.pipeline_text import Pipeline

    framework = frontend_of(path).framework
    extended = cast(ExtensionOptions, {key: value for key, value in options.items() if key in ExtensionOptions.__annotations__})
    reading = cast(ReadingOptions, {key: value for key, value in options.items() if key in ReadingOptions.__annotations__})
    with collection_paused(), ExitStack() as stack:
        parameters = {"input_model": str(path), "compress_to_fp16": compress_to_fp16, "layout_change": layout_change, **reading}
        extensions = open_extensions(framework, extended, parameters)
        if extensions is not None:
            stack.enter_context(extensions)
        if passes is None or isinstance(passes, str):
            pipeline = Pipeline.parse(passes or "default", extensions)
            chosen = pipeline.passes(framework, compress_to_fp16=compress_to_fp16, layout_change=layout_change)
        else:
            chosen = list(passes)
        for observer in observers:
            observer.begin(["import", *(each.name for each in chosen)])
            observer.start(0, "import")
        start = time.perf_counter()
        with stage("the import"):
            module = import_model(path, compress_to_fp16=compress_to_fp16, layout_change=layout_change, extended=extended, **reading)
        seconds = time.perf_counter() - start
        for observer in observers:
            observer.finish(0, "import", module, seconds)
        run(module, chosen, observers, extensions=extensions)
    return module


def run(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    observers: Sequence[Observer] = (),
    *,
    first: int = 1,
    ctx: Context | None = None,
    extensions: Extensions | None = None,
) -> None:
    """Apply passes to a module.

    Args:
        module: changed in place.
        passes: the passes.
        observers: are told about each of them.
        first: number of the first pass.
        ctx: the dialects, by default all of ours.
        extensions: those that are open.

    Raises ConversionError, or InternalError for what should not happen.
    """
    from moir.dialects.context import MoirContext
    from moir.pipeline import LOWERINGS, run_passes

    ctx = ctx or MoirContext()
    lowered_by = {lowering: framework for framework, lowering in LOWERINGS.items()}
    for number, each in enumerate(passes, first):
        for observer in observers:
            observer.start(number, each.name)
        start = time.perf_counter()
        if (framework := lowered_by.get(each.name)) is not None:
            connect_expander(framework)
        with stage(f"pass {each.name}", extensions):
            run_passes(ctx, module, [each])
        seconds = time.perf_counter() - start
        for observer in observers:
            observer.finish(number, each.name, module, seconds)


@contextmanager
def stage(name: str, extensions: Extensions | None = None) -> Generator[None]:
    """Turn an exception nobody expected into an InternalError that says where it happened, or an error of an extension it came through."""
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    try:
        yield
    except ConversionError as error:
        if extensions is not None:
            extensions.locate(error)
        raise
    except (DiagnosticException, ParseError, MemoryError, RecursionError, BrokenPipeError):
        raise
    except Exception as error:
        raise (extensions and extensions.failure(error, name)) or InternalError(name) from error


def save_model(module: ModuleOp, path: str | Path, *, compress_to_fp16: bool = False) -> WrittenModel:
    """Write a converted module as OpenVINO IR: `path`, which ends in `.xml`, and the `.bin` beside it.

    Args:
        module: a module in opset dialects; it is not changed.
        path: the `.xml`.
        compress_to_fp16: store weights in half precision.

    Raises EmissionError, and VerifyException if the module is invalid; then no file is written and older ones stay as they were.
    """
    from moir.emit.files import weights_path
    from moir.emit.write import write_model
    from moir.errors import EmissionError
    from moir.rewriting.verification import verify_module

    bin_path = weights_path(Path(path))
    if is_mapped(bin_path):
        raise EmissionError("this file holds weights of the model that is converted", location=str(bin_path), hint="choose another output")
    if compress_to_fp16:
        from moir.passes.compress.compress_to_fp16 import CompressToFP16Pass

        module = module.clone()
        run(module, [CompressToFP16Pass()])
    with stage("emission"):
        verify_module(module)
        return write_model(module, path)


def is_mapped(path: Path) -> bool:
    """Whether a file is mapped into the memory of this process; never true where the platform does not tell."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            return path.exists() and any(line.rstrip("\n").endswith(f" {os.path.realpath(path)}") for line in maps)
    except OSError:
        return False


@contextmanager
def collection_paused() -> Generator[None]:
    """Keep the garbage collector away: the IR is one large cyclic structure that lives until the end, and each walk over it is in vain."""
    was_enabled, was_frozen = gc.isenabled(), gc.get_freeze_count() > 0
    gc.disable()
    if not was_frozen:
        gc.freeze()
    try:
        yield
    finally:
        if not was_frozen:
            gc.unfreeze()
        if was_enabled:
            gc.enable()
