"""`docs/tensorflow-coverage.md`: what happens to each TensorFlow operation moir knows, from the tables themselves."""

from __future__ import annotations

from collections import Counter

from moir.passes.lower_tf.families import FAMILIES
from moir.passes.lower_tf.table import tf as lowerings

IMPORTED, CUT, RAISED, DIRECT, REPORTED = "read by the frontend", "cut", "raised", "direct", "reported"

MEANINGS = {
    DIRECT: "a handler in the file of that name in `moir/passes/lower_tf`",
    RAISED: "a front pass makes structured control flow, or an operation on lists, of it, which is lowered",
    IMPORTED: "becomes a constant, an input, the body of a function or the value of a variable when the file is read",
    CUT: "left out with a note: it has a side effect and no part in the result",
    REPORTED: "a handler that says why it cannot be converted and what to do instead",
}

HEADING = """# Coverage of TensorFlow

The operations moir knows, by their names in `tf.raw_ops`. Any other operation is an error that names it, its nodes and what to do, unless
nothing uses its results. Written by `python -m moir.tools.coverage`; do not edit.

{counts}

| operation | how | where |
| --- | --- | --- |
"""


def lowered() -> dict[str, tuple[str, str]]:
    """How each kind that has a handler is lowered, and the family it belongs to."""
    families = {kind: family for family, kinds in FAMILIES.items() for kind in kinds.split()}
    found: dict[str, tuple[str, str]] = {}
    for kind in lowerings.kinds():
        handler = lowerings.handler(kind, 1)
        if handler is not None:
            reports = handler.__annotations__.get("return") == "NoReturn"
            found[kind] = REPORTED if reports else DIRECT, families.get(kind, "")
    return found


def document() -> str:
    """The text of the file."""
    rows = lowered()
    counts = Counter(how for how, _ in rows.values())
    listed = "\n".join(f"- **{how}** ({counts[how]}): {meaning}" for how, meaning in MEANINGS.items() if counts[how])
    return HEADING.format(counts=listed) + "".join(f"| {kind} | {how} | {where} |\n" for kind, (how, where) in sorted(rows.items()))
