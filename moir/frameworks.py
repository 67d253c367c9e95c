"""The frontends: what reads the files of each framework. A conversion loads the one it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from moir.errors import ConversionError, ModelFileError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

    from moir.dialects.framework import FrameworkOp
    from moir.lowering.driver import Expander, LoweringTable


@dataclass(frozen=True)
class Frontend:
    """What reads the model files of one framework.

    Args:
        framework: name of the framework, of its dialect.
        suffixes: how names of its model files end.
        beginning: how such a file begins, for files with another name.
        reader: `module:function`, path -> module.
        lowering: `module:table` of the framework's lowerings.
        options: what the reader can be told besides the path.
        expander: `module:function` that expands operations without lowering by the framework's own definitions, if it has such.
    """

    framework: str
    suffixes: tuple[str, ...]
    beginning: re.Pattern[bytes]
    reader: str
    lowering: str
    options: tuple[str, ...] = ()
    expander: str | None = None


FRONTENDS: tuple[Frontend, ...] = (
    Frontend(
        "onnx",
        (".onnx",),
        # Field 1, the IR version, and the tag of another field of the message.
        re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x28\x32\x3a\x42]"),
        "moir.frontends.onnx:read_model",
        "moir.lowering.onnx.table:onnx",
        expander="moir.frontends.onnx.expansion:expand",
    ),
    Frontend(
        "tf",
        (".pb", ".pbtxt", ".meta"),
        # Field 1, a node, whose first field is its name.
        re.compile(rb"\x0a.{1,3}\x0a", re.DOTALL),
        "moir.frontends.tensorflow:read_model",
        "moir.lowering.tensorflow.table:tf",
        ("checkpoint", "tags", "signature"),
    ),
)


SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")


def load(place: str) -> object:
    """What `module:name` refers to."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def frontend_of(path: str | Path) -> Frontend:
    """The frontend for a file, by its name or else its beginning, or for the folder of a SavedModel.

    Raises ModelFileError if there is none.
    """
    path = Path(path)
    if path.is_dir():
        if not any((path / name).is_file() for name in SAVED_MODEL_FILES):
            hint = "the only models that are folders are TensorFlow's SavedModels"
            raise ModelFileError(f"the folder has no {SAVED_MODEL_FILES[0]}", location=str(path), hint=hint)
        path /= SAVED_MODEL_FILES[0]
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


class ReadingOptions(TypedDict, total=False):
    """What a frontend can be told besides the path; None counts as not told.

    `checkpoint`: path of a checkpoint without its suffixes, for a graph that is not frozen. `tags`, `signature`: of a SavedModel.
    """

    checkpoint: str | Path | None
    tags: Sequence[str] | None
    signature: str | None


def read_model(path: str | Path, **options: Unpack[ReadingOptions]) -> ModuleOp:
    """Read a model file into a module in the dialect of its framework.

    Args:
        path: the file, or the folder of a SavedModel; weights stay in the files, the module has views of their memory maps.
        options: see `ReadingOptions`.

    Raises ModelFileError for a file that is no model or is damaged, ConversionError for an option its framework does not have.
    """
    frontend = frontend_of(path)
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in frontend.options:
            raise ConversionError(f"a model of {frontend.framework} has no {name}", location=str(path), hint=f"leave out the option {name}")
    read = cast("Callable[..., ModuleOp]", load(frontend.reader))
    return read(path, **given)


def connect_expander(framework: str) -> None:
    """Give the table of a framework's lowerings the function that expands what it has no handler for."""
    for frontend in FRONTENDS:
        if frontend.framework == framework and frontend.expander is not None:
            table = cast("LoweringTable", load(frontend.lowering))
            if table.expander is None:
                table.expander = _expander(frontend.expander)


def _expander(place: str) -> Expander:
    # Definitions of a framework's operations are in its package, which takes long to import and is rarely needed.
    def expand(op: FrameworkOp, version: int) -> Sequence[SSAValue] | None:
        return cast("Expander", load(place))(op, version)

    return expand
