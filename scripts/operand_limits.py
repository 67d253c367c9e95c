"""Writes `moir/emit/operand_limit_table.py`: the operands that OpenVINO Runtime refuses when it reads an operation.

    python -m scripts.operand_limits

Each operand of the sample of an operation (`scripts/opset_reference.py`) is replaced by one of another element type,
rank or number of elements, and the runtime is asked whether it still makes the operation. What depends on the other
operands is not asked: a limit holds for all instances. Operations with bodies have no sample; theirs are written here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scripts.opset_reference import OF_VARIABLES, REFERENCE, accepted, apart
from scripts.opset_samples import Sample
from scripts.rows import grouped_rows

FILE = Path(__file__).parents[1] / "moir" / "emit" / "operand_limit_table.py"

HEADER = '''"""The operand types that operations accept; `python -m scripts.operand_limits` writes this table.

For each operand, in order: the element types (`i` integers, `b` integers and boolean, `w` i32 and i64, `f` floats, `n`
all except strings, `-` all), then the greatest rank, then `=` if the operand must have exactly one element.
"""

from moir.support.tables import by_member

LIMITS = by_member(
    {
'''

WRITTEN = {
    "opset8.If": "-1=",
    "opset5.Loop": "i1= -1=",
    "opset7.Gather": "- i i1=",
    "opset8.Gather": "- i i1=",
    "opset8.Slice": "- i1 i1 i1 i1",
    "opset1.Squeeze": "- -1",
    "opset15.Squeeze": "- -1",
}
"""The limits of operations with bodies, and of operands that the runtime asks for only where it knows all ranks."""

NOTHING_KNOWN = "?"
INTEGERS = ("i32", "i64")
OTHER_INTEGERS = ("i8", "u8", "i16", "u16", "u32", "u64")
RANKS = range(2, 6)


def _element(text: str) -> str:
    return text.partition("=")[0].partition("[")[0]


def _shape(text: str) -> list[int]:
    """The shape of an operand of a sample."""
    element, is_constant, rest = text.partition("=")
    if is_constant:
        return list(np.array(json.loads(rest)).shape)
    return [int(each) for each in element.rstrip("]").partition("[")[2].split(",") if each]


def _operand(element: str, shape: list[int]) -> str:
    return f"{element}[{','.join(map(str, shape))}]"


class Probe:
    """One operation of the runtime, which is made again with other operands.

    Args:
        name: its name, `opset8.Gather`.
        sample: operands and attributes that the runtime accepts.
    """

    def __init__(self, name: str, sample: Sample) -> None:
        self.opset, _, self.kind = name.partition(".")
        self.sample = sample

    def accepts(self, changes: dict[int, str]) -> bool:
        """Whether the runtime accepts other operands, by their indices."""
        operands = tuple(changes.get(index, text) for index, text in enumerate(self.sample.operands))
        return accepted(self.kind, self.opset, Sample(operands, self.sample.attributes))

    def limit(self, index: int) -> str:
        """The limits of an operand."""
        text = self.sample.operands[index]
        element, shape = _element(text), _shape(text)
        alike = [each for each, other in enumerate(self.sample.operands) if _element(other) == element]
        if element in INTEGERS and not self.accepts({index: _operand("f32", shape)}) and not self.accepts(self.all_of("f32", alike)):
            others = any(self.accepts({index: _operand(each, shape)}) or self.accepts(self.all_of(each, alike)) for each in OTHER_INTEGERS)
            logical = self.accepts({index: _operand("boolean", shape)}) or self.accepts(self.all_of("boolean", alike))
            kind = "b" if logical else "i" if others else "w"
        elif element == "f32" and self.accepts({index: _operand("f16", shape)}) and not self.accepts({index: _operand("i64", shape)}):
            # Its type does not follow from that of another operand.
            kind = "f"
        elif element != "string" and not self.accepts(self.all_of("string", alike)):
            kind = "n"
        else:
            kind = "-"
        if len(shape) > 1 or not self.takes(index, element, [-1] * len(shape)):
            return kind
        if any(self.takes(index, element, [-1] * rank) for rank in RANKS):
            return kind
        greatest = "1" if self.takes(index, element, [-1]) else "0"
        is_single = greatest == "1" and [self.takes(index, element, [count]) for count in (0, 1, 2)] == [False, True, False]
        return f"{kind}{greatest}{'=' if is_single else ''}"

    def all_of(self, element: str, indices: list[int]) -> dict[int, str]:
        """Operands of another element type and the shapes that they have: some have to be of one type."""
        return {index: _operand(element, _shape(self.sample.operands[index])) for index in indices}

    def takes(self, index: int, element: str, shape: list[int]) -> bool:
        """Whether the runtime accepts an operand of a shape, where nothing is known of the shapes of the others."""
        others = {each: f"{_element(text)}[...]" for each, text in enumerate(self.sample.operands)}
        return self.accepts(others | {index: _operand(element, shape)})

    def limits(self) -> list[str]:
        """The limits of all operands.

        Where the mode of the sample needs other operands, those that another type is accepted of have no limit.
        """
        if self.accepts({}):
            return [self.limit(index) for index in range(len(self.sample.operands))]
        return ["-" if self.takes_another(index) else NOTHING_KNOWN for index in range(len(self.sample.operands))]

    def takes_another(self, index: int) -> bool:
        """Whether the runtime accepts an operand of another element type."""
        shape = _shape(self.sample.operands[index])
        return any(self.accepts({index: _operand(element, shape)}) for element in ("f32", *INTEGERS))


def weakest(limits: Sequence[str]) -> str:
    """The limit that holds where one of several does."""
    limits = [limit for limit in limits if limit != NOTHING_KNOWN] or ["-"]
    kinds = {limit[0] for limit in limits}
    if kinds == {"i", "w"}:
        kinds = {"i"}
    kind = kinds.pop() if len(kinds) == 1 else "-" if "-" in kinds else "n"
    ranks = [limit[1:2] for limit in limits]
    if not all(ranks):
        return kind
    return f"{kind}{max(ranks)}{'=' if all(limit.endswith('=') for limit in limits) else ''}"


def variants(sample: Sample, attributes: Mapping[str, Any]) -> list[Sample]:
    """A sample with every value of each attribute that has a few: what an operand may be can depend on a mode."""
    samples = [sample]
    for name, row in attributes.items():
        values = [not sample.attributes[name]] if row["type"] == "bool" and name in sample.attributes else row.get("values", ())
        samples += [Sample(sample.operands, {**sample.attributes, name: value}) for value in values if row["type"] != "strings"]
    return samples


def row_of(name: str, sample: Sample, attributes: Mapping[str, Any]) -> str:
    """The limits of the operands of an operation in all its modes; empty if there are none."""
    if not Probe(name, sample).accepts({}):
        return ""
    every = [Probe(name, each).limits() for each in variants(sample, attributes)]
    limits = [weakest(each) for each in zip(*every, strict=True)]
    while limits and limits[-1] == "-":
        limits.pop()
    return " ".join(limits)


def operations_with_samples() -> list[str]:
    """The operations of which the runtime is asked."""
    operations: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8"))["operations"]
    return [name for name, entry in operations.items() if "sample" in entry and not name.endswith(OF_VARIABLES)]


def table(names: Sequence[str]) -> dict[str, str]:
    """The rows of those operations that have limits."""
    operations: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8"))["operations"]
    rows: dict[str, str] = {}
    for name in names:
        entry = operations[name]
        sample = Sample(tuple(entry["sample"]["operands"]), entry["sample"]["attributes"])
        # In a process of its own: the runtime crashes on some.
        if row := apart(lambda name=name, sample=sample, entry=entry: row_of(name, sample, entry["attributes"])):
            rows[name] = row
    return dict(sorted((rows | WRITTEN).items(), key=lambda item: (item[0].partition(".")[2], len(item[0]), item[0])))


def main() -> int:
    """Write the file."""
    FILE.write_text(HEADER + grouped_rows(table(operations_with_samples())) + "    }\n)\n", encoding="utf-8")
    return subprocess.call([sys.executable, "-m", "ruff", "format", "-q", FILE])


if __name__ == "__main__":
    sys.exit(main())
