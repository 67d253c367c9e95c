"""The operators of TensorFlow Lite: the builtin ones by their names in the schema, and custom ones that are lowered."""

from __future__ import annotations

from importlib import import_module

from moir.frontends.tflite.graph import INLINED
from moir.frontends.tflite.state import Resources
from moir.inspection.operations.operation import IMPORTED, LOWERED, MISSING, Operation, lowered
from moir.lowering.tflite.same_as_tensorflow import SAME
from moir.lowering.tflite.table import FLEX, tflite

NOT_OPERATORS = ("CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES")


def operations() -> list[Operation]:
    """The builtin operators, then the custom ones."""
    names: dict[int, str] = import_module("tflite.utils").BUILTIN_OPCODE2NAME
    builtin = [name for name in names.values() if name not in NOT_OPERATORS]
    custom = [kind for kind in tflite.kinds() if kind not in builtin and kind != FLEX and not kind.islower()]
    return [_operation(kind) for kind in (*builtin, *custom)]


def _operation(kind: str) -> Operation:
    if kind in SAME:
        return Operation(kind, LOWERED, also=SAME[kind].kind, becomes=f"what becomes of TensorFlow's {SAME[kind].kind}")
    if kind in tflite.kinds():
        return lowered(tflite, kind)
    return Operation(kind, IMPORTED if kind in INLINED or kind in Resources.TAKEN else MISSING)
