"""Running a converter as a process of its own and measuring it: wall time, CPU time, peak memory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

LIMIT_SECONDS = 1800.0
LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Usage:
    """What a process used: seconds of wall and CPU time, peak resident memory in MB."""

    wall: float
    cpu: float
    memory: float


class ConverterFailed(Exception):
    """A converter did not end with status 0; the text is the end of what it printed."""


@dataclass(frozen=True)
class Converter:
    """A converter that can be run.

    Args:
        name: what tables call it.
        command: path of a model and of the `.xml` to write -> command line.
    """

    name: str
    command: Callable[[Path, Path], list[str]]


def executable(name: str) -> str | None:
    """A command of the environment this runs in, or of the path."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def converters(
    names: Sequence[str] = ("moir", "ovc"), compress_to_fp16: bool = False, compress_weights: str | None = None
) -> list[Converter]:
    """Those of the converters that are installed. Raises SystemExit if `moir` is wanted and is not.

    Args:
        names: names of converters.
        compress_to_fp16: whether they store weights in half precision.
        compress_weights: how moir stores weights of matrix products as integers, as `--compress-weights` takes it.
    """
    installed: list[Converter] = []
    for name in names:
        path = executable(name)
        if path is None:
            if name == "moir":
                raise SystemExit("moir is not installed in this environment: run pip install -e .")
            continue
        if name == "moir":
            half = ["--compress-to-fp16"] if compress_to_fp16 else []
            half += [] if compress_weights is None else [f"--compress-weights={compress_weights}"]
            installed.append(
                Converter(name, lambda model, xml, path=path, half=half: [path, str(model), "-o", str(xml), "--silent", *half])
            )
        else:
            half = [f"--compress_to_fp16={compress_to_fp16}"]
            installed.append(
                Converter(name, lambda model, xml, path=path, half=half: [path, str(model), "--output_model", str(xml), *half])
            )
    return installed


def run(command: Sequence[str], limit: float = LIMIT_SECONDS) -> Usage:
    """Run a command to its end. Raises ConverterFailed if its status is not 0 or it takes too long."""
    with tempfile.TemporaryFile() as log:
        launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        try:
            report, _ = launcher.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(launcher.pid, signal.SIGKILL)
            launcher.communicate()
            raise ConverterFailed(f"not done after {limit:.0f} s") from None
        log.seek(0)
        lines = log.read()[-2000:].decode(errors="replace").strip().splitlines()
        status, wall, cpu, memory = json.loads(report) if report else (launcher.returncode, 0.0, 0.0, 0.0)
        if status:
            raise ConverterFailed(lines[-1] if lines else f"status {status}, no output")
    return Usage(wall, cpu, memory)


def median(usages: Sequence[Usage]) -> Usage:
    """The median of each quantity."""
    return Usage(*(statistics.median(getattr(usage, quantity) for usage in usages) for quantity in ("wall", "cpu", "memory")))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns: the first column to the left, numbers to the right. The first row is the heading."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print(
            "  ".join(
                cell.rjust(width) if index else cell.ljust(width) for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        )
        if number == 0:
            print("  ".join("-" * width for width in widths))
