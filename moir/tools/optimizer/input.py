"""The input of `moir-opt`: a text or a model, from a file, a folder, standard input or a pipe.

A model is recognized by its content; a file that no frontend reads is a text, unless it is of a known other kind.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from moir.files.foreign_files import GENERAL, TEXT_OF_MODULE, foreign_kind
from moir.files.recognition import beginning_of, framework_of_content, framework_of_file
from moir.frameworks import readable
from moir.frameworks.record import Framework
from moir.tools.streams import STANDARD, STANDARD_INPUT, file_of, is_stream


class OptInput:
    """The input of one call of the tool.

    Args:
        argument: the argument of the tool; None and `-` are standard input.
        frontend: one of the values of `--frontend`, or None to recognize the input.
        stack: removes copies of streams at the end.

    Attributes:
        name: the name for messages.
        path: the file or folder; a copy for a stream.
        framework: the framework of a model; None for a text.
        folder: the folder with the side files of a text.

    Raises ModelFileError for a file that cannot be read, or that is known to be neither a text nor a model.
    """

    def __init__(self, argument: str | None, frontend: str | None, stack: ExitStack) -> None:
        given = argument or STANDARD
        self.name = STANDARD_INPUT if given == STANDARD else given
        self.path = stack.enter_context(file_of(given))
        self.folder = Path() if is_stream(given) else self.path.parent
        self.framework = _framework_of_name(frontend) if frontend else _recognized(self.path)


def _framework_of_name(frontend: str) -> Framework | None:
    return next((each for each in readable() if frontend == each.dialect or f".{frontend}" in each.suffixes), None)


def _recognized(path: Path) -> Framework | None:
    """The framework of the model at a path; None if the file is a text."""
    if path.is_dir() or not path.exists():
        return framework_of_file(path)
    beginning = beginning_of(path)
    framework = framework_of_content(path, beginning)
    if framework is None and path.suffix.lower() in {suffix for each in readable() for suffix in each.suffixes}:
        return framework_of_file(path)
    if framework is None:
        kind = foreign_kind(beginning) or foreign_kind(beginning, kinds=GENERAL)
        if kind is not None and kind is not TEXT_OF_MODULE:
            raise kind.error(path)
    return framework
