"""Does the time of a conversion grow linearly with the number of operations?

    python benchmarks/scaling.py [--sizes 1000 10000 50000] [--families chain names] [--only-moir]

Each graph of `scaling_graphs.py` is converted in a process of its own. The time of an operation is the CPU time less
that of a graph of the family with ten operations, which loads the same modules; `growth` is how many times longer an
operation takes than in the smallest graph of its family. The status is 1 if an operation of a large graph takes more
than 1.5 times as long.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from processes import Converter, ConverterFailed, converters, median, print_table, run
from scaling_graphs import FAMILIES

FLAT = 1.5
"""How many times longer an operation of a large graph may take than one of a small graph."""


SMALLEST = 10
"""The number of operations of the graph whose time is subtracted."""


def smallest_time(converter: Converter, family: str) -> float:
    """The seconds of a graph of a family with few operations. Raises ConverterFailed if it is not converted."""
    with tempfile.TemporaryDirectory() as folder:
        command = converter.command(FAMILIES[family](SMALLEST, Path(folder)), Path(folder) / "out.xml")
        # The first run fills the file cache.
        return median([run(command) for _ in range(4)][1:]).cpu


def row(converter: Converter, family: str, source: Path, size: int, empty: float, first: float | None) -> tuple[list[str], float]:
    """The cells of one graph, and the time of an operation in microseconds.

    Args:
        converter: what converts it.
        family: the family of the graph.
        source: the file of the graph.
        size: its number of operations.
        empty: the seconds of a graph of `SMALLEST` operations.
        first: the time of an operation in the smallest graph of the family; None for that graph.

    Raises ConverterFailed if it is not converted.
    """
    with tempfile.TemporaryDirectory() as output:
        command = converter.command(source, Path(output) / "model.xml")
        # The least disturbed of three short runs, or the only one that a long run is.
        usages = [run(command)]
        if usages[0].cpu < 5:
            usages += [run(command) for _ in range(2)]
    used = min(usages, key=lambda usage: usage.cpu)
    each = 1e6 * (used.cpu - empty) / (size - SMALLEST)
    growth = "-" if first is None else f"{each / first:.2f}"
    return [family, str(size), converter.name, f"{used.cpu:.2f}", f"{each:.0f}", growth, f"{used.memory:.0f}"], each


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure how conversions scale with the number of operations.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000, 50000], help="numbers of operations")
    parser.add_argument("--families", nargs="+", choices=sorted(FAMILIES), default=list(FAMILIES), help="what to generate")
    parser.add_argument("--only-moir", action="store_true", help="leave ovc out")
    options = parser.parse_args(arguments)
    rows = [["graph", "operations", "converter", "s", "µs/operation", "growth", "MB"]]
    status = 0
    for converter in converters(("moir",) if options.only_moir else ("moir", "ovc")):
        for family in options.families:
            first: float | None = None
            try:
                empty = smallest_time(converter, family)
            except ConverterFailed as failure:
                print(f"{family} {SMALLEST}: {converter.name} failed: {failure}", file=sys.stderr)
                status = 1 if converter.name == "moir" else status
                continue
            for size in sorted(options.sizes):
                print(f"{family} {size} ...", file=sys.stderr, flush=True)
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        cells, each = row(converter, family, FAMILIES[family](size, Path(folder)), size, empty, first)
                    except ConverterFailed as failure:
                        print(f"{family} {size}: {converter.name} failed: {failure}", file=sys.stderr)
                        status = 1 if converter.name == "moir" else status
                        continue
                rows.append(cells)
                if first is None:
                    # Without a larger graph nothing is compared: below a few hundred operations the difference is noise.
                    first = each
                elif converter.name == "moir" and each > FLAT * first:
                    status = 1
    print_table(rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
