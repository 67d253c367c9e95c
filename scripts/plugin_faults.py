"""`docs/plugin-faults.md`: what the CPU plugin computes otherwise, from the records of the target.

python -m scripts.plugin_faults              writes the file
python -m scripts.plugin_faults --check      exit status 1 if it is not up to date
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from moir.targets.known_faults import faults_of
from moir.targets.record import Fault, Form, Refusal
from moir.targets.registry import OPENVINO_CPU

FILE = Path(__file__).parents[1] / "docs" / "plugin-faults.md"

HEAD = """# Faults of the CPU plugin

Where OpenVINO Runtime's CPU plugin computes something else than the operation sets define, and what moir does about it.
Written by `python -m scripts.plugin_faults` from the records in `moir/targets/openvino_cpu`; do not edit. For each
fault, `tests/numerical/targets` has the smallest model that shows it: `python -m tests.numerical.targets.faults` prints
which of them the installed runtime still has on this processor.

## Written in another form

moir writes these in another form that the plugin computes right, in models of all frameworks, with extensions, and in
IR. `--target none` turns that off.
"""

NOT_AVOIDED = """
## Not avoided

Another form would make every model with these operations slower, so moir writes them as they are.
"""

REFUSED = """
## Refused

moir refuses these, in models of all frameworks: no other form is known. `--target none` turns that off.
"""

NOT_COMPILED = """
## Not compiled

The plugin does not compile a valid IR with intermediate results of dynamic rank (from a Reshape to a computed shape of
dynamic length, or an If whose branches have results of different ranks and whose condition depends on shapes), or with
RNN layers with weights of dynamic shapes. Give the inputs static shapes, in the conversion or with `model.reshape()`.
moir refuses models for which that does not help: an input of dynamic length determines a rank, a condition on values
selects one of two branches with different ranks, or the rank of a loop's state changes.
"""


def _table(rows: Iterable[tuple[Fault, Form | Refusal | None]], column: str = "") -> str:
    """The rows of a table, with a column for what avoids or refuses each fault if that has a title."""
    titles = ["fault", "operation", "instead of the definition", *([column] if column else []), "seen in"]
    lines = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    for fault, record in rows:
        seen = ", ".join(fault.versions) + (f", processors with {fault.feature}" if fault.feature else "")
        cells = [f"`{fault.name}`", fault.operation, fault.instead, *([f"`{record.name}`"] if record else []), seen]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def document() -> str:
    """The text of the page."""
    faults = [*faults_of(OPENVINO_CPU)]
    avoided = _table((row for row in faults if isinstance(row[1], Form)), "form")
    refused = _table((row for row in faults if isinstance(row[1], Refusal)), "refusal")
    others = _table(row for row in faults if row[1] is None)
    return f"{HEAD}\n{avoided}{NOT_AVOIDED}\n{others}{REFUSED}\n{refused}{NOT_COMPILED}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the file; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.plugin_faults", description="Write what the CPU plugin computes otherwise.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if the file is not up to date")
    checks: bool = parser.parse_args(arguments).check
    text = document()
    if not checks:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        print(f"{FILE} is not up to date: run python -m scripts.plugin_faults", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
