"""`docs/paddle-coverage.md`: the operations of PaddlePaddle, with their names in programs and in PIR."""

from __future__ import annotations

from moir.frontends.paddle.definitions import definition_of
from moir.lowering.paddle.refusals import REASONS
from moir.lowering.paddle.table import paddle
from scripts.signature_texts import LEGEND, signature_text

HEADING = """# Coverage of PaddlePaddle

The supported operations of programs (`.pdmodel`, `__model__`) and of PIR (`.json`). In the dialect `paddle` an operation has the name and
the attributes of programs, and its operands in the order of PIR, where shapes and axes are operands, too. Any other operation is an error
that names it; an [extension](extending.md) can lower it. [Some](#refused) are refused with a reason. Written by
`python -m scripts.coverage`; do not edit.

All tensors of an array that a loop writes must have one shape, which may be unknown. Operations of training are not read.

{count} operations.

{legend}

| operation | in PIR | where | reads |
| --- | --- | --- | --- |
"""


def document() -> str:
    """The text of the file."""
    lines: list[str] = []
    for kind in sorted(set(paddle.kinds()) - set(REASONS)):
        definition = definition_of(kind)
        pir = kind if kind in OF_PIR else "" if definition is None else definition.pir
        lines.append(f"| {kind} | {pir} | {paddle.file(kind)} | {signature_text(paddle, kind)} |\n")
    kinds: dict[tuple[str, str], list[str]] = {}
    for kind, reason in sorted(REASONS.items()):
        kinds.setdefault(reason, []).append(kind)
    refused = (f"| {', '.join(each)} | {reason} | {hint} |\n" for (reason, hint), each in kinds.items())
    return HEADING.format(count=len(lines), legend=LEGEND) + "".join(lines) + REFUSED + "".join(refused)


REFUSED = """
## Refused

Operations that exports of PaddleClas, PaddleDetection, PaddleSeg, PaddleOCR, PaddleNLP and PaddleSpeech, or the programs they were
trained by, may contain, and that the operation sets cannot express.

| operations | reason | instead |
| --- | --- | --- |
"""


OF_PIR = ("combine", "if", "while")
"""The kinds that have one name in both, and no row in the table of definitions."""
