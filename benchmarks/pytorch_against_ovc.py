"""IRs and conversions of exported programs by `moir`, and by OpenVINO's converter from the same program in memory.

    python benchmarks/pytorch_against_ovc.py PROGRAM… [--kinds] [--runs 1]

A PROGRAM is a `.pt2`, or a folder with `model.pt2`. It needs torch and OpenVINO, whose `convert_model` has the program
that `torch.export.load` reads. Operations are counted without constants. The time of OpenVINO's converter is that of
reading, converting and writing, without the imports of torch and openvino; that of moir is the whole process.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from operations import kinds
from processes import ConverterFailed, Usage, executable, median, print_table, run

TIMES = "times.json"


def convert_by_openvino(path: Path, xml: Path) -> None:
    """Convert a program as openvino.convert_model does, and write how long it takes beside the IR."""
    torch: Any = importlib.import_module("torch")
    openvino: Any = importlib.import_module("openvino")
    start = time.perf_counter()
    program = torch.export.load(path)
    openvino.save_model(openvino.convert_model(program), xml, compress_to_fp16=False)
    (xml.parent / TIMES).write_text(json.dumps(time.perf_counter() - start), encoding="utf-8")


def _counted(xml: Path) -> Counter[str]:
    found = kinds(xml)
    del found["Constant"]
    return found


def measured(path: Path, runs: int) -> tuple[list[Usage], list[Counter[str]]]:
    """What both converters used, moir first, and what their IRs are made of. Raises ConverterFailed."""
    usages: list[Usage] = []
    counts: list[Counter[str]] = []
    for by_moir in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            xml = Path(folder) / "model.xml"
            own = [executable("moir") or "moir", str(path), "-o", str(xml), "--silent"]
            command = own if by_moir else [sys.executable, __file__, "--convert", str(path), str(xml)]
            each: list[Usage] = []
            for _ in range(runs):
                usage = run(command)
                if not by_moir:
                    usage = Usage(json.loads((Path(folder) / TIMES).read_text(encoding="utf-8")), usage.cpu, usage.memory)
                each.append(usage)
            usages.append(median(each))
            counts.append(_counted(xml))
    return usages, counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns 1 if an IR of moir has more operations."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["--convert"]:
        convert_by_openvino(Path(given[1]), Path(given[2]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=Path, metavar="PROGRAM")
    parser.add_argument("--kinds", action="store_true", help="list the kinds of which numbers differ")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args(given)
    rows = [["program", "operations moir", "ovc", "s moir", "ovc", "MB moir", "ovc"]]
    lines: list[str] = []
    is_worse = False
    for program in options.programs:
        path = program / "model.pt2" if program.is_dir() else program
        name = "/".join(path.resolve().parts[-3:-1])
        try:
            (ours, theirs), (own, other) = measured(path, options.runs)
        except ConverterFailed as failure:
            lines.append(f"{name}: {failure}")
            continue
        numbers = (own.total(), other.total(), ours.wall, theirs.wall, ours.memory, theirs.memory)
        rows.append([name, *(f"{number:.2f}" if 2 <= index < 4 else f"{number:.0f}" for index, number in enumerate(numbers))])
        is_worse |= own.total() > other.total()
        unequal = {kind: (own[kind], other[kind]) for kind in sorted({*own, *other}) if own[kind] != other[kind]}
        if own.total() > other.total() or (options.kinds and unequal):
            lines.append(f"{name}: " + ", ".join(f"{kind} {a} ({b})" for kind, (a, b) in unequal.items()))
        print(rows[-1], flush=True, file=sys.stderr)
    print_table(rows)
    print("\n".join(lines))
    return int(is_worse)


if __name__ == "__main__":
    sys.exit(main())
