"""The frameworks that moir supports: which are registered, which of them can be read and converted, and how a model is
read.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from moir.errors import ConversionError
from moir.frameworks.record import Framework
from moir.frameworks.records import (
    CAFFE,
    GGUF,
    KERAS,
    MXNET,
    ONNX,
    OPENVINO_IR,
    PADDLE,
    PYTORCH,
    STABLEHLO,
    TENSORFLOW,
    TENSORFLOW_LITE,
    TRANSFORMERS,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


FRAMEWORKS: dict[str, Framework] = {
    each.dialect: each
    for each in (
        ONNX,
        TENSORFLOW,
        CAFFE,
        MXNET,
        TENSORFLOW_LITE,
        KERAS,
        STABLEHLO,
        PYTORCH,
        PADDLE,
        TRANSFORMERS,
        GGUF,
        OPENVINO_IR,
    )
}
"""The frameworks by the names of their dialects."""

BUILT_IN = tuple(FRAMEWORKS.values())
"""The frameworks of moir itself; `registered` adds others."""

MODEL_OPTIMIZER = Framework("mo", "Model Optimizer's API", lowering="moir.model_optimizer.lowering.table:mo")
"""The dialect of operations that extensions build with Model Optimizer's API.

It is lowered together with the dialect of the framework.
"""

DETECTION = Framework("detection", "Heads of detection networks", lowering="moir.lowering.detection.table:detection")
"""The dialect of the heads that take the place of the post-processing of detection networks, where that is asked for.

It is lowered together with the dialect of the framework.
"""

INTERNAL = (MODEL_OPTIMIZER, DETECTION)
"""The dialects whose operations moir's own passes build, in models of any framework."""


def lowered_with(framework: Framework) -> tuple[Framework, ...]:
    """The records of the dialects that are lowered together with that of a framework; the framework's own record is the
    first.
    """
    return (framework, *(FRAMEWORKS[each] for each in framework.embedded if each in FRAMEWORKS), *INTERNAL)


def is_open_dialect(name: str) -> bool:
    """Whether a dialect is open: any kind is an operation of it, without a class."""
    record = FRAMEWORKS.get(name)
    return any(name == each.dialect for each in INTERNAL) or (record is not None and not record.is_lowered and not record.shared_dialect)


@contextmanager
def registered(framework: Framework) -> Generator[None]:
    """A context in which a framework is registered, before all others.

    Raises ValueError if its dialect is registered already.
    """
    if is_open_dialect(framework.dialect):
        raise ValueError(f"there is a framework {framework.dialect!r} already")
    others = dict(FRAMEWORKS)
    FRAMEWORKS.clear()
    FRAMEWORKS.update({framework.dialect: framework, **others})
    try:
        yield
    finally:
        del FRAMEWORKS[framework.dialect]


def readable(frameworks: Iterable[Framework] | None = None) -> list[Framework]:
    """The frameworks whose models can be read, of those given; by default of all that are registered."""
    return [each for each in (FRAMEWORKS.values() if frameworks is None else frameworks) if each.reader is not None]


def lowered() -> list[Framework]:
    """The frameworks with dialects of their own that can be lowered."""
    return [each for each in FRAMEWORKS.values() if each.lowering is not None and not each.shared_dialect]


def lowering_records() -> list[Framework]:
    """The records of all dialects that have a table of lowerings, including the dialects that moir itself defines."""
    return [*lowered(), *INTERNAL]


def converted() -> list[Framework]:
    """The frameworks whose models can be converted."""
    return [each for each in FRAMEWORKS.values() if each.lowering is not None or each.is_lowered]


def load(reference: str) -> Any:
    """Import a module and return its attribute, given as `module:name`."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def read_model(path: str | Path, framework: Framework, options: Mapping[str, object], wanted: Sequence[tuple[str, int]] = ()) -> ModuleOp:
    """Read a model file into a module in the dialect of its framework.

    Args:
        path: the file, or the folder of a SavedModel. Weights are views of memory maps of the files.
        framework: the framework of the model.
        options: values of the reader's options.
        wanted: names of the nodes that the user may mean as outputs, with the index of the result.

    Raises ModelFileError for a file that is damaged or is not a model, ConversionError for an option that the
    framework does not have.
    """
    known = [option.name for option in framework.options]
    for name in options:
        if name not in known:
            raise ConversionError(f"a model of {framework.dialect} has no {name}", location=str(path), hint=f"leave out the option {name}")
    assert framework.reader is not None
    read = cast("Callable[..., ModuleOp]", load(framework.reader))
    return read(path, **options, wanted=wanted) if framework.takes_outputs and wanted else read(path, **options)
