"""`docs/pytorch-coverage.md`: the operators of PyTorch that are lowered, and those whose writes become values."""

from __future__ import annotations

from moir.lowering.pytorch.table import aten
from moir.raising.pytorch.raise_writes import OUT, WRITERS
from scripts.signature_texts import LEGEND, signature_text

HEADING = """# Coverage of PyTorch

The operators of exported programs that moir knows, by their names and overloads; those of the namespace `aten` without it. Any other
operator is an error that names it and its node, unless an extension lowers it. Written by `python -m scripts.coverage`; do not edit.

Both forms of programs are read: as `torch.export.export` makes them, with composite operators and writes, and after
`run_decompositions()`. Element types of results are those that torch inferred. Complex numbers, operators that draw random numbers,
and sparse tensors are refused.

{lowered} operators are lowered, and {written} that write to their operands become those of the last column. A write through a view changes
what it is a view of and its other views. A buffer that is written becomes a state of the IR, an input an output with a note. Writes that
are not listed, to results of `expand` and `unfold`, and to what may be a copy are refused.

{legend}

| operator | where | reads |
| --- | --- | --- |
"""

WRITES = """
| operator that writes | becomes |
| --- | --- |
"""


def document() -> str:
    """The text of the file."""
    kinds = sorted(kind for kind in aten.kinds() if not kind.startswith("moir."))
    known = set(kinds)
    writes = {kind: plain for kind, plain in sorted({**WRITERS, **OUT}.items()) if plain in known}
    rows = "".join(f"| {kind} | {aten.file(kind)} | {signature_text(aten, kind)} |\n" for kind in kinds)
    written = "".join(f"| {kind} | {plain} |\n" for kind, plain in writes.items())
    return HEADING.format(lowered=len(kinds), written=len(writes), legend=LEGEND) + rows + WRITES + written
