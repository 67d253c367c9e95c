"""Reading models of all formats, and texts of modules such as those of `--dump-ir`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import ParseError, VerifyException

from moir.conversion import import_model, stage
from moir.dialects.context import MoirContext
from moir.errors import ModelFileError
from moir.files.source_files import recorded
from moir.options import ConversionOptions
from moir.rewriting.verification import verify_module
from moir.tools.optimizer.input import OptInput
from moir.tools.optimizer.text import TextParser
from moir.tools.optimizer.text_limits import read_text_file
from moir.tools.optimizer.weights_file import WeightsReader

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.frameworks.record import Framework


def read_any(argument: str, options: ConversionOptions, stack: ExitStack) -> tuple[ModuleOp, Framework | None]:
    """The module of a model file or of a text, and the framework of the model; None for a text.

    A text may have operations that no dialect has.

    Args:
        argument: a path, or `-` for standard input.
        options: the options of the reader.
        stack: removes copies of streams at the end, when the module must not be used any more.

    Raises ConversionError for a model that cannot be read.
    """
    given = OptInput(argument, None, stack)
    if given.framework is None:
        return read_text(given, allow_unregistered=True), None
    with stage("the import"):
        return import_model(given.path, options, given.framework), given.framework


@contextmanager
def opened_model(argument: str) -> Generator[Path | ModuleOp]:
    """A context with a model for a command that runs it: the path of a model file, or the module that a text contains,
    verified.

    Args:
        argument: a model file, the folder of a SavedModel, a text of moir (`.mlir`), or `-` for standard input.

    Raises ModelFileError for a file that cannot be read, and VerifyException for a module that is not valid.
    """
    with ExitStack() as stack:
        given = OptInput(argument, None, stack)
        if given.framework is not None:
            yield given.path
            return
        module = read_text(given)
        verify_module(module)
        yield module


def read_text(source: OptInput, *, allow_unregistered: bool = False) -> ModuleOp:
    """The module of a text. Its weights are views of a memory map of its side file.

    Args:
        source: the text.
        allow_unregistered: whether operations that no dialect has are permitted.

    Raises ModelFileError for a text that cannot be parsed.
    """
    context = MoirContext(WeightsReader(source.folder), allow_unregistered=allow_unregistered)
    with source.path.open("rb") as file:
        content = read_text_file(file, source.name)
    with recorded(source.path) as reading, stage("the parser"):
        try:
            reading.module = module = TextParser(context, content, source.name).parse_module()
        except UnicodeDecodeError as error:
            raise ModelFileError(f"byte {error.start} is not UTF-8 text", location=source.name) from error
        except ParseError as error:
            raise ModelFileError(error.msg, location=str(error.span.get_location())) from error
        except VerifyException as error:
            raise ModelFileError(str(error), location=source.name) from error
    return module
