"""Detection of stale facts in a module's analyses: a pass changed the module without reporting it.

All facts are computed anew and compared, for `--verify-each` and tests.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions, Tokens
from moir.analysis.known_values import KnownValues
from moir.dialects.data import Array
from moir.dialects.shapes import Shape, format_shape, shape_of
from moir.dialects.symbols import Symbol, same


class StaleFact(Exception):
    """A cached fact differs from the same fact computed anew.

    Args:
        reason: what differs, a clause.
        operation: where it differs.
    """

    def __init__(self, reason: str, operation: Operation) -> None:
        super().__init__(reason)
        self.reason = reason
        self.operation = operation


def check_facts(held: Analyses) -> None:
    """Raise StaleFact for the first fact in `held` that differs from the fact computed anew."""
    fresh = Analyses(held.module)
    operations = list(fresh.operations(Operation))
    if held.lists_operations:
        _check_operations(list(held.operations(Operation)), operations, held.module)
    for static, known in held.held_dimensions.items():
        _check_dimensions(known, fresh.dimensions(static=static), operations)
    if held.held_values is not None:
        _check_values(held.held_values, KnownValues(), operations)


def _check_operations(held: Sequence[Operation], fresh: Sequence[Operation], module: Operation) -> None:
    different = [(a, b) for a, b in zip(held, fresh, strict=False) if a is not b]
    if different:
        raise StaleFact(f"the listed operations have {different[0][0].name} in this place", different[0][1])
    if len(held) != len(fresh):
        raise StaleFact(f"{len(held)} operations are listed of {len(fresh)}", module)


def _check_dimensions(held: Dimensions, fresh: Dimensions, operations: Sequence[Operation]) -> None:
    """Compare the held dimensions with newly computed ones: they may be more refined, but must contradict neither these
    nor the types.
    """
    sizes: dict[Symbol, int] = {}
    held.scan(operations)
    for op in operations:
        for result in op.results:
            old, new, shape = held.tokens(result), fresh.tokens(result), shape_of(result)
            if not _agree(old, new, shape, sizes):
                difference = f"dimensions {format_shape(old)} are held, {format_shape(new)} computed, the type says {format_shape(shape)}"
                raise StaleFact(f"of result {result.index}, {difference}", op)


def _agree(old: Tokens | None, new: Tokens | None, shape: Shape, sizes: dict[Symbol, int]) -> bool:
    """Whether two descriptions of a shape by tokens are consistent.

    `sizes` maps each symbol to the static dimension met for it so far, and is extended.
    """
    if old is None or new is None or shape is None:
        return old is None and new is None
    if not len(old) == len(new) == len(shape):
        return False
    for before, after, size in zip(old, new, shape, strict=True):
        if isinstance(before, Symbol):
            if size >= 0 and sizes.setdefault(before, size) != size:
                return False
        elif (not isinstance(after, Symbol) and before != after) or (size >= 0 and before != size):
            return False
    return True


def _check_values(held: KnownValues, fresh: KnownValues, operations: Sequence[Operation]) -> None:
    for op in operations:
        for result in op.results:
            old, new = held.elements(result), fresh.elements(result)
            if not _equal(old, new):
                raise StaleFact(f"of result {result.index}, the value {_shown(old)} is held, {_shown(new)} computed", op)


def _equal(old: Array | None, new: Array | None) -> bool:
    if old is None or new is None or old is new:
        return old is new
    if old.shape != new.shape or old.dtype != new.dtype:
        return False
    if old.dtype != object:
        return old.tobytes() == new.tobytes()
    pairs = zip(old.ravel().tolist(), new.ravel().tolist(), strict=True)
    return all((isinstance(a, Symbol) and isinstance(b, Symbol)) or same(a, b) for a, b in pairs)


def _shown(array: Array | None) -> str:
    return "unknown" if array is None else np.array2string(array, threshold=8)
