"""IRs and conversions of exported programs by `moir`, and by OpenVINO's converter from the same program in memory.

    python benchmarks/pytorch_against_ovc.py PROGRAM… [--kinds] [--runs 1] [--seconds 2] [--markdown]

A PROGRAM is a `.pt2`, or a folder with `model.pt2`. It needs torch and OpenVINO, whose `convert_model` has the program
that `torch.export.load` reads. Operations are counted without constants. The time of OpenVINO's converter is that of
reading, converting and writing, without the imports of torch and openvino; that of moir is the whole process. Latencies
are the shortest inferences with one thread in f32, for which the two IRs take turns, on the inputs that are beside the
program (`values.npz` and `meta.json`, as `pytorch_exports.py` writes them); nan where there are none.
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

import numpy as np
from ir_quality import compared
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
    counted = kinds(xml)
    del counted["Constant"]
    return counted


def write_inputs(program: Path, folder: Path) -> None:
    """Write the inputs of a program by their names, as `inputs.npz`."""
    values, meta = program.with_name("values.npz"), program.with_name("meta.json")
    if values.exists() and meta.exists():
        names = json.loads(meta.read_text(encoding="utf-8"))["inputs"]
        given = np.load(values)
        np.savez(folder / "inputs.npz", **{name: given[f"in{index}"] for index, name in enumerate(names)})


def latencies(files: dict[str, Path], folder: Path, seconds: float) -> tuple[float, float, float]:
    """The latencies of both IRs in milliseconds, moir's first, and the difference of their results."""
    if not (folder / "inputs.npz").exists():
        return float("nan"), float("nan"), float("nan")
    latencies_of_both, apart = compared(folder / "model.pt2", files, seconds)
    return latencies_of_both["moir"].get("latency", float("nan")), latencies_of_both["ovc"].get("latency", float("nan")), apart


def measured(path: Path, runs: int, seconds: float) -> tuple[list[Usage], list[Counter[str]], tuple[float, float, float]]:
    """What both converters used, moir first, what their IRs are made of, and how fast these are. Raises ConverterFailed."""
    usages: list[Usage] = []
    counts: list[Counter[str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder, files = Path(name), dict[str, Path]()
        for by in ("moir", "ovc"):
            xml = files[by] = folder / by / "model.xml"
            xml.parent.mkdir()
            own = [executable("moir") or "moir", str(path), "-o", str(xml), "--silent"]
            command = own if by == "moir" else [sys.executable, __file__, "--convert", str(path), str(xml)]
            each: list[Usage] = []
            for _ in range(runs):
                usage = run(command)
                if by == "ovc":
                    usage = Usage(json.loads((xml.parent / TIMES).read_text(encoding="utf-8")), usage.cpu, usage.memory)
                each.append(usage)
            usages.append(median(each))
            counts.append(_counted(xml))
        write_inputs(path, folder)
        return usages, counts, latencies(files, folder, seconds)


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
    parser.add_argument("--seconds", type=float, default=2.0, help="time of inferences of each program (default: 2)")
    parser.add_argument("--markdown", action="store_true", help="print the table as documents have it")
    options = parser.parse_args(given)
    rows = [["program", "operations moir", "ovc", "s moir", "ovc", "MB moir", "ovc", "ms moir", "ovc", "difference"]]
    lines: list[str] = []
    is_worse = False
    for program in options.programs:
        path = program / "model.pt2" if program.is_dir() else program
        name = "/".join(path.resolve().parts[-3:-1])
        try:
            (ours, theirs), (own, other), (quick, slow, apart) = measured(path, options.runs, options.seconds)
        except ConverterFailed as failure:
            lines.append(f"{name}: {failure}")
            continue
        numbers = (own.total(), other.total(), ours.wall, theirs.wall, ours.memory, theirs.memory)
        texts = [f"{number:.2f}" if 2 <= index < 4 else f"{number:.0f}" for index, number in enumerate(numbers)]
        rows.append([name, *texts, f"{quick:.2f}", f"{slow:.2f}", f"{apart:.0e}"])
        is_worse |= own.total() > other.total()
        unequal = {kind: (own[kind], other[kind]) for kind in sorted({*own, *other}) if own[kind] != other[kind]}
        if own.total() > other.total() or (options.kinds and unequal):
            lines.append(f"{name}: " + ", ".join(f"{kind} {a} ({b})" for kind, (a, b) in unequal.items()))
        print(rows[-1], flush=True, file=sys.stderr)
    if options.markdown:
        rows.insert(1, ["---"] * len(rows[0]))
        print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    else:
        print_table(rows)
    print("\n".join(lines))
    return int(is_worse)


if __name__ == "__main__":
    sys.exit(main())
