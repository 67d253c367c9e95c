"""`docs/plugin-faults.md`: what the CPU plugin computes otherwise, from the records of the target."""

from __future__ import annotations

from collections.abc import Iterable

from moir.frameworks import load
from moir.target_records import OPENVINO_CPU
from moir.targets.record import Fault

HEAD = """# Faults of the CPU plugin

What OpenVINO Runtime computes differently on the CPU from the definition of an operation. The page is written by
`python -m scripts.coverage` from the records in `moir/targets/openvino_cpu/faults`. `tests/numerical/targets` has the
smallest model that shows each fault, by its name, and fails when a fault is gone.

## Written in another form

For all frameworks, extensions and IR alike, the passes of the target write these in a form that the plugin computes
right; `--target none` leaves them out.
"""

NOT_AVOIDED = """
## Not avoided

Another form would cost every model that has the operation.
"""

REFUSED = """
## Not compiled

Models that the plugin does not compile, although the IR is valid: intermediate results whose rank is unknown (a Reshape
to a computed shape of unknown length, an If whose branches have results of different ranks and whose condition depends
on shapes), and recurrent networks whose weights have unknown sizes. `model.reshape()` in the runtime gives them sizes.
What no sizes help is refused: an input that is a list of unknown length and decides about a rank, branches of different
ranks between which values choose, a state of a loop whose rank changes.
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
