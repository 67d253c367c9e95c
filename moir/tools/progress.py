"""Observers of a conversion: a progress bar, and measurements for the report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from moir.conversion import Observer

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

EMISSION = "emission"
_WIDTH = 24


class ProgressBar(Observer):
    """A bar on a terminal with the number of completed stages and the name of the current one.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self.stream = stream
        self._total = 1

    def begin(self, stages: Sequence[str]) -> None:
        self._total = len(stages) + 1

    def start(self, number: int, stage: str) -> None:
        done = _WIDTH * number // self._total
        self.stream.write(f"\r\033[K[{'#' * done}{'.' * (_WIDTH - done)}] {number}/{self._total} {stage}")
        self.stream.flush()

    def close(self) -> None:
        self.stream.write("\r\033[K")
        self.stream.flush()


@dataclass(frozen=True)
class Measurement:
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
        rows = [(f"{each.number:02}", each.stage, each.seconds, str(each.operations or "")) for each in self.measurements]
        width = max((len(row[1]) for row in rows), default=0)
        lines = [f"  {number:>3}  {name:<{width}}  {seconds:9.4f} s  {count:>8}" for number, name, seconds, count in rows]
        return "\n".join([*(line.rstrip() for line in lines), f"  {'':>3}  {'total':<{width}}  {total:9.4f} s", ""])
