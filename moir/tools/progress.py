"""Observers of a conversion: a progress bar, and the durations of the stages."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from moir.conversion import Observer
from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

EMISSION = "emission"
_BAR_WIDTH, _SMALLEST_BAR = 24, 4
_ERASE_LINE = "\r\033[K"
_INTERVAL = 0.1
"""The shortest time in seconds between two drawings of the bar within one stage."""
_MEGABYTE = 10**6


def shows_progress(stream: TextIO) -> bool:
    """Whether a bar can be drawn on a stream: it is a terminal that understands control sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class ProgressBar(Observer):
    """A bar on a terminal with the number of completed stages and the name of the current one.

        [#######################.] 41/42 emission 812.3 of 1234.5 MB

    While weights are written, it moves by their bytes. It takes one line, whatever the width of the terminal, and has
    no colours.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self.stream = stream
        self._total = 1
        self._next = 0.0

    def begin(self, stages: Sequence[str]) -> None:
        self._total = len(stages) + 1

    def start(self, number: int, stage: str) -> None:
        self._draw(number, f"{number}/{self._total} {stage}")

    def advance(self, number: int, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now < self._next:
            return
        self._next = now + _INTERVAL
        size = f"{done / _MEGABYTE:.1f} of {total / _MEGABYTE:.1f} MB"
        self._draw(number + done / max(total, 1), f"{number}/{self._total} {stage} {size}")

    def transfer(self, address: str, done: int, total: int) -> None:
        """Show how much of a file is downloaded or uploaded, before or after the stages of the conversion.

        Args:
            address: the address of the file.
            done: the bytes that are done.
            total: its size in bytes; 0 if that is unknown.
        """
        now = time.monotonic()
        if now < self._next and done != total:
            return
        from moir.files.remote.addresses import name_of

        self._next = now + _INTERVAL
        self._total = max(total, 1)
        size = f"{done / _MEGABYTE:.1f}" + (f" of {total / _MEGABYTE:.1f}" if total else "")
        self._draw(done if total else 0, f"{name_of(address)} {size} MB")

    def _draw(self, position: float, text: str) -> None:
        """Draw the bar up to a position between 0 and the number of stages, followed by a text."""
        # A character in the last column would make some terminals begin a new line.
        columns = self._columns() - 1
        width = min(_BAR_WIDTH, columns - len(text) - 3)
        done = int(max(width, 0) * position / self._total)
        bar = f"[{'#' * done}{'.' * (width - done)}] " if width >= _SMALLEST_BAR else ""
        self._write(f"{_ERASE_LINE}{f'{bar}{text}'[: max(columns, 0)]}")

    def close(self) -> None:
        self._write(_ERASE_LINE)

    def _columns(self) -> int:
        from shutil import get_terminal_size

        try:
            return os.get_terminal_size(self.stream.fileno()).columns or get_terminal_size().columns
        except (OSError, ValueError):
            return get_terminal_size().columns

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


class Measurement(Record):
    """The duration of one stage in seconds, and the number of operations after it (0 if they are not counted)."""

    number: int
    stage: str
    seconds: float
    operations: int


class Timing(Observer):
    """Measures the duration of the stages.

    Args:
        count_operations: whether to count the operations after each stage.
    """

    def __init__(self, *, count_operations: bool = False) -> None:
        self.measurements: list[Measurement] = []
        self._counts = count_operations

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        operations = sum(1 for _ in module.walk()) - 1 if self._counts else 0
        self.measurements.append(Measurement(number, stage, seconds, operations))

    def table(self) -> str:
        """A table with a line for each stage, and one for their sum."""
        total = sum(each.seconds for each in self.measurements)
        rows = [(f"{each.number:03}", each.stage, each.seconds, str(each.operations or "")) for each in self.measurements]
        width = max((len(row[1]) for row in rows), default=0)
        lines = [f"  {number:>3}  {name:<{width}}  {seconds:9.4f} s  {count:>8}" for number, name, seconds, count in rows]
        return "\n".join([*(line.rstrip() for line in lines), f"  {'':>3}  {'total':<{width}}  {total:9.4f} s", ""])
