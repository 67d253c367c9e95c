"""`docs/pytorch-coverage.md`: the operators of PyTorch that are lowered, and those whose writes become values."""

from __future__ import annotations

from moir.lowering.pytorch.table import aten
from moir.raising.pytorch.raise_writes import OUT, WRITERS
from scripts.signature_texts import LEGEND, signature_text

HEADING = """# Coverage of PyTorch

The supported operators of exported programs (`torch.export.save`), by their names and overloads; `aten` is omitted. Any other operator is
an error that names it and its node; an [extension](extending.md) can lower it. Written by `python -m scripts.coverage`; do not edit.

Programs are read as `torch.export.export` makes them, and after `run_decompositions()`. Results have the element types that torch
inferred. Complex numbers are pairs of real numbers. Random numbers are drawn by the runtime's generator, not torch's. Sparse tensors are
refused.

{lowered} operators are lowered; {written} operators that write to their operands become others, which the second table lists. A write
through a view changes the tensor that it views and its other views. A buffer that is written becomes a state of the IR; an input that is
written becomes an output, with a note. Refused are writes by operators that are not listed, writes to results of `expand` and `unfold`,
and writes to a tensor that may be a copy.

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
