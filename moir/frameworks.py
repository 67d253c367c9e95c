"""The frameworks: one record each, with all that the stages of a conversion depend on.

    Framework(
        dialect="onnx",
        title="ONNX",
        reader="moir.frontends.onnx:read_model",
        suffixes=(".onnx",),
        lowering="moir.lowering.onnx.table:onnx",
    )

A record names functions and tables as `module:name`, so that a conversion imports only those of its own framework.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from moir.errors import ConversionError, ModelFileError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class ReaderOption:
    """An option of a reader besides the path.

    Args:
        name: keyword of the reader, and field of `ConversionOptions`.
        flag: the option of the command lines.
        metavar: placeholder of the value in the help text.
        help: the help text.
        is_list: whether the command line takes several values, separated by commas.
    """

    name: str
    flag: str
    metavar: str
    help: str
    is_list: bool = False


@dataclass(frozen=True)
class Framework:
    """The record of a framework.

    Args:
        dialect: name of its dialect, which is also the name of the framework in options and messages.
        title: its name in prose.
        reader: `module:function` that takes a path and the reader's options and returns a module; None if there is no
            frontend yet.
        suffixes: suffixes of the names of its model files.
        beginning: regular expression for the first 16 bytes of its files, to recognize files with other names; empty if
            there is none.
        folder_files: files that mark a folder as a model of this framework; one of them is enough.
        options: the reader's options.
        lowering: `module:table` of its lowerings; None if there are none yet.
        expander: `module:function` that replaces an operation without handler by the framework's own definition of it.
        raising: the passes in front of the lowering, in order.
        passes: passes of the middle phase that run only for models of frameworks that list them.
        channel_last: whether convolutions have the channels in the last dimension, which makes the layout change
            useful.
        constant_kind: the kind of its constants in lower case, as Model Optimizer's extractors name it.
    """

    dialect: str
    title: str
    reader: str | None = None
    suffixes: tuple[str, ...] = ()
    beginning: bytes = b""
    folder_files: tuple[str, ...] = ()
    options: tuple[ReaderOption, ...] = ()
    lowering: str | None = None
    expander: str | None = None
    raising: tuple[str, ...] = ()
    passes: frozenset[str] = frozenset()
    channel_last: bool = False
    constant_kind: str = "const"

    @property
    def lowering_pass(self) -> str:
        """The name of the pass that lowers its dialect."""
        return f"lower-{self.dialect}"

    def begins(self, data: bytes) -> bool:
        """Whether the first bytes of a file, `data`, are those of a model of this framework."""
        return bool(self.beginning) and re.match(self.beginning, data, re.DOTALL) is not None


ONNX = Framework(
    dialect="onnx",
    title="ONNX",
    reader="moir.frontends.onnx:read_model",
    suffixes=(".onnx",),
    # Field 1, the IR version, and the tag of another field of the message.
    beginning=rb"\x08[\x01-\x1f][\x12\x1a\x22\x28\x32\x3a\x42]",
    lowering="moir.lowering.onnx.table:onnx",
    expander="moir.frontends.onnx.expansion:expand",
    constant_kind="constant",
)

TENSORFLOW = Framework(
    dialect="tf",
    title="TensorFlow",
    reader="moir.frontends.tensorflow:read_model",
    suffixes=(".pb", ".pbtxt", ".meta"),
    # Field 1, a node, whose first field is its name.
    beginning=rb"\x0a.{1,3}\x0a",
    folder_files=("saved_model.pb", "saved_model.pbtxt"),
    options=(
        ReaderOption(
            "checkpoint",
            "--checkpoint",
            "PREFIX",
            "values of the variables of a graph that is not frozen: the checkpoint without .index",
        ),
        ReaderOption(
            "tags",
            "--saved-model-tags",
            "TAG[,TAG]",
            "tags of the graph of a SavedModel (default: serve, or the only graph)",
            is_list=True,
        ),
        ReaderOption(
            "signature",
            "--signature",
            "NAME",
            "signature of a SavedModel (default: serving_default, or the only one)",
        ),
    ),
    lowering="moir.lowering.tensorflow.table:tf",
    raising=("raise-while-frames", "raise-switch-merge", "raise-tensor-arrays", "raise-tensor-lists"),
    passes=frozenset(("fuse-recurrent-cells",)),
    channel_last=True,
)

FRAMEWORKS: dict[str, Framework] = {
    each.dialect: each
    for each in (
        ONNX,
        TENSORFLOW,
        # Frameworks without a frontend: extensions for Model Optimizer have files for them, and text in their dialects
        # can be parsed.
        Framework("tflite", "TensorFlow Lite"),
        Framework("caffe", "Caffe"),
        Framework("mxnet", "MXNet"),
        Framework("paddle", "PaddlePaddle"),
    )
}
"""The frameworks by the names of their dialects."""

MODEL_OPTIMIZER = Framework("mo", "Model Optimizer's API", lowering="moir.model_optimizer.lowering.table:mo")
"""The dialect of operations that extensions build with Model Optimizer's API.

