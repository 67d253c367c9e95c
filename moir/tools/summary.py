"""The summary that `moir` prints of a conversion: interface, operations before and after, sizes, files and durations.

inputs      image: f32[batch,1,8,8]
outputs     logits: f32[batch,10]
read        24 operations of ONNX: 6 Conv, 6 BatchNormalization, 4 Mul and 5 other kinds
written     22 operations: 6 Convolution, 6 Add, 4 Swish and 4 other kinds
weights     98.4 KB
files       digits.xml digits.bin
time        0.61 s: 0.31 start, 0.04 import, 0.21 passes, 0.05 emission
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from moir.conversion import Observer
from moir.conversion_result import TensorInterface
from moir.frameworks import FRAMEWORKS
from moir.support.records import Record
from moir.tools.failures import one_line

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.interface import Port

_PORTS_SHOWN = 8


class Stopwatch(Observer):
    """Records the times at which the parts of a conversion end; the first part is the start of the process.

    The durations of the parts add up to the time that the user has waited.

    Args:
        begun: when the first part begins; None for the start of the process.
    """

    def __init__(self, begun: float | None = None) -> None:
        self._begun = begun
        self._ends: list[tuple[str, float]] = []

    def begin(self, stages: Sequence[str]) -> None:
        if self._begun is None:
            self._begun = process_start()
        self.end("start")

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if number == 0:
            self.end("import")

    def end(self, part: str) -> None:
        """End a part, and begin the next one."""
        self._ends.append((part, time.perf_counter() - (self._begun or 0.0)))

    def seconds(self) -> dict[str, float]:
        """The duration of each part in seconds, rounded to milliseconds, and of the `total`."""
        ends = [0.0, *(seconds for _, seconds in self._ends)]
        parts = {part: round(after - before, 3) for (before, after), (part, _) in zip(pairwise(ends), self._ends, strict=True)}
        return parts | {"total": round(ends[-1], 3)}

    def text(self) -> str:
        """The duration of the whole and of its parts, rounded so that the parts add up to the whole."""
        ends = [0.0, *(round(seconds, 2) for _, seconds in self._ends)]
        parts = [f"{after - before:.2f} {part}" for (before, after), (part, _) in zip(pairwise(ends), self._ends, strict=True)]
        return f"{ends[-1]:.2f} s: {', '.join(parts)}"


def process_start() -> float:
    """The time at which the process was started, on the clock of `time.perf_counter`.

    If the system does not report it, the time since then is estimated as the processor time of the process.
    """
    now = time.perf_counter()
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            # The name of the program, in parentheses, may contain blanks. After it, the 20th field is the start.
            ticks = int(file.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        age = time.process_time()
    return now - age


class SourceOperations(Observer):
    """Counts the operations of the model as it was read."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if number == 0:
            from moir.dialects.interface import count_kinds

            self.kinds = count_kinds(module)


