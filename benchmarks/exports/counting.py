"""Counts the operators of the corpus, and writes which of them moir lowers: `operators.md` beside this file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from moir.frontends.pytorch.graph import kind_of_target
from moir.lowering.pytorch.table import aten
from moir.raising.pytorch.raise_writes import OUT, WRITERS

TABLE = Path(__file__).with_name("operators.md")
_NO_OPERATORS = ("<built-in function getitem>",)
_MARKS = frozenset(
    f"torch.{name}"
    for name in (
        *("_add_batch_dim", "_remove_batch_dim", "_vmap_increment_nesting", "_vmap_decrement_nesting"),
        "lazy_load_decompositions",
    )
)
_HEAD = """# Operators of PyTorch in the corpus of exports

`python benchmarks/pytorch_exports.py operators FOLDER` writes this page from the programs that `export` wrote to a
folder: {count} programs of {networks} networks, by torch {torch}. The list of all lowerings is
[docs/pytorch-coverage.md](../../docs/pytorch-coverage.md).

| operator | programs | nodes | moir |
| --- | ---: | ---: | --- |
"""


def state_of(kind: str) -> str:
    """What moir makes of an operator."""
    if kind in WRITERS or kind in OUT:
        return "raised to " + (WRITERS.get(kind) or OUT[kind])
    if kind in _MARKS:
        return "raised: a mark of torch.vmap"
    if kind == "export.access_subclass_inner_tensor.default":
        return "read: the inner tensor itself"
    if kind == "detach_.default":
        return "raised: the tensor itself"
    return "lowered" if aten.handler(kind, 1) else "refused: no lowering"


def count(folder: Path) -> int:
    """Write the table of a folder of programs; returns the number of operators that are refused."""
    nodes: Counter[str] = Counter()
    programs: Counter[str] = Counter()
    metas = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*/*/meta.json"))]
    for meta in metas:
        kinds = [kind_of_target(_target(each)) for each in meta["targets"] if each not in _NO_OPERATORS]
        nodes.update(kinds)
        programs.update(set(kinds))
    networks = len({path.parent.parent for path in folder.glob("*/*/meta.json")})
    text = _HEAD.format(count=len(metas), networks=networks, torch=", ".join(sorted({meta["torch"] for meta in metas})))
    states = {kind: state_of(kind) for kind in nodes}
    for kind, number in sorted(programs.items(), key=lambda each: (-each[1], each[0])):
        text += f"| `{kind}` | {number} | {nodes[kind]} | {states[kind]} |\n"
    TABLE.write_text(text, encoding="utf-8")
    return sum(state.startswith("refused") for state in states.values())


def _target(text: str) -> str:
    """The target of a node as programs write it, from how torch prints it."""
    if text.startswith("<built-in function "):
        return "_operator." + text.removeprefix("<built-in function ").rstrip(">")
    if text.startswith("<function "):
        return "torch." + text.split()[1]
    return "higher_order." + text if "." not in text else text
