"""Reading whatever moir reads: models of all formats, and texts of modules such as those of `--dump-ir`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import ParseError, VerifyException

from moir.conversion import import_model, stage
from moir.dialects.context import MoirContext
from moir.errors import ModelFileError
from moir.options import ConversionOptions
from moir.source_files import recorded
from moir.tools.opt_input import OptInput
from moir.tools.text import TextParser
from moir.tools.weights_file import WeightsReader

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.frameworks import Framework


def read_any(argument: str, options: ConversionOptions, stack: ExitStack) -> tuple[ModuleOp, Framework | None]:
    """The module of a model file or of a text, and the framework of the model; None for a text.

    Args:
        argument: a path, or `-` for standard input.
        options: the options of the reader.
        stack: removes copies of streams at the end, when the module must not be used any more.

    Raises ConversionError for what cannot be read.
    """
    given = OptInput(argument, None, stack)
    if given.framework is None:
        return read_text(given.path, given.name, given.folder), None
    with stage("the import"):
        return import_model(given.path, options, given.framework), given.framework


def read_text(path: Path, name: str, folder: Path) -> ModuleOp:
    """The module of a text, in which operations that no dialect has are permitted.

    Args:
        path: the file.
        name: its name for messages.
        folder: the folder of the files with its weights.

    Raises ModelFileError for a text that cannot be parsed.
    """
    try:
        parser = TextParser(MoirContext(WeightsReader(folder), allow_unregistered=True), path.read_bytes(), name)
    except UnicodeDecodeError as error:
        raise ModelFileError(f"byte {error.start} is not UTF-8 text", location=name) from error
    with recorded(path) as reading, stage("the parser"):
        try:
            reading.module = module = parser.parse_module()
        except ParseError as error:
            raise ModelFileError(error.msg, location=str(error.span.get_location())) from error
        except VerifyException as error:
            raise ModelFileError(str(error), location=name) from error
    return module
