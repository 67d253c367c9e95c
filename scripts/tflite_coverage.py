"""`docs/tflite-coverage.md`: the builtin operators of TensorFlow Lite, and the custom ones that are lowered."""

from __future__ import annotations

from collections import Counter
from importlib import import_module

from moir.frontends.tflite.graph import INLINED
from moir.frontends.tflite.state import Resources
from moir.lowering.tflite.same_as_tensorflow import SAME
from moir.lowering.tflite.table import FLEX, tflite

IMPORTED, SHARED, DIRECT, MISSING = "read by the frontend", "as TensorFlow's", "direct", "no"

HEADING = """# Coverage of TensorFlow Lite

The builtin operators by their names in the schema, and the supported custom ones. Any other operator is an error that
names it; an [extension](extending.md) can lower it. Operations of TensorFlow (`Flex…`) are lowered as
[those of TensorFlow](tensorflow-coverage.md). Written by `python -m scripts.coverage`; do not edit.

**Quantized tensors.** Inputs and outputs have the type of the file. Quantized constants are stored as integers, followed
by a Convert, a Subtract and a Multiply; activations are rounded by a FakeQuantize. So the runtime computes with integers
where TensorFlow Lite does. The reference are the kernels that an interpreter uses by default, those of XNNPACK where it
has one: convolutions, products, sums, averages and resized images of 8 bits have the same integers, but for numbers that
f32 cannot tell from the middle between two integers. LEAKY_RELU and HARD_SWISH, whose kernels compute with factors of 8
and 15 bits, can differ by one step; so can the interpreter's own kernels (`OpResolverType.BUILTIN_REF` and
`BUILTIN_WITHOUT_DEFAULT_DELEGATES`), which round twice. A BATCH_MATMUL has the numbers of these; XNNPACK's are others.
Where kernels copy integers between tensors of different scales, or compare numbers rounded to 1/256, the IR does the
same. Activations of 16 bits are clipped to their range, but not rounded. In an LSTM of integers each part of a sum is
clipped as the kernel clips it, and outputs are rounded between steps. If only weights are quantized, the runtime decides
whether it quantizes the other operand.

The variables of recurrent operators, and those that a model writes, are states of the IR.

{counts}

| operator | how | where |
| --- | --- | --- |
"""

MEANINGS = {
    SHARED: "lowered as the operation of TensorFlow in the last column",
    DIRECT: "a handler in the file of that name in `moir/lowering/tflite`",
    IMPORTED: "resolved when the file is read: calls, variables, tables",
    MISSING: "not supported",
}

NOT_OPERATORS = ("CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES")


def _row(kind: str) -> tuple[str, str]:
    if kind in SAME:
        return SHARED, SAME[kind].kind
    if kind in tflite.kinds():
        return DIRECT, tflite.file(kind)
    return (IMPORTED if kind in INLINED or kind in Resources.TAKEN else MISSING), ""


def document() -> str:
    """The text of the file."""
    names: dict[int, str] = import_module("tflite.utils").BUILTIN_OPCODE2NAME
    builtin = [name for name in names.values() if name not in NOT_OPERATORS]
    custom = [kind for kind in tflite.kinds() if kind not in builtin and kind != FLEX and not kind.islower()]
    rows = {kind: _row(kind) for kind in [*sorted(builtin), *sorted(custom)]}
    counts = Counter(how for how, _ in rows.values())
    listed = "\n".join(f"- **{how}** ({counts[how]}): {meaning}" for how, meaning in MEANINGS.items() if counts[how])
    return HEADING.format(counts=listed) + "".join(f"| {kind} | {how} | {where} |\n" for kind, (how, where) in rows.items())
