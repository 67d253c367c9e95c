"""The check that the files of a conversion do not overwrite each other, or the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moir.conversion import Observer
from moir.errors import UsageError
from moir.files.source_files import check_not_read
from moir.tools.output_form import output_form

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class OutputCheck(Observer):
    """Checks, once the model was read, that the output overwrites neither the model nor the dumps.

    Args:
        output: the `.xml` or `.onnx` to write.
        dumps: the folder of the dumps, if there are dumps.
    """

    def __init__(self, output: Path, dumps: str | None) -> None:
        self._output = output
        self._dumps = dumps

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if number > 0:
            return
        files = output_form(self._output).files(self._output)
        check_not_read(module, files)
        if self._dumps is not None:
            from moir.tools.optimizer.dumps import dump_files

            shared = {path.resolve() for path in dump_files(Path(self._dumps))} & {path.resolve() for path in files}
            if shared:
                raise UsageError(f"{shared.pop()} would be both output and dump; choose another folder for the dumps")
