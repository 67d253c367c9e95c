"""A result that differs from the reference, as the rules for faults of the plugin see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.fuzz.case import Contents
from tests.fuzz.draw import Array

LARGEST = float(np.finfo(np.float32).max)
INEXACT = 2**24
"""From this integer on, f32 does not have all integers."""


@dataclass(frozen=True)
class Wrong:
    """One result that differs.

    Args:
        contents: what the model is made of.
        actual, wanted: the whole result.
        differs: which elements differ; None if the shapes do.
    """

    contents: Contents
    actual: Array
    wanted: Array
    differs: Array | None

    @property
    def operands(self) -> Sequence[Array]:
        """The values of inputs and constants."""
        return self.contents.operands

    @property
    def node(self) -> tuple[str, Sequence[Array]] | None:
        """The kind and the operands of a model of one operation."""
        return self.contents.node

    def elements(self) -> tuple[Array, Array]:
        """The elements that differ, as computed and as wanted, in f64."""
        assert self.differs is not None
        return self.actual[self.differs].astype(np.float64), self.wanted[self.differs].astype(np.float64)

    def has(self, *kinds: str) -> bool:
        """Whether the model has one of several operations."""
        return not self.contents.kinds.isdisjoint(kinds)

    def has_nan(self) -> bool:
        """Whether an operand has a NaN."""
        return any(array.dtype.kind in "fV" and np.isnan(array.astype(np.float64)).any() for array in self.operands)

    def may_compute_nan(self) -> bool:
        """Whether an operand has a NaN, or an infinity, of which NaNs are computed."""
        return any(array.dtype.kind in "fV" and not np.isfinite(array.astype(np.float64)).all() for array in self.operands)


Rule = Callable[[Wrong], bool]
"""Whether a result differs as a fault of the plugin makes it differ."""
