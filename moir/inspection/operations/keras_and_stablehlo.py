"""The layers of Keras and the operations of StableHLO that are supported."""

from __future__ import annotations

from moir.frontends.stablehlo.composites import KNOWN_COMPOSITES
from moir.inspection.operations.operation import IMPORTED, LOWERED, REFUSED, Operation, all_lowered, treated
from moir.lowering.keras.table import keras
from moir.lowering.stablehlo.custom_calls import SINGLE, TARGETS, UNAVAILABLE
from moir.lowering.stablehlo.table import stablehlo

_READ = ("call", "composite", "constant", "func.call", "optimization_barrier", "return")
"""Operations of StableHLO that the frontend resolves, so that modules do not contain them."""


def operations_of_keras() -> list[Operation]:
    """The layers, and functions of `keras.ops` (`ops.NAME`)."""
    return [*treated(("InputLayer",), IMPORTED), *all_lowered(keras)]


def operations_of_stablehlo() -> list[Operation]:
    """The operations, and the functions that a `custom_call` may name (`custom_call NAME`)."""
    read = {each.kind: each for each in (*treated((*_READ, *KNOWN_COMPOSITES), IMPORTED), *all_lowered(stablehlo))}
    functions = dict.fromkeys((*TARGETS, *(f"mhlo.{name}" for name in SINGLE)))
    return [
        *read.values(),
        *(Operation(f"custom_call {name}", LOWERED, "custom_calls") for name in functions),
        *(Operation(f"custom_call {name}", REFUSED, since=0, reason=reason) for name, (reason, _) in UNAVAILABLE.items()),
    ]
