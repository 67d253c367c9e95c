"""Where a conversion writes: from `-o`, `--output-model`, `--model-name`, and from an `--output` that is a path.

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

from moir.errors import ConversionError, UsageError
from moir.files.recognition import framework_of_file
from moir.language_models.companions import LANGUAGE_MODEL
from moir.options import ConversionOptions
from moir.parameters.interface import MODEL_NAME, OUTPUT
from moir.parameters.state import GENERATION
from moir.records import Record
from moir.tools.streams import STANDARD, binary_output


class Request(Record):
    """The request of a command line.

    Args:
        conversion: the options of the conversion.
        place: where to write: a folder, a path that ends in `.xml`, or standard output; empty if nothing is given.
        notes: notes on the command line, for the user.
    """

    conversion: ConversionOptions
    place: str
    notes: list[str]


def requested(options: argparse.Namespace, conversion: ConversionOptions, model: Path, notes: list[str]) -> Request:
    """The request of a command line.

    Args:
        options: the values of the command line.
        conversion: the options of the conversion.
        model: the file of the model, whose names are looked up if `--output` is like a path.
        notes: notes on the command line so far.

    Raises UsageError for a name of the model that is a path.
    """
    check_name(conversion[MODEL_NAME])
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
def output_file(place: str, model: Path, conversion: ConversionOptions) -> Generator[Path]:
    """The path of the `.xml` to write: in a temporary folder if the place is standard output."""
    if place != STANDARD:
        yield output_path(place, model, conversion)
        return
    binary_output()
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="moir-") as folder:
        yield output_path(folder, model, conversion)


def output_path(output: str, model: Path, conversion: ConversionOptions, *, is_single: bool = True) -> Path:
    """The path of the `.xml` to write.

    Args:
        output: that path; or the folder of the file, the current one by default. The file is named like the model,
            unless its framework names IRs (`Framework.ir_name`), or it becomes a language model: such an IR gets a
            folder of its own, `output` for a single model (by default `NAME-openvino`), a folder in `output` with the
            name of the model for several.
        model: the model.
        conversion: the options of the conversion.
        is_single: whether this is the only model of the command.
    """
    if output.lower().endswith(".xml"):
        return Path(output)
    # What follows a dot in the name of a folder is no suffix: Qwen3-0.6B.
    name = conversion[MODEL_NAME] or (model.name if model.is_dir() else model.stem) or model.resolve().name or "model"
    ir_name = ir_name_of(model, conversion)
    if not ir_name:
        return Path(output) / f"{name}.xml"
    if not is_single:
        return Path(output) / name / f"{ir_name}.xml"
    return Path(output or f"{name}-openvino") / f"{ir_name}.xml"


def ir_name_of(model: Path, conversion: ConversionOptions) -> str:
    """The name that an IR has without suffix; empty if it is named like the model, or nothing reads the model."""
    if conversion[GENERATION]:
        return LANGUAGE_MODEL
    try:
        return framework_of_file(model).ir_name
    except ConversionError:
        return ""


def check_name(name: str) -> None:
    """Raises UsageError if the name of a model to write is a path."""
    if name in (".", "..") or "/" in name or os.sep in name:
        raise UsageError(f"--model-name is a name, not a path: {name!r}", hint="say --output-dir for the folder")


def place_of_model(text: str) -> str:
    """The value of `--output-model` (a folder, or a path with or without its suffix) as a value of `-o`."""
    is_folder = text.endswith(("/", os.sep)) or Path(text).is_dir()
    return text if is_folder or text.lower().endswith(".xml") else f"{text}.xml"


def _is_like_a_path(text: str) -> bool:
    """Whether the argument of `--output` may be the place to write."""
    return text == STANDARD or text.lower().endswith(".xml") or text.endswith(("/", os.sep)) or Path(text).is_dir()


def _is_in_model(name: str, conversion: ConversionOptions, model: Path) -> bool:
    """Whether an output, a tensor or a node of a model has a name."""
    from moir.analysis.places import Places
    from moir.dialects.moir import models_of
    from moir.frameworks import read_model

    module = read_model(model, framework_of_file(model), conversion.reading)
    return any(Places(each.block).has(name) for each in models_of(module))
