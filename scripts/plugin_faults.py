"""`docs/plugin-faults.md`: what the CPU plugin computes otherwise, from the records of the target.

python -m scripts.plugin_faults              writes the file
python -m scripts.plugin_faults --check      exit status 1 if it is not up to date
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from moir.frameworks import load
from moir.target_records import OPENVINO_CPU
from moir.targets.record import Fault

FILE = Path(__file__).parents[1] / "docs" / "plugin-faults.md"

HEAD = """# Faults of the CPU plugin

Where OpenVINO Runtime's CPU plugin computes something else than the operation sets define, and what moir does about it.
Written by `python -m scripts.plugin_faults` from the records in `moir/targets/openvino_cpu/faults`; do not edit. For
each fault, `tests/numerical/targets` has the smallest model that shows it: `python -m tests.numerical.targets.faults`
prints which of them the installed runtime still has on this processor.

## Written in another form

moir writes these in another form that the plugin computes right, in models of all frameworks, with extensions, and in
IR. `--target none` turns that off.
"""

NOT_AVOIDED = """
## Not avoided

Another form would make every model with these operations slower, so moir writes them as they are.
"""

REFUSED = """
## Not compiled

The plugin does not compile a valid IR with intermediate results of unknown rank (from a Reshape to a computed shape of
unknown length, or an If whose branches have results of different ranks and whose condition depends on shapes), or with
recurrent networks whose weights have unknown sizes. Give the inputs sizes, in the conversion or with `model.reshape()`.
moir refuses models for which sizes do not help: an input list of unknown length determines a rank, a condition on
values chooses between branches of different ranks, or the rank of a loop's state changes.
"""


def faults() -> tuple[Fault, ...]:
    """The faults of the target."""
    assert OPENVINO_CPU.faults is not None
    return load(OPENVINO_CPU.faults)


def _table(rows: Iterable[Fault], *, with_form: bool) -> str:
    titles = ["fault", "operation", "instead of the definition", *(["form"] if with_form else []), "seen in"]
    lines = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    for each in rows:
        form = [f"`{each.form}`"] if with_form else []
        seen = ", ".join(each.versions) + (f", processors with {each.feature}" if each.feature else "")
        lines.append(f"| {' | '.join([f'`{each.name}`', each.operation, each.instead, *form, seen])} |")
    return "\n".join(lines) + "\n"


def document() -> str:
    """The text of the page."""
    avoided = _table((each for each in faults() if each.form), with_form=True)
    others = _table((each for each in faults() if not each.form), with_form=False)
    return f"{HEAD}\n{avoided}{NOT_AVOIDED}\n{others}{REFUSED}"


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
