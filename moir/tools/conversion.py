"""A conversion from end to end: the frontend of a file, the passes, the files of the IR.

Imports here are late: a conversion loads the frontend and the passes it needs.
"""

from __future__ import annotations

import gc
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from moir.errors import ConversionError, ModelFileError
from moir.tools.failures import InternalError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue
    from xdsl.passes import ModulePass

    from moir.dialects.framework import FrameworkOp
    from moir.emit.write import WrittenModel
    from moir.passes.lowering import Expander, LoweringTable


@dataclass(frozen=True)
class Frontend:
    """What reads the model files of one framework.

    Args:
        framework: name of the framework, of its dialect.
        suffixes: how names of its model files end.
        beginning: how such a file begins, for files with another name.
        reader: `module:function`, path -> module.
        lowering: `module:table` of the framework's lowerings.
        expander: `module:function` that expands operations without lowering by the framework's own definitions, if it has such.
    """

    framework: str
    suffixes: tuple[str, ...]
    beginning: re.Pattern[bytes]
    reader: str
    lowering: str
    expander: str | None = None


FRONTENDS: tuple[Frontend, ...] = (
    Frontend(
        "onnx",
        (".onnx",),
        # Field 1, the IR version, and the tag of another field of the message.
        re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x28\x32\x3a\x42]"),
        "moir.frontends.onnx:read_model",
        "moir.passes.lower_onnx.table:onnx",
        "moir.frontends.onnx.expansion:expand",
    ),
    Frontend(
        "tf",
        (".pb", ".pbtxt", ".meta"),
        # Field 1, a node, whose first field is its name.
        re.compile(rb"\x0a.{1,3}\x0a", re.DOTALL),
        "moir.frontends.tensorflow:read_model",
        "moir.passes.lower_tf.table:tf",
    ),
)


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


def _load(place: str) -> object:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def frontend_of(path: str | Path) -> Frontend:
    """The frontend for a file, by its name or else its beginning. Raises ModelFileError if there is none."""
    path = Path(path)
    for frontend in FRONTENDS:
        if path.suffix.lower() in frontend.suffixes:
            return frontend
    try:
        # Opening a named pipe would block.
        if path.exists() and not path.is_file():
            raise ModelFileError("not a regular file", location=str(path))
        with path.open("rb") as file:
            beginning = file.read(16)
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}", location=str(path)) from error
    for frontend in FRONTENDS:
        if frontend.beginning.match(beginning):
            return frontend
    known = ", ".join(suffix for frontend in FRONTENDS for suffix in frontend.suffixes)
    raise ModelFileError("no frontend knows this kind of file", location=str(path), hint=f"model files end in {known}")


def read_model(path: str | Path) -> ModuleOp:
    """Read a model file into a module in the dialect of its framework.

    Args:
        path: the file; weights stay in it, the module has views of its memory map.

    Raises ModelFileError for a file that is no model or is damaged.
    """
    read = cast("Callable[[str | Path], ModuleOp]", _load(frontend_of(path).reader))
    return read(path)


def import_model(path: str | Path, *, compress_to_fp16: bool = False) -> ModuleOp:
    """Read a model file to convert it: its models carry the options of the conversion.

    Of the path it is the last part, folders are nobody's business.
    """
    from xdsl.dialects.builtin import DictionaryAttr

    from moir.dialects.moir import ModuleLevel, models_of
    from moir.dialects.properties import string_attribute

    module = read_model(path)
    options = {"input_model": Path(path).name}
    if compress_to_fp16:
        options["compress_to_fp16"] = "True"
    recorded = DictionaryAttr({name: string_attribute(text) for name, text in options.items()})
    for model in models_of(module):
        model.attributes[ModuleLevel.CONVERSION_PARAMETERS] = recorded
    return module


def convert_model(
    path: str | Path,
    *,
    compress_to_fp16: bool = False,
    passes: str | Iterable[ModulePass] | None = None,
    observers: Sequence[Observer] = (),
) -> ModuleOp:
    """Read a model file and convert it to opset dialects.

    Args:
        path: the model file.
        compress_to_fp16: store weights in half precision.
        passes: the passes instead of the default ones, as text (`"default,fold-constants{static-shape=true}"`) or as objects.
        observers: are told about each stage.

    Returns a module `save_model` and `to_openvino` accept, unless `passes` leave out what they need. Raises ConversionError.
    """
    from moir.tools.pipelines import Pipeline

    pipeline = Pipeline.parse(passes) if isinstance(passes, str) else None
    frontend = frontend_of(path)
    if pipeline is not None:
        chosen = pipeline.passes(frontend.framework, compress_to_fp16=compress_to_fp16)
    elif passes is not None and not isinstance(passes, str):
        chosen = list(passes)
    else:
        chosen = Pipeline.parse("default").passes(frontend.framework, compress_to_fp16=compress_to_fp16)
    with collection_paused():
        for observer in observers:
            observer.begin(["import", *(each.name for each in chosen)])
            observer.start(0, "import")
        start = time.perf_counter()
        with stage("the import"):
            module = import_model(path, compress_to_fp16=compress_to_fp16)
        seconds = time.perf_counter() - start
        for observer in observers:
            observer.finish(0, "import", module, seconds)
        run(module, chosen, observers)
    return module


def run(
    module: ModuleOp, passes: Sequence[ModulePass], observers: Sequence[Observer] = (), *, first: int = 1, ctx: Context | None = None
) -> None:
    """Apply passes to a module.

    Args:
        module: changed in place.
        passes: the passes.
        observers: are told about each of them.
        first: number of the first pass.
        ctx: the dialects, by default all of ours.

    Raises ConversionError, or InternalError for what should not happen.
    """
    from moir.passes.pipeline import run_passes
    from moir.tools.context import ToolContext

    ctx = ctx or ToolContext()
    for number, each in enumerate(passes, first):
        for observer in observers:
            observer.start(number, each.name)
        start = time.perf_counter()
        _connect_expander(each.name)
        with stage(f"pass {each.name}"):
            run_passes(ctx, module, [each])
        seconds = time.perf_counter() - start
        for observer in observers:
            observer.finish(number, each.name, module, seconds)


@contextmanager
def stage(name: str) -> Generator[None]:
    """Turn an exception nobody expected into an InternalError that says where it happened."""
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    try:
        yield
    except (ConversionError, DiagnosticException, ParseError, MemoryError, RecursionError, BrokenPipeError):
        raise
    except Exception as error:
        raise InternalError(name) from error


def _connect_expander(lowering: str) -> None:
    """Give the table of a lowering pass the function that expands what it has no handler for."""
    from moir.passes.pipeline import LOWERINGS

    for frontend in FRONTENDS:
        if frontend.expander is not None and LOWERINGS.get(frontend.framework) == lowering:
            table = cast("LoweringTable", _load(frontend.lowering))
            if table.expander is None:
                table.expander = _expander(frontend.expander)


def _expander(place: str) -> Expander:
    # Definitions of a framework's operations are in its package, which takes long to import and is rarely needed.
    def expand(op: FrameworkOp, version: int) -> Sequence[SSAValue] | None:
        return cast("Expander", _load(place))(op, version)

    return expand


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
    from moir.tools.verification import verify_module

    bin_path = weights_path(Path(path))
    if is_mapped(bin_path):
        raise EmissionError("this file holds weights of the model that is converted", location=str(bin_path), hint="choose another output")
    if compress_to_fp16:
        from moir.passes.compress_to_fp16 import CompressToFP16Pass

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