It is lowered together with the dialect of the framework.
"""


def is_open_dialect(name: str) -> bool:
    """Whether a dialect is open: any kind is an operation of it, without a class."""
    return name in FRAMEWORKS or name == MODEL_OPTIMIZER.dialect


@contextmanager
def registered(framework: Framework) -> Generator[None]:
    """Register a framework within a context, in front of all others. Raises ValueError if its dialect is registered."""
    if is_open_dialect(framework.dialect):
        raise ValueError(f"there is a framework {framework.dialect!r} already")
    others = dict(FRAMEWORKS)
    FRAMEWORKS.clear()
    FRAMEWORKS.update({framework.dialect: framework, **others})
    try:
        yield
    finally:
        del FRAMEWORKS[framework.dialect]


def readable() -> list[Framework]:
    """The frameworks whose models can be read."""
    return [each for each in FRAMEWORKS.values() if each.reader is not None]


def lowered() -> list[Framework]:
    """The frameworks whose dialects can be lowered."""
    return [each for each in FRAMEWORKS.values() if each.lowering is not None]


def load(place: str) -> Any:
    """Import a module and return its attribute, given as `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def framework_of_file(path: str | Path) -> Framework:
    """The framework of a model file, from its suffix or its first bytes, or of a folder, from the files in it.

    Raises ModelFileError if no framework fits.
    """
    path = Path(path)
    if path.is_dir():
        return _framework_of_folder(path)
    for framework in readable():
        if path.suffix.lower() in framework.suffixes:
            return framework
    try:
        # Opening a named pipe would block.
        if path.exists() and not path.is_file():
            raise ModelFileError("not a regular file", location=str(path))
        with path.open("rb") as file:
            beginning = file.read(16)
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}", location=str(path)) from error
    for framework in readable():
        if framework.begins(beginning):
            return framework
    known = ", ".join(suffix for framework in readable() for suffix in framework.suffixes)
    raise ModelFileError("no frontend knows this kind of file", location=str(path), hint=f"model files end in {known}")


def _framework_of_folder(path: Path) -> Framework:
    for framework in readable():
        if any((path / name).is_file() for name in framework.folder_files):
            return framework
    expected = [name for framework in readable() for name in framework.folder_files[:1]]
    hint = "the only models that are folders are TensorFlow's SavedModels"
    raise ModelFileError(f"the folder has no {' or '.join(expected)}", location=str(path), hint=hint)


def read_model(path: str | Path, framework: Framework, options: Mapping[str, object]) -> ModuleOp:
    """Read a model file into a module in the dialect of its framework.

    Args:
        path: the file, or the folder of a SavedModel. Weights are views of memory maps of the files.
        framework: the framework of the model.
        options: values of the reader's options.

    Raises ModelFileError for a file that is damaged or no model, ConversionError for an option that the framework does
    not have.
    """
    known = [option.name for option in framework.options]
    for name in options:
        if name not in known:
            raise ConversionError(f"a model of {framework.dialect} has no {name}", location=str(path), hint=f"leave out the option {name}")
    assert framework.reader is not None
    read = cast("Callable[..., ModuleOp]", load(framework.reader))
    return read(path, **options)
