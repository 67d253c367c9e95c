"""Did a change make conversions cheaper or dearer? Counts instructions, which other processes on the machine do not move.

    python benchmarks/instructions.py [--update]

Conversions of digits and of a SavedModel of TensorFlow are counted whole: of small models nearly everything is start-up. Of the generated
graphs of `scaling.py`, two sizes are counted, and their difference gives the instructions an operation. Everything is made of files of the
repository. The counts are compared with those in `instructions.json`; the exit status is 1 if one is further away than the tolerance.
After a change that is meant, `--update` writes the new ones, to be committed with it.

Needs valgrind. Instructions depend on the versions of Python, numpy and xDSL and on the kind of processor; the table says of which it is.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from processes import ConverterFailed, print_table
from scaling_graphs import branches, chain

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".json")
TOLERANCE = 0.03
WHOLE = {
    "start-up": ROOT / "examples" / "digits" / "digits.onnx",
    "TensorFlow": ROOT / "tests" / "fixtures" / "tensorflow" / "saved_model_v2",
}
SIZES = (200, 1200)
"""The smaller one has all kinds of nodes of the family, so that what is imported is the same and the difference is operations alone."""


def environment() -> dict[str, str]:
    """What the counts depend on besides moir."""
    return {"python": platform.python_version(), "machine": platform.machine()} | {name: version(name) for name in ("numpy", "xdsl")}


def reported(log: str) -> int:
    """The instructions that cachegrind reports, e.g. 1234 of `==7== I refs: 1,234`. Raises ConverterFailed if it reports none."""
    match = re.search(r"I\s+refs:\s+([\d,]+)", log)
    if match is None:
        raise ConverterFailed(f"valgrind reports no instructions: {log[-500:]}")
    return int(match[1].replace(",", ""))


def count(source: Path, folder: Path) -> int:
    """The instructions of a conversion with warm caches of bytecode; `folder` is written to. Raises ConverterFailed."""
    log = folder / "cachegrind.log"
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}", f"--log-file={log}"]
    # From the folder of the checkout: `-m` takes the package from there, whatever is installed.
    command = [sys.executable, "-m", "moir", str(source), "-o", str(folder / "model.xml"), "--silent"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MOIR"))}
    for prefix in ([], valgrind):
        finished = subprocess.run(
            [*prefix, *command],
            cwd=ROOT,
            env=variables | {"PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode:
            raise ConverterFailed(finished.stderr[-2000:].strip() or f"status {finished.returncode}, no output")
    return reported(log.read_text(encoding="utf-8"))


def each(counts: Mapping[int, int]) -> int:
    """The instructions an operation, from those of graphs of two sizes."""
    small, large = sorted(counts)
    return round((counts[large] - counts[small]) / (large - small))


def measured() -> dict[str, int]:
    """The instructions of everything that is counted. Raises ConverterFailed."""
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, source in WHOLE.items():
            print(f"{name} ...", file=sys.stderr, flush=True)
            counts[name] = count(source, Path(folder))
        for family, generate in (("branches", branches), ("chain", chain)):
            sizes: dict[int, int] = {}
            for size in SIZES:
                print(f"{family} {size} ...", file=sys.stderr, flush=True)
                sizes[size] = count(generate(size, Path(folder)), Path(folder))
            counts[f"{family}, an operation"] = each(sizes)
    return counts


def compared(counts: Mapping[str, int], committed: Mapping[str, int]) -> tuple[list[list[str]], bool]:
    """The rows of a table of both, with heading; and whether all are within the tolerance. What is in one of them only is not."""
    rows = [["conversion", "instructions", "committed", "ratio", ""]]
    for name in dict.fromkeys((*counts, *committed)):
        now, before = counts.get(name), committed.get(name)
        if now is None or before is None:
            rows.append([name, *("-" if number is None else f"{number:,}" for number in (now, before)), "-", "NOT COMPARED"])
            continue
        verdict = "BEYOND" if abs(now - before) > before * TOLERANCE else ""
        rows.append([name, f"{now:,}", f"{before:,}", f"{now / before:.3f}", verdict])
    return rows, not any(row[-1] for row in rows[1:])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Count instructions of fixed conversions and compare them with the committed counts.")
    parser.add_argument("--update", action="store_true", help=f"write the counts to {TABLE.relative_to(ROOT)} instead of failing")
    options = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind, which counts the instructions, is not installed: apt install valgrind, dnf install valgrind, …")
    table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {"environment": {}, "instructions": {}}
    here = environment()
    for name, committed in table["environment"].items():
        if here.get(name) != committed:
            print(f"counted with {name} {here.get(name)}, committed with {committed}: part of a difference may be that", file=sys.stderr)
    try:
        counts = measured()
    except ConverterFailed as failure:
        print(f"moir failed: {failure}", file=sys.stderr)
        return 1
    rows, agree = compared(counts, table["instructions"])
    print_table(rows)
    if options.update:
        TABLE.write_text(json.dumps({"environment": here, "instructions": counts}, indent=2) + "\n", encoding="utf-8")
        return 0
    if not agree:
        print(f"Further away than {TOLERANCE:.0%}. If that is meant: python benchmarks/instructions.py --update", file=sys.stderr)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
