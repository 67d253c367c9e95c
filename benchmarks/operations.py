"""What the IRs of `moir` and of OpenVINO's converter `ovc` are made of: operations, and Transposes among them, of the same model files.

    python benchmarks/operations.py MODEL... [--kinds]

A model is a file or the folder of a SavedModel. Operations are counted as OpenVINO Runtime reads the IR, constants and those of bodies
included. `--kinds` adds the kinds of which the two have different numbers, ours first. The exit status is 1 if an IR of `moir` has more
operations or more Transposes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from processes import ConverterFailed, converters, print_table, run


def operations(model: Any) -> Iterator[Any]:
    """The operations of a model and of the bodies in it."""
    for op in model.get_ops():
        yield op
        if op.get_type_name() == "If":
            bodies = [op.get_function(0), op.get_function(1)]
        else:
            bodies = [op.get_function()] if op.get_type_name() in ("Loop", "TensorIterator") else []
        for body in bodies:
            yield from operations(body)


def kinds(xml: Path) -> Counter[str]:
    """How many operations of each kind an IR has."""
    import openvino

    return Counter(op.get_type_name() for op in operations(openvino.Core().read_model(xml)))


def label(path: Path) -> str:
    """The last two parts of the path of a model."""
    return "/".join(path.resolve().parts[-2:])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit status."""
    parser = argparse.ArgumentParser(description="Count the operations of IRs.")
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--kinds", action="store_true", help="list the kinds that differ")
    options = parser.parse_args(arguments)
    available = converters()
    rows = [["model", *(f"{what} {converter.name}" for what in ("operations", "transposes") for converter in available)]]
    differences: list[str] = []
    is_worse = False
    for path in options.models:
        counts: list[Counter[str] | None] = []
        for converter in available:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    run(converter.command(path, Path(folder) / "model.xml"))
                    counts.append(kinds(Path(folder) / "model.xml"))
                except ConverterFailed as failure:
                    counts.append(None)
                    differences.append(f"{label(path)}: {converter.name} failed: {failure}")
        totals = [None if count is None else count.total() for count in counts]
        transposes = [None if count is None else count["Transpose"] for count in counts]
        rows.append([label(path), *("-" if number is None else str(number) for number in (*totals, *transposes))])
        ours, *others = counts
        is_worse |= ours is None
        for other in others:
            if ours is None or other is None:
                continue
            is_worse |= ours.total() > other.total() or ours["Transpose"] > other["Transpose"]
            unequal = {kind: (ours[kind], other[kind]) for kind in sorted({*ours, *other}) if ours[kind] != other[kind]}
            if options.kinds and unequal:
                differences.append(f"{label(path)}: " + ", ".join(f"{kind} {a} ({b})" for kind, (a, b) in unequal.items()))
    print_table(rows)
    for line in differences:
        print(line)
    return int(is_worse)


if __name__ == "__main__":
    sys.exit(main())
