"""`docs/tensorflow-coverage.md`: the treatment of each TensorFlow operation, from the tables of moir."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from moir.dialects.frameworks.tensorflow import BACK_EDGES
from moir.frontends.tensorflow.functions import CALL_KINDS
from moir.frontends.tensorflow.model_inputs import INPUT_KINDS
from moir.frontends.tensorflow.model_outputs import EFFECTS
from moir.lowering.tensorflow.table import tf as lowerings
from moir.raising.tensorflow import raise_switch_merge, raise_tensor_arrays, raise_while_frames
from scripts.signature_texts import LEGEND, signature_text

IMPORTED, RAISED, DIRECT, REPORTED = "read by the frontend", "raised", "direct", "reported"

RAISED_BY: dict[str, Iterable[str]] = {
    raise_while_frames.RaiseWhileFramesPass.name: (
        "LoopCond",
        *raise_while_frames.ENTERS,
        *raise_while_frames.EXITS,
        *raise_while_frames.MERGES,
        *raise_while_frames.SWITCHES,
        *BACK_EDGES,
    ),
    raise_switch_merge.RaiseSwitchMergePass.name: (*raise_switch_merge.SWITCHES, *raise_switch_merge.MERGES),
    raise_tensor_arrays.RaiseTensorArraysPass.name: raise_tensor_arrays.REWRITES,
}
"""The kinds that each raising pass removes from the model."""

MEANINGS = {
    DIRECT: "a handler in the file of that name in `moir/lowering/tensorflow`",
    RAISED: "a front pass makes structured control flow, or operations on lists, of it, which are lowered",
    IMPORTED: "becomes a constant, an input, the body of a function or the value of a variable when the file is read",
    REPORTED: "a handler that says why it cannot be converted and what to do instead",
}

HEADING = """# Coverage of TensorFlow

The supported operations, by their names in `tf.raw_ops`. Any other operation whose results are used is an error that names it and its
nodes; an [extension](extending.md) can lower it. Written by `python -m scripts.coverage`; do not edit.

{counts}

{legend}

| operation | how | where | reads |
| --- | --- | --- | --- |
"""

LEFT_OUT = """
## Left out

Operations that only have an effect are left out. A note of the conversion lists them, unless they do not matter for inference.

| kinds (regular expression) | effect |
| --- | --- |
"""


def lowered() -> dict[str, tuple[str, str]]:
    """For each kind with a handler, the way it is lowered and the family it belongs to."""
    found: dict[str, tuple[str, str]] = {}
    for kind in lowerings.kinds():
        handler = lowerings.handler(kind, 1)
        if handler is not None:
            reports = handler.__annotations__.get("return") == "NoReturn"
            found[kind] = REPORTED if reports else DIRECT, lowerings.file(kind)
    return found


def others() -> dict[str, tuple[str, str]]:
    """For each kind that never reaches a lowering, the part of moir that handles it."""
    found: dict[str, tuple[str, str]] = {}
    for kind in ("Const", *CALL_KINDS, *INPUT_KINDS):
        found[kind] = IMPORTED, ""
    for name, kinds in RAISED_BY.items():
        for kind in kinds:
            found.setdefault(kind, (RAISED, name))
    return found


def document() -> str:
    """The text of the file."""
    rows = others() | lowered()
    counts = Counter(how for how, _ in rows.values())
    listed = "\n".join(f"- **{how}** ({counts[how]}): {meaning}" for how, meaning in MEANINGS.items() if counts[how])
    lines = (f"| {kind} | {how} | {where} | {signature_text(lowerings, kind)} |\n" for kind, (how, where) in sorted(rows.items()))
    effects = "".join(f"| `{kinds}` | {effect or 'none on the results'} |\n" for kinds, effect in EFFECTS.items())
    return HEADING.format(counts=listed, legend=LEGEND) + "".join(lines) + LEFT_OUT + effects
