"""Dumps: a folder with the module after each pass that changed it, complete, so that `moir-opt` can read it back.

    DIR/00-import.mlir   DIR/02-lower-onnx.mlir   DIR/06-eliminate-dead.mlir   …   DIR/weights.bin

The number is the position of the pass in the pipeline; `moir-opt DIR/02-lower-onnx.mlir --resume-after 02-lower-onnx
-t ir -o m.xml` runs the remaining passes.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import BinaryIO

from xdsl.dialects.builtin import ModuleOp

from moir.conversion import Observer
from moir.errors import ConversionError
from moir.tools.text import print_module
from moir.tools.weights_file import WeightsWriter

WEIGHTS = "weights.bin"
_DUMP = re.compile(r"\d{2,}-[\w-]+\.mlir")


class DumpWriter(Observer):
    """Writes the dumps of one conversion.

    Dumps of an earlier conversion in the folder are removed, as the weights they refer to are overwritten.

    Args:
        folder: the folder; it is created if it does not exist.

    Raises ConversionError if the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._last = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                if _DUMP.fullmatch(path.name):
                    path.unlink()
            # A new file rather than a truncated one: another process may have mapped the old one.
            (folder / WEIGHTS).unlink(missing_ok=True)
            self._file: BinaryIO = (folder / WEIGHTS).open("xb")
        except OSError as error:
            raise ConversionError(f"dumps cannot be written: {error.strerror or error}", location=str(folder)) from error
        self._weights = WeightsWriter(self._file, WEIGHTS)

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        text = io.StringIO()
        print_module(module, text, self._weights)
        self._file.flush()
        if text.getvalue() != self._last:
            self._last = text.getvalue()
            (self.folder / f"{number:02}-{stage}.mlir").write_text(self._last, encoding="utf-8")

    def close(self) -> None:
        self._file.close()
