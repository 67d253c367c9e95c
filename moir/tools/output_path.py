"""Determines where a conversion writes, from `-o`, `--output-model`, `--model-name`, and from an `--output` that is a
path.

A path that ends in `.onnx` is that of an ONNX model; all others are for IR.

A language model is written to a folder of its own, in which the IR has a fixed name; so is a program that becomes one.

`--output` names the outputs of a model. It was the place to write in earlier command lines of moir; a value that looks
like a path (it ends in `.xml` or a slash, or is a folder) and is not a name in the model is still taken as the place
to write, with a note.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import ConversionError, UsageError
from moir.files.recognition import framework_of_file
from moir.files.remote.addresses import is_address, joined, name_of
from moir.frameworks import readable
from moir.frameworks.records import ONNX_SUFFIX
from moir.language_models.companions import LANGUAGE_MODEL
from moir.options import ConversionOptions
from moir.parameters.interface import MODEL_NAME, OUTPUT
from moir.parameters.state import GENERATION
from moir.support.records import Record
from moir.tools.streams import STANDARD, binary_output

if TYPE_CHECKING:
    from moir.files.remote.local_files import LocalModel, LocalOutput, Progress

MODEL_SUFFIXES = (".xml", ONNX_SUFFIX)
"""The suffixes of a path that is the file to write, not its folder."""


class Request(Record):
    """The request of a command line.

    Args:
        conversion: the options of the conversion.
        place: where to write: a folder, a path with one of `MODEL_SUFFIXES`, or standard output; empty if nothing is
            given.
        notes: notes on the command line, for the user.
    """

    conversion: ConversionOptions
    place: str
    notes: list[str]


def requested(options: argparse.Namespace, conversion: ConversionOptions, model: str, notes: list[str]) -> Request:
    """The request of a command line.

    Args:
        options: the values of the command line.
        conversion: the options of the conversion.
        model: the path of the model, whose names are looked up if `--output` is like a path; not those of an address.
        notes: notes on the command line so far.

    Raises UsageError for a name of the model that is a path.
    """
    check_name(conversion[MODEL_NAME])
    for text in (options.output_model, options.place):
        if text is not None and text.lower().endswith(".bin") and not Path(text).is_dir():
            raise UsageError(f"an IR is an .xml with its weights beside it, not {text}", hint=f"say -o {text[:-4]}.xml")
    if options.output_model is not None:
        return Request(conversion, place_of_model(options.output_model), notes)
    if options.place is not None:
        return Request(conversion, options.place, notes)
    given: str | None = options.output
    if given is not None and _is_like_a_path(given) and not _is_in_model(given, conversion, model):
        note = f"--output says which outputs are kept; {given} is taken as the place to write, which is -o"
        return Request(conversion.with_value(OUTPUT, ()), given, [*notes, note])
    return Request(conversion, "", notes)


@contextmanager
def output_file(request: Request, model: LocalModel, progress: Progress | None = None) -> Generator[LocalOutput]:
    """A context with the `.xml` or `.onnx` to write, which is in a temporary folder if the place is standard output or
    an address.

    Args:
        request: the request of the command line.
        model: the model.
        progress: is called after each part of a file that is sent to an address.
    """
    from moir.files.remote.local import local_output

    if request.place != STANDARD:
        output = output_path(request.place, str(model.path), request.conversion)
        with local_output(output, model.files.values(), progress) as local:
            yield local
        return
    binary_output()
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="moir-") as folder, local_output(output_path(folder, str(model.path), request.conversion)) as local:
        yield local


def output_path(output: str, model: str, conversion: ConversionOptions, *, is_single: bool = True) -> str:
    """The path or the address of the `.xml` or `.onnx` to write.

    Args:
        output: that path or address; or the folder of the file, the current one by default. The file is named like the
            model, unless its framework names IRs (`Framework.ir_name`), or it becomes a language model: such an IR gets
            a folder of its own, `output` for a single model (by default `NAME-openvino`), a folder in `output` with the
            name of the model for several.
        model: the path or the address of the model.
        conversion: the options of the conversion.
        is_single: whether this is the only model of the command.

    Raises UsageError for an address that cannot be that of a model.
    """
    if output.lower().endswith(MODEL_SUFFIXES):
        return output if is_address(output) else str(Path(output))
    name = conversion[MODEL_NAME] or _name_of(model)
    ir_name = ir_name_of(model, conversion)
    if not ir_name:
        return joined(output, f"{name}.xml")
    if not is_single:
        return joined(output, f"{name}/{ir_name}.xml")
    return joined(output or f"{name}-openvino", f"{ir_name}.xml")


def _name_of(model: str) -> str:
    """The name of a model from its path or address, without the suffix of a file."""
    if not is_address(model):
        path = Path(model)
        # What follows a dot in the name of a folder is no suffix: Qwen3-0.6B.
        return (path.name if path.is_dir() else path.stem) or path.resolve().name or "model"
    name = Path(name_of(model))
    return name.stem if any(name.suffix.lower() in each.suffixes for each in readable()) or name.suffix == ".json" else name.name


def ir_name_of(model: str, conversion: ConversionOptions) -> str:
    """The name that an IR has without suffix; empty if it is named like the model, or nothing reads the model."""
    if conversion[GENERATION]:
        return LANGUAGE_MODEL
    try:
        if not is_address(model):
            return framework_of_file(model).ir_name
        from moir.files.remote.models import framework_at

        framework = framework_at(model)
        return "" if framework is None else framework.ir_name
    except ConversionError:
        return ""


def check_name(name: str) -> None:
    """Raises UsageError if the name of a model to write is a path."""
    if name in (".", "..") or "/" in name or os.sep in name:
        raise UsageError(f"--model-name is a name, not a path: {name!r}", hint="say --output-dir for the folder")


def place_of_model(text: str) -> str:
    """The value of `-o` that means the same as a value of `--output-model` (a folder, or a path with or without its
    suffix).
    """
    is_folder = text.endswith(("/", os.sep)) or Path(text).is_dir()
    return text if is_folder or text.lower().endswith(MODEL_SUFFIXES) else f"{text}.xml"


def _is_like_a_path(text: str) -> bool:
    """Whether the value of `--output` looks like a path to write to rather than like the name of an output."""
    return text == STANDARD or text.lower().endswith(MODEL_SUFFIXES) or text.endswith(("/", os.sep)) or Path(text).is_dir()


def _is_in_model(name: str, conversion: ConversionOptions, model: str) -> bool:
    """Whether the model has an output, a tensor or a node with a name."""
    if is_address(model):
        return False
    from moir.analysis.model_names import ModelNames
    from moir.dialects.moir import models_of
    from moir.frameworks import read_model

    module = read_model(model, framework_of_file(model), conversion.reading)
    return any(ModelNames(each.block).has(name) for each in models_of(module))