class Summary(Record):
    """The facts about a conversion that are printed for the user, except the files and the durations.

    Args:
        notes: notes for the user, each a sentence.
        inputs: the inputs of the converted model.
        outputs: its outputs.
        framework: the dialect of the framework.
        read: the number of operations of the source model, by kind.
        written: the number of operations of the converted model, by kind.
        weights_bytes: the size of the weights.
        bytes_by_type: the sizes of the constants by their element types.
    """

    notes: list[str]
    inputs: tuple[TensorInterface, ...]
    outputs: tuple[TensorInterface, ...]
    framework: str
    read: Mapping[str, int]
    written: Mapping[str, int]
    weights_bytes: int
    bytes_by_type: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The summary as values of JSON."""
        ports = {name: [list(each.compared()) for each in getattr(self, name)] for name in ("inputs", "outputs")}
        return self.by_name() | ports

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> Summary:
        """The summary that `to_json` has written. Raises TypeError or ValueError for anything else."""
        summary = Summary(**fields)
        ports = {
            side: tuple(TensorInterface(name, element, None if shape is None else tuple(shape)) for name, element, shape in fields[side])
            for side in ("inputs", "outputs")
        }
        return summary.with_fields(**ports)

    @property
    def operations(self) -> int:
        """The number of operations of the converted model."""
        return sum(self.written.values())

    @property
    def weights(self) -> str:
        """The size of the weights with a unit."""
        return format_size(self.weights_bytes)

    def text(self, files: str, time_text: str) -> str:
        """The summary as it is printed.

        Args:
            files: the files of the IR.
            time_text: the durations.
        """
        rows = (
            ("inputs", _ports(self.inputs)),
            ("outputs", _ports(self.outputs)),
            ("read", f"{_count(self.read)} of {FRAMEWORKS[self.framework].title}{_kinds_text(self.read)}"),
            ("written", f"{_count(self.written)}{_kinds_text(self.written)}"),
            ("weights", self.weights + _shares(self.bytes_by_type)),
            ("files", files),
            ("time", time_text),
        )
        notes = "".join(f"note: {one_line(note)}\n" for note in self.notes)
        return notes + "".join(f"{label:<12}{text}\n" for label, text in rows)


def summary_of(module: ModuleOp, source: Counter[str], weights_bytes: int, notes: Sequence[str]) -> Summary:
    """The summary of a conversion.

    Args:
        module: the converted module.
        source: the number of operations of the source model by kind.
        weights_bytes: size of the weights.
        notes: notes for the user.
    """
    from moir.dialects.framework import framework_of
    from moir.dialects.interface import count_kinds, inputs_of, outputs_of
    from moir.dialects.moir import models_of

    model = models_of(module)[0]
    return Summary(
        list(notes),
        tuple(map(_interface, inputs_of(model))),
        tuple(map(_interface, outputs_of(model))),
        framework_of(module),
        dict(source),
        dict(count_kinds(module)),
        weights_bytes,
        _bytes_by_type(module),
    )


def _interface(port: Port) -> TensorInterface:
    dimensions = port.dimensions
    return TensorInterface(
        port.name, port.element, None if dimensions is None else tuple(int(d) if d.isdecimal() else d for d in dimensions)
    )


def _count(kinds: Mapping[str, int]) -> str:
    total = sum(kinds.values())
    return f"{total} operation{'' if total == 1 else 's'}"


def _bytes_by_type(module: ModuleOp) -> dict[str, int]:
    """The sizes of constants by their element types; constants that share their data count once."""
    from moir.dialects.data import DataAttr
    from moir.dialects.element_types import describe

    constants = (op.properties["value"] for op in module.walk() if op.name == "opset1.Constant")
    different = {id(each.data): each for each in constants if isinstance(each, DataAttr)}
    sizes: Counter[str] = Counter()
    for each in different.values():
        sizes[describe(each.element).xml] += each.nbytes
    return dict(sizes)


def _shares(sizes: Mapping[str, int]) -> str:
    """The sizes of constants by element type, as text, without types that make up less than a hundredth of the total.

    Empty if there is only one type, or if no weights are compressed.
    """
    total = sum(sizes.values())
    shown = [(name, size) for name, size in Counter(sizes).most_common() if size * 100 >= total > 0]
    if len(shown) < 2 or not any(name in ("f16", "i8", "u8", "i4", "u4") for name, _ in shown):
        return ""
    return f": {', '.join(f'{format_size(size)} {name}' for name, size in shown)}"


def _kinds_text(kinds: Mapping[str, int]) -> str:
    from moir.dialects.interface import describe_kinds

    return f": {one_line(describe_kinds(Counter(kinds)))}" if kinds else ""


def _ports(ports: Sequence[TensorInterface]) -> str:
    """Inputs or outputs, each on a line of its own."""
    lines = [one_line(str(port)) for port in ports[:_PORTS_SHOWN]] or ["none"]
    if len(ports) > _PORTS_SHOWN:
        lines.append(f"and {len(ports) - _PORTS_SHOWN} more")
    return f"\n{'':<12}".join(lines)


def format_size(size: int) -> str:
    """A size in bytes as text with a unit."""
    number, unit = float(size), "bytes"
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{size} bytes" if unit == "bytes" else f"{number:.1f} {unit}"
