"""`docs/paddle-coverage.md`: the operations of PaddlePaddle, with their names in programs and in PIR."""

from __future__ import annotations

from moir.frontends.paddle.definitions import definition_of
from moir.lowering.paddle.table import paddle
from scripts.signature_texts import LEGEND, signature_text

HEADING = """# Coverage of PaddlePaddle

The operations that moir lowers, of programs (`.pdmodel`, `__model__`) and of PIR (`.json`). In the dialect `paddle` an operation has the
name and the attributes of programs, and its operands in the order of PIR, where shapes, axes and the like are operands. Any other
operation is imported, and is an error that names it unless an extension lowers it. Written by `python -m scripts.coverage`; do not edit.

The tensors of an array that loops write have one shape, which may be unknown. Operations of training are not read.

{count} operations.

{legend}

| operation | in PIR | where | reads |
| --- | --- | --- | --- |
"""


def document() -> str:
    """The text of the file."""
    lines: list[str] = []
    for kind in sorted(paddle.kinds()):
        definition = definition_of(kind)
        pir = kind if kind in OF_PIR else "" if definition is None else definition.pir
        lines.append(f"| {kind} | {pir} | {paddle.file(kind)} | {signature_text(paddle, kind)} |\n")
    return HEADING.format(count=len(lines), legend=LEGEND) + "".join(lines)


OF_PIR = ("combine", "if", "while")
"""The kinds that have one name in both, and no row in the table of definitions."""
