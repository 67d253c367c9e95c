"""The budget for folding constants: memory and work in proportion to the size of the model's constants.

A file of a kilobyte can demand a constant of a terabyte (a Concat of a value with itself, forty times), or a product of
10^16 steps (an Einsum of eight vectors without a common index). Operations that exceed the budget are not folded, but
computed when the model runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from xdsl.ir import Operation

from moir.dialects.large_arrays import Values
from moir.dialects.opset.infrastructure import Constant

FREE_BYTES = 32 << 20
"""Bytes by which the constants of any model may grow."""

FREE_STEPS = 1 << 30
"""Steps that folding may take in any model; a step is about a nanosecond, so folding takes some seconds at most."""

GROWTH = 4
"""Additional growth, as a multiple of the bytes of the model's constants: weights of one byte may become f32."""

STEPS_PER_BYTE = 256
"""Additional steps for each byte of the model's constants."""


class FoldingBudget:
    """The bytes and the steps that are left for the folding of one model.

    Args:
        operations: the operations of the model, counted when the budget is first used.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = operations
        self._bytes = 0
        self._steps = 0

    @cached_property
    def _constants(self) -> int:
        """Bytes of the constants of the model."""
        arrays = [op.value.values for op in self._operations if isinstance(op, Constant)]
        self._operations = ()
        # Constants that are views of one array, in a file or in memory, are counted once.
        return sum({_memory_identity(values): _bytes_in_memory(values) for values in arrays}.values())

    def admits(self, size: int, steps: int) -> bool:
        """Whether an operation may be folded within the budget.

        Args:
            size: bytes of the results minus the bytes of the constants that are no longer needed.
            steps: steps in which the results are computed.
        """
        taken_bytes, taken_steps = self._bytes + size, self._steps + steps
        if taken_bytes <= FREE_BYTES and taken_steps <= FREE_STEPS:
            return True
        constants = self._constants
        return taken_bytes <= FREE_BYTES + GROWTH * constants and taken_steps <= FREE_STEPS + STEPS_PER_BYTE * constants

    def take(self, size: int, steps: int) -> None:
        """Subtract from the budget a size and steps that `admits` has allowed."""
        self._bytes += max(0, size)
        self._steps += steps


def _memory_identity(values: Values) -> object:
    """A key of the memory or the part of a file where the elements of a constant are; equal for constants that share
    it.
    """
    return (values.__array_interface__["data"][0], values.nbytes) if isinstance(values, np.ndarray) else id(values)


def _bytes_in_memory(values: Values) -> int:
    """Bytes of the elements of a constant; an element that is repeated by a stride of 0 counts once."""
    if not isinstance(values, np.ndarray):
        return values.nbytes
    count = 1
    for size, stride in zip(values.shape, values.strides, strict=True):
        count *= size if stride else min(size, 1)
    return count * values.itemsize
